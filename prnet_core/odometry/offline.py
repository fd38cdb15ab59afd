"""Odometry over recorded scans: a folder or a bag."""

import time
from collections import Counter
from collections.abc import Callable
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


def run_odometry(
    odometry: ScanOdometry,
    scans: RecordedScans,
    every: int = 1,
    on_update: Callable[[OdometryUpdate], None] = lambda update: None,
) -> OdometryRun:
    """Feed every `every`-th scan; `on_update` is called with each answer.

    Rejected and ignored scans have no pose in the trajectory.
    """
    stamps: list[float] = []
    poses: list[np.ndarray] = []
    counts: Counter[str] = Counter()
    failures: list[tuple[float, str]] = []
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
        on_update(update)
    num_scans = sum(counts.values())
    return OdometryRun(
        trajectory=Trajectory(np.array(stamps), np.array(poses).reshape(-1, 4, 4)),
        counts=dict(counts),
        failures=failures,
        num_scans=num_scans,
        seconds_per_scan=seconds / max(1, num_scans),
    )
