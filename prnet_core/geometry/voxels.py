"""Voxel grids: the voxel size for a given number of points, and means over each occupied voxel."""

import numpy as np

from .subsets import at_most

MAX_SEARCH_POINTS = 8192
"""A larger subset does not change the voxel size."""


def pair_voxel_size(source: np.ndarray, target: np.ndarray, num_voxels: int, rng: np.random.Generator) -> float:
    """Voxel size at which the sparser of the two clouds occupies about `num_voxels` voxels."""
    columns = [_shifted_columns(at_most(cloud, MAX_SEARCH_POINTS, rng)) for cloud in (source, target)]
    high = max(max(float(column.max()) for column in columns), np.finfo(np.float32).tiny) / 2
    low = high / 512
    for _ in range(8):
        middle = float(np.sqrt(low * high))
        if min(count_voxels(column, middle) for column in columns) >= num_voxels:
            low = middle
        else:
            high = middle
    return low


def voxel_centroids(points: np.ndarray, voxel: float, min_points: int = 1) -> np.ndarray:
    """Mean of the points in each voxel with at least `min_points`: (N, 3) -> (V, 3), V <= N, in the points' dtype."""
    return voxel_means(points, points, voxel, min_points).astype(points.dtype)


def voxel_means(points: np.ndarray, values: np.ndarray, voxel: float, min_points: int = 1) -> np.ndarray:
    """Mean of the values (N, C) of the points (N, 3) in each voxel with at least `min_points`: (V, C) float64."""
    keys = _voxel_keys(_shifted_columns(points), voxel)
    order = np.argsort(keys, kind="stable")
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    columns = np.ascontiguousarray(values.T, dtype=np.float64).take(order, axis=1)
    sums, counts = np.add.reduceat(columns, firsts, axis=1), np.diff(firsts, append=len(keys))
    often = counts >= min_points
    return np.ascontiguousarray((sums[:, often] / counts[often]).T)


def _shifted_columns(points: np.ndarray) -> np.ndarray:
    """(N, 3) -> (3, N) contiguous, the minimum of each row shifted to zero. (Minima over rows of (N, 3) are slow.)"""
    columns = np.ascontiguousarray(points.T)
    return columns - columns.min(axis=1, keepdims=True)


def _voxel_keys(columns: np.ndarray, voxel: float) -> np.ndarray:
    x, y, z = (columns / voxel).astype(np.int64)
    return (x << 42) | (y << 21) | z


def count_voxels(columns: np.ndarray, voxel: float) -> int:
    """Number of occupied voxels of points given as columns (3, N), none negative."""
    keys = np.sort(_voxel_keys(columns, voxel))
    return 1 + int(np.count_nonzero(np.diff(keys)))
