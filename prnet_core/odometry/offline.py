"""Odometry over recorded scans: a folder or a bag."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from prnet_core.io.cloud_files import CloudFileError
from prnet_core.io.scan_folders import CLOUD_SUFFIXES, ScanFolder
from prnet_core.io.trajectories import Trajectory, read_kitti, read_tum
from prnet_core.odometry.scan_odometry import ScanOdometry
from prnet_core.odometry.update import OdometryUpdate

USED = ("first", "accepted", "weak", "reset")


@dataclass
class RecordedScans:
    """Scans in order: iterating gives (stamp s, points (N, 3), point times (N,) s or None). truth may be None."""

    path: Path
    topic: str | None = None
    truth: Trajectory | None = None
    stamps: list[float] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[float, np.ndarray, np.ndarray | None]]:
        self.stamps.clear()
        for stamp, points, times in self._scans():
            self.stamps.append(stamp)
            yield stamp, points, times

    def _scans(self) -> Iterator[tuple[float, np.ndarray, np.ndarray | None]]:
        raise NotImplementedError


class FolderScans(RecordedScans):
    """The scans of a folder."""

    def __init__(self, path: Path):
        self._folder = ScanFolder(path)
        truth = None if self._folder.poses is None else Trajectory(self._folder.stamps, self._folder.poses)
        super().__init__(path, truth=truth)

    def _scans(self) -> Iterator[tuple[float, np.ndarray, np.ndarray | None]]:
        for stamp, points in zip(self._folder.stamps, self._folder, strict=True):
            yield float(stamp), points, None


class BagScans(RecordedScans):
    """The scans of a PointCloud2 topic of a bag, and its recorded true poses of the sensor."""

    def __init__(self, path: Path, topic: str | None):
        from prnet_core.io.bag_poses import ground_truth
        from prnet_core.io.bags import open_bag

        with open_bag(path) as bag:
            topic = bag.point_cloud_topic(topic)
            first = next(bag.scans(topic), None)
            poses = None if first is None else ground_truth(bag, first.frame_id)
        truth = None if poses is None else Trajectory(poses.stamps, poses.T_parent_frame)
        super().__init__(path, topic, truth)

    def _scans(self) -> Iterator[tuple[float, np.ndarray, np.ndarray | None]]:
        from prnet_core.io.bags import open_bag

        with open_bag(self.path) as bag:
            for scan in bag.scans(self.topic):
                yield scan.stamp, scan.cloud.points, scan.cloud.times


def open_scans(path: Path, topic: str | None = None) -> RecordedScans:
    """A folder of scans, or a bag. Raises CloudFileError or BagError with what was found instead."""
    if path.suffix.lower() in CLOUD_SUFFIXES:
        raise CloudFileError(f"{path} is a single scan: name the folder of several")
    holds_bag = path.is_dir() and any(
        file.name == "metadata.yaml" or file.suffix in (".mcap", ".db3", ".bag") for file in path.iterdir()
    )
    if path.is_dir() and not holds_bag:
        return FolderScans(path)
    return BagScans(path, topic)


def read_truth(path: Path, stamps: list[float]) -> Trajectory:
    """A TUM file, or KITTI rows that belong to the scans in order. Raises ValueError when neither fits."""
    lines = (line.split() for line in path.read_text(errors="replace").splitlines())
    first = next((words for words in lines if words and not words[0].startswith("#")), [])
    if len(first) == 8:
        return read_tum(path)
    poses = read_kitti(path)
    if len(poses) != len(stamps):
        raise ValueError(f"{path}: {len(poses)} poses for {len(stamps)} scans")
    return Trajectory(np.asarray(stamps), poses)


@dataclass(frozen=True)
class OdometryRun:
    """What came out: the used poses, counts by status, the failures with their reasons, and the speed."""

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
