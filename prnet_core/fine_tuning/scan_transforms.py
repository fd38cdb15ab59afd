"""Transforms between neighbouring scans from our own registration: real pairs, labelled without ground truth."""

from collections.abc import Sequence

import numpy as np

from prnet_core.fine_tuning.recent_scans import RecentScan
from prnet_core.geometry import se3
from prnet_core.registration import ACCEPTED, Registration
from prnet_core.registration.scan_origin import looks_like_scan

from .progress import ScanTransform

REACH = 3


def transforms_between(scans: Sequence[RecentScan]) -> list[ScanTransform]:
    """Transforms, in both directions, between scans of one trajectory at most REACH apart, where both have poses.

    T_target_source = T_odom_target^-1 T_odom_source. Over so few scans the drift is small.
    """
    transforms = []
    for source, a in enumerate(scans):
        for target, b in enumerate(scans):
            known = a.T_odom_sensor is not None and b.T_odom_sensor is not None
            if known and 0 < abs(source - target) <= REACH and a.trajectory == b.trajectory:
                transforms.append(ScanTransform(source, target, se3.invert(b.T_odom_sensor) @ a.T_odom_sensor))
    return transforms


def register_neighbours(
    scans: Sequence[np.ndarray], registration: Registration, reach: int = REACH
) -> list[ScanTransform]:
    """Accepted transforms, in both directions, between scans (N_i, 3) that are at most `reach` scans apart.

    For scans without odometry, whose relative poses are unknown. Clouds that look like scans in their
    sensor's frame are verified by free space.
    """
    transforms = []
    are_scans = [looks_like_scan(points, registration) for points in scans]
    for source, points in enumerate(scans):
        for target in range(source + 1, min(source + reach + 1, len(scans))):
            origin = np.zeros(3) if are_scans[source] and are_scans[target] else None
            result = registration.register(points, scans[target], source_origin=origin, target_origin=origin)
            if result.status == ACCEPTED:
                transforms.append(ScanTransform(source, target, result.T_target_source))
                transforms.append(ScanTransform(target, source, se3.invert(result.T_target_source)))
    return transforms
