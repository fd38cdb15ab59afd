"""What is tried for a scan that is not lost: the local map near the predictions, the last scan, the map farther off."""

import time as clock
from collections.abc import Iterable, Iterator
from itertools import chain

from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.last_scan import track_on_last_scan
from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.scan_tracker import Attempt, Tracked, attempts, mean_distance
from prnet_core.odometry.segment import Segment
from prnet_core.odometry.sweep import Sweep

FAR_DISTANCE, NEARER = 3.0, 0.6  # voxels to the map by a prediction, and what share a turn, tried first, leaves of them


def track_near(
    segment: Segment,
    sweep: Sweep,
    time: float,
    predictions: list[Predicted],
    is_tracked: bool,
    deadline: float,
    last_deadline: float,
) -> Tracked:
    """The first result that can be followed, else the first of all.

    time: of the sweep's middle. is_tracked: whether the last scan is so recent that its velocity predicts. deadline: of
    `time.perf_counter()`. The last scan is tried up to `last_deadline`, as a lost scan costs more than a late one;
    also where nothing but nearness to a prediction speaks for a result on the map. A weak result on it counts where
    there is no other.
    """
    full, wide = segment.registrations.full, segment.registrations.wide
    expected = predictions[0].pose
    if not is_tracked:
        tried = attempts(chain(predictions, segment.turning_prediction(sweep, time)), (full, full, full))
        return Tracked(*segment.track(sweep, tried, deadline), expected)
    near, turns = _near_attempts(segment, sweep, time, predictions)
    found = Tracked(*segment.track(sweep, near, deadline), expected)
    can_follow = segment.usual.can_follow(found.result)
    on_last = _track_on_last(segment, sweep, time, last_deadline) if segment.usual.is_doubtful(found.result) else None
    if on_last is not None and on_last.result.usable:
        return on_last
    if not can_follow and clock.perf_counter() < deadline:
        farther = chain(attempts(turns, (wide, wide)), attempts(predictions[:1], (wide,)))
        result, twist = segment.track(sweep, farther, deadline)
        if segment.usual.can_follow(result):
            return Tracked(result, twist, expected, is_far=True)
    return found if can_follow or on_last is None else on_last


def _near_attempts(
    segment: Segment, sweep: Sweep, time: float, predictions: list[Predicted]
) -> tuple[Iterator[Attempt], Iterable[Predicted]]:
    """Attempts near the predictions, first by a turn that brings the sweep much nearer to the map; other turns."""
    tracking, wide = segment.registrations.tracking, segment.registrations.wide
    near = attempts(predictions, (tracking, tracking))
    distance = predictions[0].distance
    if distance is None:
        distance = mean_distance(sweep, predictions[0], segment.target())
    if distance <= FAR_DISTANCE:
        return near, segment.turning_prediction(sweep, time)
    turns = list(segment.turning_prediction(sweep, time))
    if turns and mean_distance(sweep, turns[0], segment.target()) < NEARER * distance:
        return chain(attempts(turns, (wide, wide)), near), []
    return near, turns


def _track_on_last(segment: Segment, sweep: Sweep, time: float, deadline: float) -> Tracked | None:
    """By the last scan alone; not where scans have no point times, as they may be distorted."""
    last = segment.last_sweep
    if last is None or sweep.times is None or clock.perf_counter() > deadline:
        return None
    frame = Keyframe(last.at_middle(segment.twist), segment.pose, segment.covariance, segment.twist)
    unchanged, *turns = segment.prediction.by_turning(segment.pose, segment.twist, time - segment.pose_time)
    predictions = [*segment.prediction.with_guess(segment.pose, unchanged), *turns]
    used, voxel_size = (segment.registrations, segment.usual), segment.scale.voxel_size
    return track_on_last_scan(*used, last, frame, voxel_size, sweep, predictions, deadline)
