"""Sequences of scans with their ground truth, for the odometry benchmark: simulated drives and recordings.

Recordings lie beside the checkout in ../shared/data/scans and are not part of the repository. Simulated drives are made
when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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

    voxels: two voxel sizes for peers that take one, in metres. turn: seconds that a scan without point times takes,
    where it is known. sweep: seconds that a scan takes.
    """

    name: str
    voxels: tuple[float, float]
    stamps: np.ndarray
    scans: list[np.ndarray]
    times: list[np.ndarray] | None
    ground_truth: np.ndarray | None
    turn: float = 0.0

    @property
    def sweep(self) -> float:
        return self.turn if self.times is None else float(np.median([np.ptp(t) for t in self.times if len(t)]))

    @property
    def interval(self) -> float:
        return float(np.median(np.diff(self.stamps)))

    def ground_truth_at(self, share: float) -> np.ndarray | None:
        """True poses (N, 4, 4) when this share of the sweep has passed, between the poses at the stamps."""
        if self.ground_truth is None or share == 0.0 or self.sweep == 0.0:
            return self.ground_truth
        return poses_later(self.ground_truth, self.stamps, share * self.sweep)


def poses_later(poses: np.ndarray, stamps: np.ndarray, seconds: float) -> np.ndarray:
    """Poses (N, 4, 4) some seconds later, or earlier where negative, by the velocity to the next pose."""
    later = []
    for i, pose in enumerate(poses):
        j = min(i, len(poses) - 2)
        step = se3.log(se3.invert(poses[j]) @ poses[j + 1])
        later.append(pose @ se3.exp(seconds / (stamps[j + 1] - stamps[j]) * step))
    return np.array(later)


OUTDOORS, INDOORS, TABLE = (1.0, 0.5), (0.5, 0.25), (0.05, 0.02)

STREET = "street recording without ground truth"
SEEDS = (0, 7)  # of the places and of the noise; no number was chosen on seed 7
HARD_SEEDS = {"office, Livox-like": (17, 65, 67, 72)}  # a narrow view turns away from all that was seen

DRIVES = (
    # name, place, sensor, voxels, options of `make_drive`
    ("street, 32 beams", "street", "lidar32", OUTDOORS, {}),
    ("street, 64 beams, speed bumps", "street", "lidar64", OUTDOORS, {"num_bumps": 4}),
    ("street, 32 beams, 20 % lost, stamps with 5 ms of jitter", "street", "lidar32", OUTDOORS,
     {"lost_share": 0.2, "stamp_jitter": 0.005}),
    ("street, 64 beams, no point times", "street", "lidar64", OUTDOORS, {"point_times": False}),
    ("park, 64 beams", "park", "lidar64", OUTDOORS, {}),
    ("office with people, 32 beams", "office", "lidar32", INDOORS, {}),
    ("office with people, 32 beams, no point times", "office", "lidar32", INDOORS, {"point_times": False}),
    ("office with people, 16 beams at 5 Hz", "office", "lidar16", INDOORS, {"rate": 5.0}),
    ("office with people, 16 beams at 5 Hz, no point times", "office", "lidar16", INDOORS,
     {"rate": 5.0, "point_times": False}),
    ("stairs with people, 16 beams at 5 Hz", "stairs", "lidar16", INDOORS, {"rate": 5.0}),
    ("office, Livox-like", "office", "livox", INDOORS, {}),
    ("street, Livox-like, all around", "street", "livox360", OUTDOORS, {}),
    ("stairs, 32 beams", "stairs", "lidar32", INDOORS, {}),
    ("building, depth camera 30 Hz", "building", "kinect", (0.1, 0.05), {}),
    ("table, stereo camera 30 Hz", "table", "stereo", TABLE, {}),
)  # fmt: skip


def drive(
    name: str, place: str, sensor: str, voxels: tuple[float, float], num_scans: int, point_times: bool = True, **options
) -> Sequence:
    """A simulated drive, its ground truth at the true start of each scan. point_times: whether the scans have them."""
    scans = list(make_drive(place, sensor, num_scans, **options))
    turn = float(np.ptp(scans[0].point_times))
    return Sequence(
        name,
        voxels,
        np.array([scan.stamp for scan in scans]),
        [scan.points for scan in scans],
        [scan.point_times for scan in scans] if turn and point_times else None,
        np.array([scan.T_world_sensor for scan in scans]),
        turn,
    )


def recording(name: str, path: Path, voxels: tuple[float, float], step: int) -> Sequence:
    """Every `step`-th scan of a folder or bag, and its ground truth where it has one for every scan."""
    recorded = open_scans(path)
    rows = list(recorded)[::step]
    stamps = np.array([row[0] for row in rows])
    ground_truth = None
    if recorded.ground_truth is not None and len(recorded.ground_truth):
        places = Trajectory(stamps, np.tile(np.eye(4), (len(stamps), 1, 1)))
        _, ground_truth = match_stamps(places, recorded.ground_truth)
    times = [row[2] for row in rows]
    return Sequence(
        name,
        voxels,
        stamps,
        [row[1] for row in rows],
        None if any(t is None for t in times) else times,
        ground_truth if ground_truth is not None and len(ground_truth) == len(stamps) else None,
    )


def sequences(num_scans: int, street: Path | None) -> Iterator[tuple[str, Callable[[], Sequence]]]:
    """Names of the sequences, and what makes or reads each. street: a folder of scans at 10 Hz without ground truth."""
    for name, place, sensor, voxels, options in DRIVES:
        for seed in (*SEEDS, *HARD_SEEDS.get(name, ())):
            title = f"simulated {name}, {num_scans} scans" + (f", seed {seed}" if seed else "")
            yield title, partial(drive, title, place, sensor, voxels, num_scans, seed=seed, **options)
    recordings = [
        ("sample lidar_walk", ROOT / "test" / "data" / "lidar_walk", (0.3, 0.15), (1, 2)),
        ("handheld LiDAR at 2 Hz", SCANS / "lidar_hilti" / "part_a", INDOORS, (1, 2, 3)),
        ("Kinect, 50 frames", SCANS / "rgbd" / "kinect_50", TABLE, (1, 5)),
        ("bag, 15 scans", SCANS / "rosbag" / "balm_15_mcap", INDOORS, (1,)),
    ]
    if street is not None:
        recordings.append((STREET, street, OUTDOORS, (1, 5, 10)))
    for name, path, voxels, steps in recordings:
        for step in steps:
            title = name if step == 1 else f"{name}, every {step}th scan"
            if path.exists():
                yield title, partial(recording, title, path, voxels, step)
