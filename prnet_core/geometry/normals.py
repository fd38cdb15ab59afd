"""The sign of normals: features that use them agree between two clouds only where their signs do."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree


def orient_away(points: np.ndarray, normals: np.ndarray, origins: np.ndarray | None = None) -> np.ndarray:
    """Normals (N, 3) of points (N, 3) with the sign that points away from the sensor.

    origins (K, 3): positions of the sensor, each point was seen from the nearest one. Two scans that see one side of a
    surface then agree on its sign. None: away from the cloud's centroid, which moves with the cloud as well, but
    two clouds with little overlap agree on about half of the signs only.
    """
    if origins is None or len(origins) == 0:
        origin = points.mean(axis=0)
    elif len(origins) == 1:
        origin = origins[0]
    else:
        origin = origins[cKDTree(origins).query(points)[1]]
    away = np.sum(normals * (points - origin), axis=1)
    return normals * np.where(away < 0.0, -1.0, 1.0)[:, None]
