"""A scan that hardly meets the local map: registered to the scan before it alone.

A narrow view that turns fast meets a small part of a large map, whose other surfaces attract it, but a third to a half
of the scan before it.
"""

from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.scan_tracker import MAX_CORRECTION, Tracked, nearest_prediction, prepare_sweep, track
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.tracking import Registrations, Tracking, is_near
from prnet_core.registration import REJECTED, RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

NUM_ROUNDS = 2  # before the second the last scan is deskewed again
NEAR_FACTOR = 4.0  # times what counts as near for a prediction by the velocity: turns are predicted in steps


def track_on_last_scan(
    registrations: Registrations,
    usual: Tracking,
    last: Sweep,
    frame: Keyframe,
    voxel_size: float,
    sweep: Sweep,
    predictions: list[Predicted],
    deadline: float,
) -> Tracked | None:
    """The pose of a sweep by the last one; None if it is rejected, violates free space, or is far from its prediction.

    usual: how scans fit. frame: the last sweep, deskewed, with its pose in the map. predictions: of the sweep in the
    map, of which the one nearest to the last sweep is tried. deadline: of `time.perf_counter()`.
    """
    config, last_twist = registrations.tracking.config, frame.twist
    T_last_map = se3.invert(frame.T_map_sensor)
    relative = [Predicted(T_last_map @ predicted.pose, predicted.twist) for predicted in predictions]
    for round_ in range(NUM_ROUNDS):
        target = prepare_cloud(last.at_middle(last_twist), voxel_size, config, np.zeros((1, 3)))
        near = nearest_prediction(sweep, relative, target)
        result, twist = track(sweep, near, target, (registrations.tracking,) * 2, None, config, None, deadline)
        if result.status != REJECTED or last.times is None or round_ == NUM_ROUNDS - 1:
            break
        refined = _deskewed_again(last, last_twist, result, prepare_sweep(sweep, twist, voxel_size, config))
        if refined is None:
            break
        last_twist = refined
    if result.status != REJECTED and (result.violation or 0.0) > config.max_violation_weak:
        return None
    result = usual.follow_near(result, near.pose, sweep.scale)
    if result.status == REJECTED or not is_near(result.T_target_source, near.pose, sweep.scale, NEAR_FACTOR):
        return None
    pose, predicted = frame.T_map_sensor @ result.T_target_source, frame.T_map_sensor @ near.pose
    covariance = se3.moved_covariance(frame.T_map_sensor, result.covariance)
    reason = f"on the last scan alone: {result.reason}"
    result = replace(result, T_target_source=pose, covariance=covariance, reason=reason)
    return Tracked(result, twist, predicted, frame)


def _deskewed_again(
    last: Sweep, last_twist: np.ndarray, result: RegistrationResult, source: PreparedCloud
) -> np.ndarray | None:
    """The twist (6,) of the last sweep that brings it onto the newer one, or None where that does not converge."""
    T_sensor_last = se3.invert(result.T_target_source)
    refined = refine_sweep(last.points, last.times, T_sensor_last, last_twist, source, MAX_CORRECTION)
    return None if refined is None else refined[1]
