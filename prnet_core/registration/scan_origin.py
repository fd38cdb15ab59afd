"""Whether a cloud is a scan in its sensor's own frame, by its points alone."""

import numpy as np

from prnet_core.registration.preprocess import clean_points
from prnet_core.registration.registration import Registration

MIN_SCAN_RANGE = 1.0  # metres, the median of a scan
MIN_FACING_SHARE = 0.25  # of a scan's points that are seen at an angle


def looks_like_scan(points: np.ndarray, registration: Registration) -> bool:
    """True where points (N, 3) are at least a metre from the origin in the median, and enough surfaces face it."""
    points = clean_points(points, registration.config)
    if len(points) == 0 or np.median(np.linalg.norm(points, axis=1)) < MIN_SCAN_RANGE:
        return False
    cloud = registration.prepare(points, registration.voxel_size_for(points), np.zeros(3))
    return len(cloud) > 0 and bool(cloud.sample.is_solid.mean() > MIN_FACING_SHARE)
