"""The motion of a sensor within one sweep, estimated with its pose (as CT-ICP does, Dellenbach et al., ICRA 2022)."""

from __future__ import annotations

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.deskew import deskew
from prnet_core.registration.alignment import nearest
from prnet_core.registration.preprocess import PreparedCloud

MAX_POINTS = 2000
MAX_ITERATIONS = 4
MAX_DISTANCE = 1.0  # voxels to the nearest point of the target
MIN_MATCHES = 100
MIN_SCALE = 1e-2  # voxels: residuals are not trusted to be smaller
PRIOR_TRANSLATION = 1.0  # voxels, and
PRIOR_ROTATION = 0.1  # radians a sweep: standard deviation of the velocity's change since the last scan
MAX_CORRECTION = 1.5  # voxels by which the pose may move: more is not a refinement


def refine_sweep(
    points: np.ndarray,
    times: np.ndarray,
    T_target_sensor: np.ndarray,
    twist: np.ndarray,
    target: PreparedCloud,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Pose (4, 4) at time 0 and twist (6,) that bring a sweep onto a target, or None when they do not converge.

    points: (N, 3) as measured, each in the sensor's frame at its own time (N,), seconds. T_target_sensor, twist:
    initial values, metres, m/s and rad/s in the sensor's frame. Gauss-Newton on robust point-to-plane distances
    n . (T exp(t_i twist) p_i - q_i) over 12 unknowns; the twist has a weak prior at its initial value, which decides
    what the scene does not constrain.
    """
    if len(points) > MAX_POINTS:
        chosen = np.random.default_rng(0).choice(len(points), MAX_POINTS, replace=False)
        points, times = points[chosen], times[chosen]
    span = float(np.ptp(times))
    if span == 0.0 or len(target) == 0:
        return None
    unit = target.voxel_size
    pose = se3.make_transform(T_target_sensor[:3, :3], (T_target_sensor[:3, 3] - target.centre) / unit)
    to_voxels = np.r_[np.full(3, 1.0 / unit), np.ones(3)]
    points, initial, first_pose = points / unit, twist * to_voxels, pose
    prior = (span / np.r_[np.full(3, PRIOR_TRANSLATION), np.full(3, PRIOR_ROTATION)]) ** 2
    estimate = initial.copy()
    for _ in range(MAX_ITERATIONS):
        equations = _normal_equations(points, times, pose, estimate, target)
        if equations is None:
            return None
        hessian, gradient = equations
        hessian[6:, 6:] += np.diag(prior)
        gradient[6:] += prior * (estimate - initial)
        step = -np.linalg.solve(hessian + 1e-9 * np.eye(12), gradient)
        pose, estimate = pose @ se3.exp(step[:6]), estimate + step[6:]
        if np.linalg.norm(step[:3]) < 1e-3 and np.linalg.norm(step[3:6]) < 1e-4:
            break
    if not np.linalg.norm(pose[:3, 3] - first_pose[:3, 3]) < MAX_CORRECTION:
        return None
    rotation = se3.nearest_rotation(pose[:3, :3])
    return se3.make_transform(rotation, pose[:3, 3] * unit + target.centre), estimate / to_voxels


def _normal_equations(
    points: np.ndarray, times: np.ndarray, pose: np.ndarray, twist: np.ndarray, target: PreparedCloud
) -> tuple[np.ndarray, np.ndarray] | None:
    """Hessian (12, 12) and gradient (12,) for (pose, twist), in voxel units; None with too few matches."""
    correlated = target.config.correlated_points
    seen = deskew(points, times, twist)
    index, distance = nearest(target.level.tree, se3.apply(pose, seen), target.config.num_threads)
    matched = distance < MAX_DISTANCE
    if matched.sum() < MIN_MATCHES:
        return None
    index, seen, times = index[matched], seen[matched].T, times[matched]
    # in the sensor's frame and by columns (3, M): numpy is slow where the last axis is short
    normals = pose[:3, :3].T @ target.normals[index].T
    hit = pose[:3, :3].T @ (target.points[index] - pose[:3, 3]).T
    residuals = np.sum((seen - hit) * normals, axis=0)
    scale = max(1.4826 * float(np.median(np.abs(residuals))), MIN_SCALE)
    weights = 1.0 / (1.0 + (residuals / (2.0 * scale)) ** 2) ** 2 / (scale**2 * correlated)
    jacobian = np.empty((12, len(times)))
    jacobian[:3] = normals
    jacobian[3:6] = seen[[1, 2, 0]] * normals[[2, 0, 1]] - seen[[2, 0, 1]] * normals[[1, 2, 0]]
    jacobian[6:] = times * jacobian[:6]
    weighted = jacobian * weights
    return weighted @ jacobian.T, weighted @ residuals
