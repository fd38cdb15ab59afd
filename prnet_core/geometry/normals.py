"""The sign of normals: features that use normals match between two clouds only where the signs are the same."""

import numpy as np
import small_gicp
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

NUM_POINTS, NUM_NEIGHBOURS = 800, 8
CANDIDATES, REFINED_CANDIDATES, REFINED_REACH = 192, 48, 0.08
QUANTILES = (0.02, 0.98)


def orient_away(points: np.ndarray, normals: np.ndarray, origins: np.ndarray | None = None) -> np.ndarray:
    """Normals (N, 3) of points (N, 3), oriented away from the position of the sensor.

    origins (K, 3): positions of the sensor; each point was seen from the nearest one. None: `estimated_viewpoint`.
    Two clouds that see the same side of a surface then have the same sign there, whatever else they contain.
    """
    if origins is None:
        origins = estimated_viewpoint(points, normals)[None]
    origin = origins[0] if len(origins) == 1 else origins[cKDTree(origins).query(points)[1]]
    away = np.sum(normals * (points - origin), axis=1)
    return normals * np.where(away < 0.0, -1.0, 1.0)[:, None]


def estimated_viewpoint(points: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """A position (3,) that all surfaces of the points (N, 3) could have been seen from, by their normals of any sign.

    Normals oriented away from it change their sign least often between neighbouring points of a surface. For a scan,
    and nearly so for the fused scans of a short path, this is about where the sensor was; for a closed object it is a
    point inside. Searched among the centroid and random positions within the cloud, then around the best of them.
    """
    if len(points) <= NUM_NEIGHBOURS:
        return points.mean(axis=0) if len(points) else np.zeros(3)
    points, normals = (values[:: max(1, len(points) // NUM_POINTS)] for values in (points, normals))
    neighbours = small_gicp.KdTree(points).batch_knn_search(points, NUM_NEIGHBOURS + 1)[0][:, 1:].astype(np.int32)
    cosines = np.einsum("nki,ni->nk", normals[neighbours], normals)
    rows = np.arange(len(points) + 1) * NUM_NEIGHBOURS
    edges = csr_array((cosines.ravel(), neighbours.ravel(), rows), shape=(len(points), len(points)))
    offset = np.sum(normals * points, axis=1)[:, None]
    rng = np.random.default_rng(0)
    low, high = np.quantile(points, QUANTILES, axis=0)
    candidates = np.concatenate([points.mean(axis=0)[None], rng.uniform(low, high, (CANDIDATES, 3))])
    for _ in range(2):
        signs = np.sign(offset - normals @ candidates.T)
        steadiness = np.einsum("nc,nc->c", signs, edges @ signs)
        best = candidates[steadiness.argmax()]
        around = best + rng.normal(size=(REFINED_CANDIDATES, 3)) * REFINED_REACH * (high - low)
        candidates = np.concatenate([best[None], around])
    return best
