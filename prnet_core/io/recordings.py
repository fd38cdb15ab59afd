"""Recordings: the scans of a folder or a bag in order, and the ground truth beside them.

A scan that cannot be read is skipped, counted and named in the log; a recording without any readable scan is an error.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from prnet_core.io.bag_files import BagError, is_storage_file
from prnet_core.io.bags import open_bag
from prnet_core.io.cloud_files import CloudFileError
from prnet_core.io.scan_folders import CLOUD_SUFFIXES, ScanFolder
from prnet_core.io.trajectories import Trajectory, read_kitti, read_tum

_log = logging.getLogger(__name__)


class RecordedScan(NamedTuple):
    """A scan: stamp in seconds, points (N, 3) in metres, point times (N,) in seconds after the stamp, or None."""

    stamp: float
    points: np.ndarray
    times: np.ndarray | None


@dataclass
class RecordedScans:
    """Scans in order; iterating gives RecordedScan.

    ground_truth: the one beside the scans, or None. After an iteration, stamps are those of all scans (NaN for a file
    that was skipped); skipped and no_times count, by reason, the scans left out and those without point times.
    """

    _error: ClassVar[type[Exception]]
    path: Path
    topic: str | None = None
    ground_truth: Trajectory | None = None
    stamps: list[float] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    no_times: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[RecordedScan]:
        for record in (self.stamps, self.skipped, self.no_times):
            record.clear()
        is_empty = True
        for scan in self._scans():
            self.stamps.append(scan.stamp)
            if not np.isfinite(scan.stamp):
                self.skipped["without a finite stamp"] += 1
                continue
            is_empty = False
            yield scan
        if is_empty:
            reasons = ", ".join(f"{number} {reason}" for reason, number in self.skipped.items()) or "it has none"
            raise self._error(f"{self.path}: no scan can be read: {reasons}")

    def _scans(self) -> Iterator[RecordedScan]:
        raise NotImplementedError


class FolderScans(RecordedScans):
    """The scans of a folder."""

    _error = CloudFileError

    def __init__(self, path: Path, columns: str | None = None):
        self._folder = ScanFolder(path, columns)
        poses, stamps = self._folder.poses, self._folder.stamps
        if poses is not None:
            usable = np.isfinite(poses).all(axis=(1, 2)) & np.isfinite(stamps)
            if not usable.all():
                _log.warning("%s: %d ground truth poses are not finite", path, np.count_nonzero(~usable))
            poses, stamps = poses[usable], stamps[usable]
        super().__init__(path, ground_truth=None if poses is None else Trajectory(stamps, poses))

    def _scans(self) -> Iterator[RecordedScan]:
        for index, stamp in enumerate(self._folder.stamps):
            try:
                points = self._folder[index]
            except (ValueError, OSError) as error:
                _log.warning("a scan is skipped: %s", error)
                self.skipped["not readable"] += 1
                self.stamps.append(np.nan)
                continue
            self.no_times["cloud files have none"] += 1
            yield RecordedScan(float(stamp), points, None)


class BagScans(RecordedScans):
    """The scans of a PointCloud2 topic of a bag in one frame, and the recorded ground truth of that frame."""

    _error = BagError

    def __init__(self, path: Path, topic: str | None):
        from prnet_core.io.bag_poses import ground_truth_if_usable

        self._bag = open_bag(path)
        topic = self._bag.point_cloud_topic(topic)
        first = next(self._bag.scans(topic), None)
        ground_truth = None if first is None else ground_truth_if_usable(self._bag, first.frame_id)
        super().__init__(path, topic, ground_truth)

    def _scans(self) -> Iterator[RecordedScan]:
        for scan in self._bag.scans(self.topic):
            if scan.cloud.times is None:
                self.no_times[scan.cloud.no_times_reason] += 1
            yield RecordedScan(scan.stamp, scan.cloud.points, scan.cloud.times)
        self.skipped.update(self._bag.skipped)


def open_scans(path: Path, topic: str | None = None, columns: str | None = None) -> RecordedScans:
    """A folder of scans, or a bag. `topic` is for bags, `columns` for folders, as in `read_cloud_file`.

    Raises CloudFileError or BagError with what was found instead, FileNotFoundError when nothing is there.
    """
    if path.suffix.lower() in CLOUD_SUFFIXES and not path.is_dir():
        raise CloudFileError(f"{path} is a single scan; a folder of scans is needed")
    holds_bag = path.is_dir() and any(file.name == "metadata.yaml" or is_storage_file(file) for file in path.iterdir())
    if path.is_dir() and not holds_bag:
        return FolderScans(path, columns)
    if columns is not None:
        raise BagError(f"{path}: columns can be named for folders of .bin and text files, not for bags")
    return BagScans(path, topic)


class GroundTruthFile:
    """A ground truth in a file: TUM, or KITTI rows that belong to the scans in order.

    Raises ValueError, which names the file, when it is neither; OSError when it cannot be read.
    """

    def __init__(self, path: Path):
        self._path = path
        lines = (line.split() for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
        first = next((words for words in lines if words and not words[0].startswith("#")), [])
        self._poses = read_tum(path) if len(first) == 8 else read_kitti(path)

    def for_scans(self, stamps: list[float]) -> Trajectory:
        """The ground truth over time; ValueError when KITTI rows and scans differ in number."""
        if isinstance(self._poses, Trajectory):
            return self._poses
        if len(self._poses) != len(stamps):
            raise ValueError(f"{self._path}: {len(self._poses)} poses for {len(stamps)} scans")
        usable = np.isfinite(self._poses).all(axis=(1, 2)) & np.isfinite(stamps)
        return Trajectory(np.asarray(stamps)[usable], self._poses[usable])
