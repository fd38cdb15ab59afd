"""The motions between neighbouring scans that our own registration found: real pairs, labelled without a truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prnet_core.fine_tuning.recent_scans import RecentScan
from prnet_core.geometry import se3
from prnet_core.registration import ACCEPTED, Registration

from .progress import ScanMotion

REACH = 3


def motions_between(scans: Sequence[RecentScan], reach: int = REACH) -> list[ScanMotion]:
    """Motions, both ways, between scans up to `reach` places apart of one trajectory, where both have a pose.

    T_target_source = T_odom_target^-1 T_odom_source. Over so few scans the drift is small.
    """
    motions = []
    for source, a in enumerate(scans):
        for target, b in enumerate(scans):
            known = a.T_odom_sensor is not None and b.T_odom_sensor is not None
            if known and 0 < abs(source - target) <= reach and a.trajectory == b.trajectory:
                motions.append(ScanMotion(source, target, se3.invert(b.T_odom_sensor) @ a.T_odom_sensor))
    return motions


def register_neighbours(
    scans: Sequence[np.ndarray], registration: Registration, reach: int = REACH
) -> list[ScanMotion]:
    """The motions, both ways, that `registration` accepts between scans (N_i, 3) up to `reach` places apart.

    For scans without an odometry: nothing is known of how one lies to the next.
    """
    motions = []
    for source, points in enumerate(scans):
        for target in range(source + 1, min(source + reach + 1, len(scans))):
            result = registration.register(points, scans[target])
            if result.status == ACCEPTED:
                motions.append(ScanMotion(source, target, result.T_target_source))
                motions.append(ScanMotion(target, source, se3.invert(result.T_target_source)))
    return motions
