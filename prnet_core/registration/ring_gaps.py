"""A voxel size at which the neighbours of a point lie on a surface, and not all on one ring of a LiDAR."""

import numpy as np
import small_gicp

from prnet_core.registration.preprocess import within_reach
from prnet_core.registration.sample import even_index

LINE_RATIO = 0.2  # second to first standard deviation of the neighbours of a point that lie on a line
MAX_LINES = 0.15  # share of the points whose neighbours do
NUM_POINTS = 400  # that are looked at
GROWTH = 1.25  # of the voxel size from one look to the next
MIN_POINTS = 1000  # that a voxel filter leaves of a scan of a pair


def surface_voxel_size(
    points: np.ndarray, voxel_size: float, num_neighbors: int, min_points: int = MIN_POINTS
) -> float:
    """A voxel size in the unit of the points (N, 3), or the next larger one at which few neighbourhoods are lines.

    Normals need neighbours on several rings, and a ring lies between two of the other scan. Smaller voxels than the
    gaps between rings show neither. Never larger than leaves `min_points`.
    """
    if voxel_size == 0.0:
        return voxel_size
    points = points[within_reach(points, voxel_size)]
    centre = points.mean(axis=0)
    while True:
        cloud = small_gicp.voxelgrid_sampling((points - centre) / voxel_size, 1.0).points()[:, :3]
        if len(cloud) < GROWTH**2 * min_points or share_of_lines(cloud, num_neighbors) <= MAX_LINES:
            return voxel_size
        voxel_size *= GROWTH


def share_of_lines(points: np.ndarray, num_neighbors: int) -> float:
    """Share of some of the points (N, 3) whose neighbours lie on a line."""
    index = even_index(len(points), NUM_POINTS)
    neighbors, _ = small_gicp.KdTree(points).batch_knn_search(points[index], min(num_neighbors, len(points)))
    around = points[neighbors.astype(np.int64)]
    around -= around.mean(axis=1, keepdims=True)
    variances = np.linalg.eigvalsh(np.einsum("kni,knj->kij", around, around))
    return float((variances[:, 1] < LINE_RATIO**2 * variances[:, 2]).mean())
