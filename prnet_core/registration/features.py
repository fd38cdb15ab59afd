"""Fast Point Feature Histograms (Rusu et al., ICRA 2009) in numpy, and their mutual nearest matches."""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

NUM_BINS = 11


def fpfh(points: np.ndarray, normals: np.ndarray, radius: float, max_neighbors: int) -> np.ndarray:
    """FPFH features (N, 33) of points (N, 3) with oriented unit normals (N, 3).

    Each point's simplified histograms of the three Darboux angles to its neighbours, plus those of its
    neighbours weighted by 1 / distance^2. A point without neighbours has a zero feature.
    """
    count = len(points)
    distance, index = cKDTree(points).query(points, k=min(max_neighbors + 1, count), distance_upper_bound=radius)
    distance, index = distance[:, 1:], index[:, 1:]
    centre, column = np.nonzero(np.isfinite(distance) & (distance > 1e-9))
    neighbor, distance = index[centre, column], distance[centre, column]

    theta, alpha, phi, valid = darboux_angles(points, normals, centre, neighbor, distance)
    centre, neighbor, distance = centre[valid], neighbor[valid], distance[valid]
    simplified = np.hstack(
        [
            histogram(centre, theta[valid], np.pi, count),
            histogram(centre, alpha[valid], 1.0, count),
            histogram(centre, phi[valid], 1.0, count),
        ]
    )
    weights = csr_matrix((distance**-2.0, (centre, neighbor)), shape=(count, count))
    around = (weights @ simplified).reshape(count, 3, NUM_BINS)
    total = around.sum(axis=2, keepdims=True)
    around = np.divide(around, total, out=np.zeros_like(around), where=total > 0.0)
    return (simplified + around.reshape(count, -1)).astype(np.float32)


def darboux_angles(
    points: np.ndarray, normals: np.ndarray, centre: np.ndarray, neighbor: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Angles (theta, alpha, phi) of E pairs of points, and which pairs have them, each (E,).

    The origin of the frame is the point whose normal (u) is nearer to the line between the two, so that the angles
    do not depend on the order of the pair: v = d x u, w = u x v.
    """
    line = (points[neighbor] - points[centre]) / distance[:, None]
    first, second = normals[centre], normals[neighbor]
    cos_first, cos_second = dots(first, line), dots(second, line)
    swap = np.abs(cos_first) < np.abs(cos_second)
    phi, along = np.where(swap, -cos_second, cos_first), np.where(swap, -cos_first, cos_second)
    between, squared = dots(first, second), dots(normals, normals)[np.where(swap, neighbor, centre)]
    length = np.sqrt(np.maximum(squared - phi**2, 0.0))  # of d x u
    valid = length > 1e-6
    length = np.where(valid, length, 1.0)
    alpha = triple_products(line, first, second) / length
    theta = np.arctan2((along - phi * between) / length, between)
    return theta, alpha, phi, valid


def dots(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Dot products (E,) of the rows of (E, 3) and (E, 3)."""
    return np.einsum("ej,ej->e", first, second)


def triple_products(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a . (b x c) of the rows of three arrays (E, 3), (E,)."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = a.T, b.T, c.T
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)


def histogram(row: np.ndarray, value: np.ndarray, limit: float, num_rows: int) -> np.ndarray:
    """Histograms (num_rows, NUM_BINS) over [-limit, limit], each row with the sum 1 (or 0 when empty)."""
    bins = np.clip(((value + limit) / (2.0 * limit) * NUM_BINS).astype(np.int64), 0, NUM_BINS - 1)
    counts = np.bincount(row * NUM_BINS + bins, minlength=num_rows * NUM_BINS).reshape(num_rows, NUM_BINS)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def mutual_matches(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices (K,), (K,) of features (N, D), (M, D) that are each other's nearest; memory N x M."""
    squared = (target**2).sum(axis=1) - 2.0 * (source @ target.T) + (source**2).sum(axis=1)[:, None]
    nearest_target, nearest_source = squared.argmin(axis=1), squared.argmin(axis=0)
    index = np.arange(len(source))
    mutual = nearest_source[nearest_target] == index
    return index[mutual], nearest_target[mutual]
