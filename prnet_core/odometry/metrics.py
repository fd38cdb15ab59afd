"""Trajectory errors in their usual definitions (Sturm et al., IROS 2012): ATE and RPE."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.io.trajectories import Trajectory

STAMP_TOLERANCE = 0.01  # s


@dataclass(frozen=True)
class RelativePoseError:
    """RPE over `step` frames: root mean square and largest, metres and degrees."""

    step: int
    translation_rmse: float
    rotation_rmse_deg: float
    translation_max: float
    rotation_max_deg: float


def absolute_trajectory_error(estimate: np.ndarray, ground_truth: np.ndarray) -> float:
    """ATE: rms distance in metres of the positions after the best rigid alignment (no scale).

    estimate, ground_truth: (N, 4, 4) poses of the same instants. Raises ValueError on another shape.
    """
    check_pair(estimate, ground_truth)
    p, q = estimate[:, :3, 3], ground_truth[:, :3, 3]
    p_mean, q_mean = p.mean(axis=0), q.mean(axis=0)
    rotation = se3.nearest_rotation((q - q_mean).T @ (p - p_mean))
    aligned = (p - p_mean) @ rotation.T + q_mean
    return float(np.sqrt(np.mean(np.sum((aligned - q) ** 2, axis=1))))


def relative_pose_error(estimate: np.ndarray, ground_truth: np.ndarray, step: int = 1) -> RelativePoseError:
    """RPE: E_i = (Q_i^-1 Q_(i+step))^-1 (P_i^-1 P_(i+step)) for estimate P and ground truth Q, all (N, 4, 4).

    Raises ValueError when the trajectories differ in length or are not longer than `step`.
    """
    check_pair(estimate, ground_truth)
    if not 0 < step < len(ground_truth):
        raise ValueError(f"a step of {step} needs more than {step} poses, there are {len(ground_truth)}")
    first = np.arange(len(ground_truth) - step)
    translations, angles = _relative_errors(estimate, ground_truth, first, first + step)
    angles = np.degrees(angles)
    return RelativePoseError(
        step=step,
        translation_rmse=float(np.sqrt(np.mean(np.square(translations)))),
        rotation_rmse_deg=float(np.sqrt(np.mean(np.square(angles)))),
        translation_max=float(np.max(translations)),
        rotation_max_deg=float(np.max(angles)),
    )


def segment_drift(
    estimate: np.ndarray, ground_truth: np.ndarray, lengths: tuple[float, ...]
) -> tuple[float, float] | None:
    """KITTI's drift: mean error of the relative pose over segments of the path, as shares of their length.

    estimate, ground_truth: (N, 4, 4) poses of the same instants; lengths: metres of path. Returns the translation
    (m/m) and the rotation (rad/m), or None when the path is shorter than every length.
    """
    check_pair(estimate, ground_truth)
    steps = np.linalg.norm(np.diff(ground_truth[:, :3, 3], axis=0), axis=1)
    travelled = np.concatenate([[0.0], np.cumsum(steps)])
    shares = []
    for length in lengths:
        last = np.searchsorted(travelled, travelled + length)
        first = np.flatnonzero(last < len(ground_truth))
        if len(first):
            shares.append(np.array(_relative_errors(estimate, ground_truth, first, last[first])) / length)
    if not shares:
        return None
    translation, rotation = np.hstack(shares).mean(axis=1)
    return float(translation), float(rotation)


def _relative_errors(
    estimate: np.ndarray, ground_truth: np.ndarray, first: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the relative poses from `first` (K,) to `last` (K,): metres (K,) and radians (K,)."""
    found, true = (np.linalg.inv(poses[first]) @ poses[last] for poses in (estimate, ground_truth))
    error = np.linalg.inv(true) @ found
    return np.linalg.norm(error[:, :3, 3], axis=1), Rotation.from_matrix(error[:, :3, :3]).magnitude()


def match_stamps(estimate: Trajectory, ground_truth: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Poses (K, 4, 4) of both at the instants they share within 10 ms; none without a ground truth."""
    if len(ground_truth) == 0:
        return estimate.poses[:0], ground_truth.poses
    order = np.argsort(ground_truth.stamps)
    stamps = ground_truth.stamps[order]
    after = np.clip(np.searchsorted(stamps, estimate.stamps), 1, max(len(stamps) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(stamps) - 1)
    nearer = np.abs(stamps[before] - estimate.stamps) <= np.abs(stamps[after] - estimate.stamps)
    nearest = np.where(nearer, before, after)
    shared = np.abs(stamps[nearest] - estimate.stamps) <= STAMP_TOLERANCE
    return estimate.poses[shared], ground_truth.poses[order][nearest[shared]]


def check_pair(estimate: np.ndarray, ground_truth: np.ndarray) -> None:
    """Raise ValueError unless both are (N, 4, 4) with the same N > 0."""
    if (
        estimate.shape != ground_truth.shape
        or estimate.ndim != 3
        or estimate.shape[1:] != (4, 4)
        or len(ground_truth) == 0
    ):
        raise ValueError(f"trajectories must be (N, 4, 4) of one length, not {estimate.shape} and {ground_truth.shape}")
