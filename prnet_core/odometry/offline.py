"""Odometry over recorded scans: a folder or a bag."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np

from prnet_core.io.recordings import RecordedScans
from prnet_core.io.trajectories import Trajectory
from prnet_core.odometry.scan_odometry import ScanOdometry
from prnet_core.odometry.update import OdometryUpdate

USED = ("first", "accepted", "weak", "reset")


@dataclass(frozen=True)
class OdometryRun:
    """The result: the used poses, counts by status, the failures with their reasons, and the speed."""

    trajectory: Trajectory
    counts: dict[str, int]
    failures: list[tuple[float, str]]
    num_scans: int
    seconds_per_scan: float


def run_odometry(odometry: ScanOdometry, scans: RecordedScans, every: int = 1) -> OdometryRun:
    """Feed every `every`-th scan. Rejected and ignored scans have no pose in the trajectory."""
    updates: list[OdometryUpdate] = []
    seconds = 0.0
    for stamp, points, times in islice(scans, 0, None, every):
        began = time.perf_counter()
        updates.append(odometry.register_scan(points, stamp, times))
        seconds += time.perf_counter() - began
    used = [update for update in updates if update.status in USED]
    poses = np.array([update.T_odom_sensor for update in used]).reshape(-1, 4, 4)
    return OdometryRun(
        trajectory=Trajectory(np.array([update.stamp for update in used]), poses),
        counts=dict(Counter(update.status for update in updates)),
        failures=[(u.stamp, f"{u.status}: {u.reason}") for u in updates if u.status not in USED],
        num_scans=len(updates),
        seconds_per_scan=seconds / max(1, len(updates)),
    )
