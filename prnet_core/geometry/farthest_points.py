"""Farthest point sampling."""

import numpy as np


def farthest_points(points: np.ndarray, count: int, first: int = 0) -> np.ndarray:
    """Indices (count,) of points (N, 3), N >= count: `first`, then always the point farthest from all chosen ones.

    Raises ValueError when there are fewer points than that.
    """
    if not 1 <= count <= len(points):
        raise ValueError(f"{count} points cannot be sampled from {len(points)}")
    chosen = np.empty(count, dtype=np.int64)
    chosen[0] = first
    squared = np.full(len(points), np.inf)
    for k in range(1, count):
        squared = np.minimum(squared, np.sum((points - points[chosen[k - 1]]) ** 2, axis=1))
        chosen[k] = int(np.argmax(squared))
    return chosen
