"""The overlap of two clouds."""

import numpy as np
from scipy.spatial import cKDTree


def mutual_overlap(source: np.ndarray, target: np.ndarray, distance: float) -> float:
    """The smaller of the two shares of points, of (N, 3) and of (M, 3), with a point of the other cloud within the
    distance."""

    def share(cloud: np.ndarray, other: np.ndarray) -> float:
        return float(np.isfinite(cKDTree(other).query(cloud, distance_upper_bound=distance)[0]).mean())

    return min(share(source, target), share(target, source))
