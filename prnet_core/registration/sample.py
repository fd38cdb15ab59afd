"""The points of a cloud that a transform is verified with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import small_gicp

from prnet_core.geometry.rows import row_dots, row_norms
from prnet_core.registration.views import View

MIN_INCIDENCE = 0.25  # cosine between a normal and the ray that saw the point
MAX_THICKNESS = 0.6  # voxels
NOISE_POINTS = 200


@dataclass(frozen=True)
class Sample:
    """An even share of a cloud's points, in its centred frame and voxel units.

    index: (S,) which points of the cloud. points, normals: (S, 3). thickness: (S,) standard deviation of the neighbours
    along the normal, and reach: (S,) distance of the farthest of them, in voxels. is_solid: (S,) thin, and not seen at
    a grazing angle. spacing: distance between neighbouring points, in voxels, in the median; 1 for a dense cloud.
    """

    index: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    thickness: np.ndarray
    reach: np.ndarray
    is_solid: np.ndarray
    spacing: float
    num_neighbors: int

    def limited(self, size: int) -> Sample:
        """At most `size` of the points, evenly over their order."""
        if len(self.index) <= size:
            return self
        chosen = even_index(len(self.index), size)
        names = ("index", "points", "normals", "thickness", "reach", "is_solid")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def even_index(count: int, size: int) -> np.ndarray:
    """At most `size` rows of `count`, evenly."""
    if count <= size:
        return np.arange(count)
    return np.linspace(0, count - 1, size).round().astype(np.int64)  # steps of more than one: none is there twice


def make_sample(
    points: np.ndarray,
    normals: np.ndarray,
    tree: small_gicp.KdTree,
    views: tuple[View, ...],
    size: int,
    num_neighbors: int,
    num_threads: int,
) -> Sample:
    """At most `size` of the points (N, 3), evenly over their order in the voxel grid."""
    count = len(points)
    index = even_index(count, size)
    points_of, normals_of = points[index], normals[index]
    neighbors, squared = tree.batch_knn_search(points_of, min(num_neighbors, count), num_threads)
    heights = np.einsum("ksj,sj->ks", points[neighbors.T.astype(np.int64)], normals_of)
    thickness = heights.std(axis=0)
    reach = np.sqrt(squared[:, -1])
    return Sample(
        index,
        points_of,
        normals_of,
        thickness,
        reach,
        (thickness < MAX_THICKNESS) & _faces(points_of, normals_of, views),
        float(max(1.0, np.median(reach) / dense_reach(num_neighbors))),
        num_neighbors,
    )


def dense_reach(num_neighbors: int) -> float:
    """Distance of the farthest of the neighbours in a surface with one point a voxel."""
    return float(np.sqrt(num_neighbors / np.pi))


def thickness_and_spacing(
    points: np.ndarray, tree: small_gicp.KdTree, num_neighbors: int, num_threads: int
) -> tuple[float, float]:
    """Medians, in voxels, of some of the points (N, 3): the standard deviation of the neighbours across their plane,
    and the distance between neighbouring points, which is 1 for a dense cloud."""
    index = even_index(len(points), NOISE_POINTS)
    neighbors, squared = tree.batch_knn_search(points[index], min(num_neighbors, len(points)), num_threads)
    around = points[neighbors.astype(np.int64)]
    around -= around.mean(axis=1, keepdims=True)
    variances = np.linalg.eigvalsh(around.transpose(0, 2, 1) @ around / around.shape[1])[:, 0]
    spacing = np.sqrt(np.median(squared[:, -1])) / dense_reach(num_neighbors)
    return float(np.sqrt(max(0.0, np.median(variances)))), float(spacing)


def _faces(points: np.ndarray, normals: np.ndarray, views: tuple[View, ...]) -> np.ndarray:
    """Which points face an origin that the cloud was seen from; all when there is none."""
    if not views:
        return np.ones(len(points), bool)
    best = np.zeros(len(points))
    for view in views:
        lines = points - view.origin
        lengths = np.maximum(row_norms(lines), 1e-9)
        best = np.maximum(best, np.abs(row_dots(lines, normals)) / lengths)
    return best > MIN_INCIDENCE
