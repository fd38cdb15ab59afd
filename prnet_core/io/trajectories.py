"""A timed sequence of poses, and the TUM and KITTI files that `evo` reads."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.io.ascii_rows import read_numbers
from prnet_core.io.safe_write import replacing

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trajectory:
    """Poses over time. stamps: (N,) seconds. poses: (N, 4, 4), each takes the sensor's frame into a fixed frame."""

    stamps: np.ndarray
    poses: np.ndarray

    def __post_init__(self):
        if self.poses.shape != (len(self.stamps), 4, 4):
            raise ValueError(f"{len(self.stamps)} stamps need poses of that many (4, 4), not {self.poses.shape}")

    def __len__(self) -> int:
        return len(self.stamps)


def write_tum(path: Path | str, trajectory: Trajectory) -> None:
    """Write `stamp x y z qx qy qz qw`, one pose per line, with the shortest digits that give the same numbers again.

    Raises OSError when it cannot be written; an existing file is then unchanged.
    """
    quaternions = Rotation.from_matrix(trajectory.poses[:, :3, :3]).as_quat().reshape(-1, 4)
    rows = np.column_stack([trajectory.stamps, trajectory.poses[:, :3, 3], quaternions])
    with replacing(path) as temporary:
        np.savetxt(temporary, rows, fmt="%s")


def read_tum(path: Path | str) -> Trajectory:
    """Read a TUM file; a line without a rotation (zero or not finite) is left out with a warning in the log.

    Raises ValueError, which names the file, when a line does not have eight numbers or none has a rotation.
    """
    rows = _read_rows(path, 8, "TUM", "stamp x y z qx qy qz qw")
    usable = np.isfinite(rows).all(axis=1) & (np.linalg.norm(rows[:, 4:8], axis=1) > 0.0)
    if not usable.any():
        raise ValueError(f"{path}: no line holds a finite pose")
    if not usable.all():
        _log.warning("%s: %d of %d poses are left out: not finite, or a zero quaternion", path,
                     np.count_nonzero(~usable), len(rows))  # fmt: skip
    rows = rows[usable]
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(rows[:, 4:8]).as_matrix()
    poses[:, :3, 3] = rows[:, 1:4]
    return Trajectory(rows[:, 0], poses)


def write_kitti(path: Path | str, poses: np.ndarray) -> None:
    """Write poses (N, 4, 4) as the 12 numbers of their upper 3x4 part, one pose per line, without loss of digits.

    Raises OSError when it cannot be written; an existing file is then unchanged.
    """
    with replacing(path) as temporary:
        np.savetxt(temporary, poses[:, :3, :].reshape(len(poses), 12), fmt="%s")


def read_kitti(path: Path | str) -> np.ndarray:
    """Read poses (N, 4, 4) from lines of 12 numbers; raises ValueError, which names the file, on another count."""
    rows = _read_rows(path, 12, "KITTI", "upper 3x4 of the pose")
    poses = np.tile(np.eye(4), (len(rows), 1, 1))
    poses[:, :3, :] = rows.reshape(-1, 3, 4)
    return poses


def _read_rows(path: Path | str, width: int, kind: str, meaning: str) -> np.ndarray:
    rows = read_numbers(path)
    if len(rows) == 0:
        raise ValueError(f"{path}: no poses in it")
    if rows.shape[1] != width:
        raise ValueError(f"{path}: a {kind} line has {width} numbers ({meaning}), not {rows.shape[1]}")
    return rows
