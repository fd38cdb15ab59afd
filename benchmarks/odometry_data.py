"""Sequences of scans with their ground truth, for the odometry benchmark: simulated drives and recordings.

Recordings lie beside the checkout in ../shared/data/scans and are not part of the repository. Simulated drives are made
when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from registration_data import SCANS

from prnet_core.geometry import se3
from prnet_core.io.recordings import open_scans
from prnet_core.io.trajectories import Trajectory
from prnet_core.odometry.metrics import match_stamps
from prnet_core.simulation.drives import make_drive

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Sequence:
    """Scans in order, their point times or None, and the true poses (N, 4, 4) at the stamps, or None.

    voxels: two voxel sizes for peers that take one, in metres. sweep: seconds that a scan takes.
    """

    name: str
    voxels: tuple[float, float]
    stamps: np.ndarray
    scans: list[np.ndarray]
    times: list[np.ndarray] | None
    truth: np.ndarray | None

    @property
    def sweep(self) -> float:
        return 0.0 if self.times is None else float(np.median([np.ptp(t) for t in self.times if len(t)]))

    @property
    def interval(self) -> float:
        return float(np.median(np.diff(self.stamps)))

    def truth_at(self, share: float) -> np.ndarray | None:
        """True poses (N, 4, 4) when this share of the sweep has passed, between the poses at the stamps."""
        if self.truth is None or share == 0.0 or self.sweep == 0.0:
            return self.truth
        poses = []
        for i in range(len(self.truth)):
            j = min(i, len(self.truth) - 2)
            step = se3.log(se3.invert(self.truth[j]) @ self.truth[j + 1])
            passed = share * self.sweep / (self.stamps[j + 1] - self.stamps[j])
            poses.append(self.truth[i] @ se3.exp(passed * step))
        return np.array(poses)

    def every(self, step: int) -> Sequence:
        """Every `step`-th scan."""
        return replace(
            self,
            name=f"{self.name}, every {step}th",
            stamps=self.stamps[::step],
            scans=self.scans[::step],
            times=None if self.times is None else self.times[::step],
            truth=None if self.truth is None else self.truth[::step],
        )


OUTDOORS, INDOORS, TABLE = (1.0, 0.5), (0.5, 0.25), (0.05, 0.02)

DRIVES = (
    # name, place, sensor, voxels, options of `make_drive`
    ("street, 32 beams", "street", "lidar32", OUTDOORS, {}),
    ("street, 64 beams, speed bumps", "street", "lidar64", OUTDOORS, {"num_bumps": 4}),
    ("street, 32 beams, 20 % lost, stamps with 5 ms of jitter", "street", "lidar32", OUTDOORS,
     {"lost_share": 0.2, "stamp_jitter": 0.005}),
    ("park, 64 beams", "park", "lidar64", OUTDOORS, {}),
    ("office with people, 32 beams", "office", "lidar32", INDOORS, {}),
    ("office, Livox-like", "office", "livox", INDOORS, {}),
    ("stairs, 32 beams", "stairs", "lidar32", INDOORS, {}),
    ("building, depth camera 30 Hz", "building", "kinect", (0.1, 0.05), {}),
    ("table, stereo camera 30 Hz", "table", "stereo", TABLE, {}),
)  # fmt: skip


def drive(
    name: str, place: str, sensor: str, voxels: tuple[float, float], num_scans: int, **options
) -> Sequence:
    """A simulated drive, its ground truth at the true start of each scan."""
    scans = list(make_drive(place, sensor, num_scans, **options))
    has_times = np.ptp(scans[0].point_times) > 0.0
    return Sequence(
        f"simulated {name}, {num_scans} scans",
        voxels,
        np.array([scan.stamp for scan in scans]),
        [scan.points for scan in scans],
        [scan.point_times for scan in scans] if has_times else None,
        np.array([scan.T_world_sensor for scan in scans]),
    )


def recording(name: str, path: Path, voxels: tuple[float, float]) -> Sequence:
    """The scans of a folder or bag, and its ground truth where it has one for every scan."""
    recorded = open_scans(path)
    rows = list(recorded)
    stamps = np.array([row[0] for row in rows])
    truth = None
    if recorded.truth is not None and len(recorded.truth):
        places = Trajectory(stamps, np.tile(np.eye(4), (len(stamps), 1, 1)))
        _, truth = match_stamps(places, recorded.truth)
    times = [row[2] for row in rows]
    return Sequence(
        name,
        voxels,
        stamps,
        [row[1] for row in rows],
        None if any(t is None for t in times) else times,
        truth if truth is not None and len(truth) == len(stamps) else None,
    )


def sequences(part: str, num_scans: int, street: Path | None) -> Iterator[Sequence]:
    """Those whose name contains `part`. street: a folder of scans at 10 Hz without ground truth, or None."""
    for name, place, sensor, voxels, options in DRIVES:
        if part in f"simulated {name}":
            yield drive(name, place, sensor, voxels, num_scans, **options)
    recordings = [
        ("sample lidar_walk", ROOT / "test" / "data" / "lidar_walk", (0.3, 0.15), (1, 2)),
        ("handheld LiDAR at 2 Hz", SCANS / "lidar_hilti" / "part_a", INDOORS, (1, 2, 3)),
        ("Kinect, 50 frames", SCANS / "rgbd" / "kinect_50", TABLE, (1, 5)),
        ("bag, 15 scans", SCANS / "rosbag" / "balm_15_mcap", INDOORS, (1,)),
    ]
    if street is not None:
        recordings.append(("street recording without ground truth", street, OUTDOORS, (1, 5, 10)))
    for name, path, voxels, steps in recordings:
        if part in name and path.exists():
            whole = recording(name, path, voxels)
            for step in steps:
                yield whole if step == 1 else whole.every(step)
