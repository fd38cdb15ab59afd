"""Normals of scans with few rings: the neighbours of a point lie on its own ring, whose plane is not the surface."""

import numpy as np
import small_gicp

from prnet_core.geometry.rows import row_dots

NUM_NEIGHBORS = 10
MAX_ELEVATION = 0.2  # share of the spread of the neighbours' directions that is across the rings: less is one ring
MAX_COSINE = 0.07  # between a normal and the ray: the plane of a ring on near ground is the ground, seen at more


def without_ring_planes(
    points: np.ndarray, normals: np.ndarray, tree: small_gicp.KdTree, num_threads: int
) -> np.ndarray:
    """Normals (N, 3), unit length and of any sign, that become the ray where they are those of a ring's plane.

    points: (N, 3) in the frame of a sensor that turns about its z axis, and their tree. Normals of rings would hold the
    rings of the next scan in the same plane: the sensor would seem not to pitch, roll or rise.
    """
    rays = points / np.linalg.norm(points, axis=1, keepdims=True)
    across = np.flatnonzero(np.abs(row_dots(rays, normals)) < MAX_COSINE)
    neighbors, _ = tree.batch_knn_search(points[across], min(NUM_NEIGHBORS, len(points)), num_threads)
    spread = rays[neighbors.astype(np.int64)].var(axis=1)
    on_one_ring = across[spread[:, 2] < MAX_ELEVATION**2 * spread.sum(axis=1)]
    normals = normals.copy()
    normals[on_one_ring] = rays[on_one_ring]
    return normals
