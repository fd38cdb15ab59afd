"""A static scene with objects that move through it: people and cars on continuous trajectories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prnet_core.simulation.ray_scene import Hits, RayScene
from prnet_core.simulation.solids import Solids

Trajectory = Callable[[np.ndarray], np.ndarray]
"""Poses (N, 4, 4) at times (N,) in seconds; each takes the body's frame into the world."""


@dataclass(frozen=True)
class MovingObject:
    """A rigid shape, the radius in metres of a sphere about its frame's origin that holds it, and its trajectory."""

    shape: RayScene
    radius: float
    trajectory: Trajectory

    @staticmethod
    def from_solids(solids: Solids, trajectory: Trajectory) -> MovingObject:
        """An object of solids given in its own frame."""
        reach = np.linalg.norm(solids.centres, axis=1) + np.linalg.norm(solids.half_sizes, axis=1)
        return MovingObject(RayScene.from_solids(solids), float(reach.max()), trajectory)


class MovingScene:
    """Rays see the nearer of the static scene and each object where it is at the ray's own time."""

    def __init__(self, static: RayScene, objects: Sequence[MovingObject] = (), max_range: float = 120.0):
        """Objects farther than max_range metres from a ray's origin are not seen."""
        self.static, self.objects, self._max_range = static, tuple(objects), max_range

    def cast(self, origins: np.ndarray, directions: np.ndarray, times: np.ndarray) -> Hits:
        """As `RayScene.cast`, at times (R,) in seconds."""
        distance, cosine = self.static.cast(origins, directions)
        origins = np.broadcast_to(np.asarray(origins, float), directions.shape)
        knots, times_at_knots = _knots(times)
        for thing in self.objects:
            near = self._rays_near(
                thing, origins, directions, times, thing.trajectory(knots)[:, :3, 3], times_at_knots
            )
            if len(near) == 0:
                continue
            pose = thing.trajectory(times[near])
            inverse = pose[:, :3, :3].transpose(0, 2, 1)
            local_origins = np.einsum("rij,rj->ri", inverse, origins[near] - pose[:, :3, 3])
            local_directions = np.einsum("rij,rj->ri", inverse, directions[near])
            hits = thing.shape.cast(local_origins, local_directions)
            closer = hits.distance < distance[near]
            distance[near[closer]] = hits.distance[closer]
            cosine[near[closer]] = hits.cos_incidence[closer]
        return Hits(distance, cosine)

    def _rays_near(
        self,
        thing: MovingObject,
        origins: np.ndarray,
        directions: np.ndarray,
        times: np.ndarray,
        centres: np.ndarray,
        knot_weights: np.ndarray,
    ) -> np.ndarray:
        """Indices of the rays that pass the object's sphere. Its centre is interpolated between two times."""
        if np.linalg.norm(centres.mean(axis=0) - origins[0]) > self._max_range + thing.radius:
            return np.zeros(0, int)
        centre = centres[0] + knot_weights[:, None] * (centres[1] - centres[0])
        offset = (centre - origins).astype(np.float32)
        along = np.einsum("ri,ri->r", offset, directions)
        squared_length = np.einsum("ri,ri->r", directions, directions)
        squared_miss = np.einsum("ri,ri->r", offset, offset) - along * np.abs(along) / squared_length
        return np.flatnonzero(squared_miss < (1.2 * thing.radius) ** 2)


def _knots(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last time (2,), and where each time lies between them (R,) in [0, 1]."""
    first, last = float(times.min()), float(times.max())
    return np.array([first, last]), (times - first) / max(last - first, 1e-9)
