"""The pose of a sensor and its motion within one sweep, estimated together (CT-ICP, Dellenbach et al., ICRA 2022)."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.rows import row_dots
from prnet_core.odometry.deskew import deskew
from prnet_core.registration.alignment import nearest, plane_jacobian
from prnet_core.registration.preprocess import PreparedCloud

NUM_POINTS = (2000, 2000, 6000, 6000)  # of the sweep, drawn at random, in each iteration, and
MAX_DISTANCES = (2.0, 1.0, 1.0, 1.0)  # voxels to the nearest point of the target
MIN_MATCHES = 100
MIN_SCALE = 1e-2  # voxels: residuals are not trusted to be smaller
PRIOR_TRANSLATION = 1.0  # voxels, and
PRIOR_ROTATION = 0.1  # radians per sweep: standard deviation of the velocity's change since the last scan
MAX_CORRECTION = 1.5  # voxels by which the pose may move: more is not a refinement


def refine_sweep(
    points: np.ndarray,
    times: np.ndarray | None,
    T_target_sensor: np.ndarray,
    twist: np.ndarray,
    target: PreparedCloud,
    max_correction: float = MAX_CORRECTION,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Pose (4, 4) at time 0 and twist (6,) that bring a sweep onto a target, or None when they do not converge.

    points: (N, 3) as measured, each in the sensor's frame at its own time (N,), seconds; times None: all at time 0,
    the twist stays as it is. T_target_sensor, twist: initial values, metres, m/s and rad/s in the sensor's frame.
    Gauss-Newton on robust point-to-plane distances n . (T exp(t_i twist) p_i - q_i) over 12 unknowns (6 without
    times); the twist has a weak prior at its initial value, which decides what the scene does not constrain.
    max_correction: voxels by which the pose may move.
    """
    if len(points) > NUM_POINTS[0]:
        chosen = np.random.default_rng(0).permutation(len(points))[: NUM_POINTS[-1]]
        chosen = np.r_[np.sort(chosen[: NUM_POINTS[0]]), np.sort(chosen[NUM_POINTS[0] :])]
        points, times = points[chosen], None if times is None else times[chosen]
    span = 0.0 if times is None else float(np.ptp(times))
    if len(target) == 0:
        return None
    unit = target.voxel_size
    pose = se3.make_transform(T_target_sensor[:3, :3], (T_target_sensor[:3, 3] - target.centre) / unit)
    to_voxels = np.r_[np.full(3, 1.0 / unit), np.ones(3)]
    points, initial, first_pose = points / unit, twist * to_voxels, pose
    prior = (span / np.r_[np.full(3, PRIOR_TRANSLATION), np.full(3, PRIOR_ROTATION)]) ** 2
    estimate = initial.copy()
    for count, max_distance in zip(NUM_POINTS, MAX_DISTANCES):
        part = None if times is None or not span else times[:count]
        equations = _normal_equations(points[:count], part, pose, estimate, target, max_distance)
        if equations is None:
            return None
        hessian, gradient = equations
        if span:
            hessian[6:, 6:] += np.diag(prior)
            gradient[6:] += prior * (estimate - initial)
        step = -np.linalg.solve(hessian + 1e-9 * np.eye(len(hessian)), gradient)
        pose = pose @ se3.exp(step[:6])
        if span:
            estimate = estimate + step[6:]
        has_converged = np.linalg.norm(step[:3]) < 1e-3 and np.linalg.norm(step[3:6]) < 1e-4
        if has_converged and count == NUM_POINTS[-1]:
            break
    if not np.linalg.norm(pose[:3, 3] - first_pose[:3, 3]) < max_correction:
        return None
    rotation = se3.nearest_rotation(pose[:3, :3])
    return se3.make_transform(rotation, pose[:3, 3] * unit + target.centre), estimate / to_voxels


def _normal_equations(
    points: np.ndarray,
    times: np.ndarray | None,
    pose: np.ndarray,
    twist: np.ndarray,
    target: PreparedCloud,
    max_distance: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Hessian (12, 12) and gradient (12,) for (pose, twist), in voxel units, (6, 6) and (6,) for the pose alone where
    there are no times; None with too few matches."""
    seen = points if times is None else deskew(points, times, twist)
    moved = se3.apply(pose, seen)
    index, distance = nearest(target.level.tree, moved, target.config.num_threads)
    matched = distance < max_distance
    if matched.sum() < MIN_MATCHES:
        return None
    rows = np.flatnonzero(matched)
    index = index[rows]
    normals = target.normals.take(index, axis=0)
    residuals = row_dots(moved.take(rows, axis=0) - target.points.take(index, axis=0), normals)
    scale = max(1.4826 * float(np.median(np.abs(residuals))), MIN_SCALE)
    variance = scale**2 * target.config.correlated_points
    weights = 1.0 / (1.0 + (residuals / (2.0 * scale)) ** 2) ** 2 / variance
    # in the sensor's frame and by columns (3, M): numpy is slow where the last axis is short
    jacobian = np.empty((6 if times is None else 12, len(index)))
    levers = np.ascontiguousarray(seen.take(rows, axis=0).T)
    jacobian[:6] = plane_jacobian(levers, pose[:3, :3].T @ normals.T)
    if times is not None:
        np.multiply(jacobian[:6], times[rows], out=jacobian[6:])
    weighted = jacobian * weights
    return weighted @ jacobian.T, weighted @ residuals
