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
    stamps, poses, failures, counts = [], [], [], Counter()
    seconds = 0.0
    for stamp, points, times in islice(scans, 0, None, every):
        began = time.perf_counter()
        update = odometry.register_scan(points, stamp, times)
        seconds += time.perf_counter() - began
        counts[update.status] += 1
        if update.status in USED:
            stamps.append(update.stamp)
            poses.append(update.T_odom_sensor)
        else:
            failures.append((update.stamp, f"{update.status}: {update.reason}"))
    return OdometryRun(
        trajectory=Trajectory(np.array(stamps), np.array(poses).reshape(-1, 4, 4)),
        counts=dict(counts),
        failures=failures,
        num_scans=counts.total(),
        seconds_per_scan=seconds / max(1, counts.total()),
    )
