"""The motions that an odometry found between the scans it kept."""

from __future__ import annotations

from collections.abc import Sequence

from prnet_core.data.recent_scans import RecentScan
from prnet_core.geometry import se3

from .scan_examples import ScanMotion

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
