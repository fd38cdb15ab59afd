"""A timed sequence of poses, and the TUM and KITTI files that `evo` reads."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation


@dataclass(frozen=True)
class Trajectory:
    """Poses over time. stamps: (N,) seconds. poses: (N, 4, 4), each takes the sensor's frame into a fixed frame."""

    stamps: np.ndarray
    poses: np.ndarray

    def __post_init__(self):
        if self.poses.shape != (len(self.stamps), 4, 4):
            raise ValueError(
                f"{len(self.stamps)} stamps need poses of that many (4, 4), not {self.poses.shape}"
            )

    def __len__(self) -> int:
        return len(self.stamps)


def write_tum(path: Path | str, trajectory: Trajectory) -> None:
    """Write `stamp x y z qx qy qz qw`, one pose a line."""
    with open(path, "w", encoding="ascii") as file:
        for stamp, pose in zip(trajectory.stamps, trajectory.poses, strict=True):
            quaternion = Rotation.from_matrix(pose[:3, :3]).as_quat()
            numbers = " ".join(f"{value:.9f}" for value in (*pose[:3, 3], *quaternion))
            file.write(f"{stamp:.9f} {numbers}\n")


def read_tum(path: Path | str) -> Trajectory:
    """Read a TUM file; raises ValueError when a line has not eight numbers."""
    rows = np.loadtxt(path, ndmin=2)
    if rows.shape[1] != 8:
        raise ValueError(f"{path}: a TUM line has 8 numbers (stamp x y z qx qy qz qw), not {rows.shape[1]}")
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(rows[:, 4:8]).as_matrix()
    poses[:, :3, 3] = rows[:, 1:4]
    return Trajectory(rows[:, 0], poses)


def write_kitti(path: Path | str, poses: np.ndarray) -> None:
    """Write poses (N, 4, 4) as the 12 numbers of their upper 3x4 part, one pose a line."""
    np.savetxt(path, poses[:, :3, :].reshape(len(poses), 12), fmt="%.9f")


def read_kitti(path: Path | str) -> np.ndarray:
    """Read poses (N, 4, 4) from lines of 12 numbers; raises ValueError on another count."""
    rows = np.loadtxt(path, ndmin=2)
    if rows.shape[1] != 12:
        raise ValueError(f"{path}: a KITTI line has 12 numbers (upper 3x4 of the pose), not {rows.shape[1]}")
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :] = rows.reshape(-1, 3, 4)
    return poses
