"""Ray casting against triangle meshes by Open3D (Embree): one to two million rays per second on a core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prnet_core.simulation.meshes import solids_mesh
from prnet_core.simulation.solids import Solids


class Hits(NamedTuple):
    """Hits of R rays: distance (R,) in units of the ray's direction, infinite without a hit; cos_incidence (R,) in
    [0, 1], the cosine of the angle between the ray and the surface's normal, 0 without a hit."""

    distance: np.ndarray
    cos_incidence: np.ndarray


class RayScene:
    """A static scene for ray casting."""

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray) -> None:
        """vertices (V, 3) in metres, triangles (T, 3) of indices. Raises ImportError without Open3D."""
        try:
            import open3d
        except ImportError as error:
            raise ImportError("the simulator casts rays with the package open3d: pip install open3d") from error
        self._tensor = open3d.core.Tensor
        self._scene = open3d.t.geometry.RaycastingScene(nthreads=1)
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(vertices, np.float32)),
            self._tensor(np.ascontiguousarray(triangles, np.uint32)),
        )

    @staticmethod
    def from_solids(solids: Solids) -> RayScene:
        """The scene of the solids' meshes."""
        return RayScene(*solids_mesh(solids))

    def cast(self, origins: np.ndarray, directions: np.ndarray, times: np.ndarray | None = None) -> Hits:
        """The nearest surface along each ray. origins (R, 3) or (3,), directions (R, 3) of any length.

        `times` is not used: nothing moves, other than in a `moving_scene.MovingScene`.
        """
        rays = np.empty((len(directions), 6), np.float32)
        rays[:, :3], rays[:, 3:] = origins, directions
        result = self._scene.cast_rays(self._tensor(rays), nthreads=1)
        normals = result["primitive_normals"].numpy()
        cosine = np.abs(np.einsum("ri,ri->r", normals, rays[:, 3:]))
        cosine /= np.linalg.norm(rays[:, 3:], axis=1)
        return Hits(result["t_hit"].numpy().astype(float), np.minimum(cosine, 1.0))

    def surface_distance(self, points: np.ndarray) -> np.ndarray:
        """Distance in metres of points (N, 3) to the nearest surface: (N,)."""
        query = self._tensor(np.ascontiguousarray(points, np.float32))
        return self._scene.compute_distance(query, nthreads=1).numpy()
