"""A local map, and the sensor's pose and motion in it: scans that are related by measurement."""

import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.combined_motion import combined_motion
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.initial_velocity import estimate_initial_velocities
from prnet_core.odometry.keyframes import Keyframe, Keyframes, is_keyframe
from prnet_core.odometry.local_map import LocalMap
from prnet_core.odometry.motion_filter import MotionFilter
from prnet_core.odometry.prediction import SLOWER, Predicted, Prediction
from prnet_core.odometry.scale import SceneScale
from prnet_core.odometry.scan_tracker import Attempt, Tracked, mean_distance, nearest_prediction, track
from prnet_core.odometry.spin import SpinEstimate
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.tracking import MIN_OVERLAP, Registrations, Tracking
from prnet_core.odometry.velocity import SweepVelocity
from prnet_core.registration import WEAK, RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud

TRACKED_INTERVALS = 3.5  # usual intervals between scans after which the prediction no longer counts in the verification
SPARSE_DISTANCE = 0.25  # of the usual distance between keyframes, of those that show little, and
SPARSE_SCANS = 3  # scans at least from one to the next: a change of the map takes as long as two scans


class Segment:
    """Tracks scans in the frame of its own map, without searches.

    pose: (4, 4) T_map_sensor of the last scan that was used, at the middle of its sweep, which was at `pose_time`.
    twist: (6,) of the sensor there, m/s and rad/s, in its frame. elapsed: seconds over which it was measured, or None.
    covariance: (6, 6) of the pose. has_followed: a second scan was used. last_sweep: that of the last scan, None at the
    first. was_far: the last scan was found farther from its prediction. A scan is given as its sweep and the `time` of
    the sweep's middle.
    """

    def __init__(self, registrations: Registrations, config: OdometryConfig, covariance: np.ndarray):
        self.registrations, self._config = registrations, config
        registration = registrations.full
        self.keyframes = Keyframes(config.remembered_keyframes, config.keyframe_points, config.map_keyframes)
        self.map = LocalMap(registration.config, config.map_keyframes)
        self.scale = SceneScale(registration)
        self.usual = Tracking(config.doubtful_overlap, registration.config.min_information)
        self.prediction = Prediction(config.max_prediction)
        self.pose, self.pose_time = np.eye(4), 0.0
        self.twist, self.elapsed = np.zeros(6), None  # type: np.ndarray, float | None
        self.covariance = covariance
        self.has_followed = False
        self._scans_since_keyframe = 0
        self._sweep_velocity = SweepVelocity()
        self._filter, self._was_predicted = MotionFilter(), False
        self._first_frame: tuple[Keyframe, float] | None = None  # of a first scan, and the seconds to the second one
        self._first_sweep: Sweep | None = None  # until the velocity is known that deskews it
        self.last_sweep: Sweep | None = None
        self.was_far = False
        self._waiting_pair: tuple[Keyframe, Keyframe] | None = None  # of which the spin is estimated next

    def begin(self, sweep: Sweep, time: float, twist: np.ndarray | None = None) -> bool:
        """Start with the first scan; False if it is not usable. twist: (6,) as expected, or None if not known."""
        if len(sweep) < self.registrations.full.config.min_points or self.scale.update(sweep) == 0.0:
            return False
        self.pose_time = time
        self.prediction.restart()
        if twist is not None:
            self.twist = twist
        elif sweep.times is not None:
            self._first_sweep = sweep
        self._add_keyframe(sweep.points)
        return True

    def target(self) -> PreparedCloud:
        """The local map as a target."""
        return self.map.target(self.scale.voxel_size, self.pose[:3, 3], self.scale.reach)

    def fine_target(self) -> PreparedCloud:
        """The local map as the target of the refinement."""
        return self.map.fine_target(self.scale.voxel_size, self.pose[:3, 3], self.scale.reach)

    def predictions(self, sweep: Sweep, time: float) -> list[Predicted]:
        """Predictions by a guess frame and by the velocity, the more reliable first."""
        self._deskew_first_sweep(sweep, time)
        is_mean = sweep.times is None
        predicted = self.prediction.by_velocity(self.pose, self.twist, time - self.pose_time, is_mean)
        target = self.target()
        distances = [mean_distance(sweep, item, target) for item in predicted]
        best = int(np.argmin(distances))
        return self.prediction.with_guess(self.pose, replace(predicted[best], distance=distances[best]))

    def predictions_while_lost(self, sweep: Sweep, time: float, shares: tuple[float, ...] = SLOWER) -> list[Predicted]:
        """Predictions for a sensor that has had another share of its velocity since."""
        changed = self.by_changed_velocity(time, shares)
        return self.prediction.with_guess(self.pose, nearest_prediction(sweep, changed, self.target()))

    def by_changed_velocity(self, time: float, shares: tuple[float, ...]) -> list[Predicted]:
        """A prediction for each share of the last velocity."""
        return self.prediction.by_changed_velocity(self.pose, self.twist, time - self.pose_time, shares)

    def turning_prediction(self, sweep: Sweep, time: float) -> Iterator[Predicted]:
        """One more prediction where a turn brings the sweep nearer to the map than the velocity; computed when used."""
        turns = self.prediction.by_turning(self.pose, self.twist, time - self.pose_time)
        nearest = nearest_prediction(sweep, turns, self.target())
        if nearest is not turns[0]:
            yield nearest

    def track(
        self, sweep: Sweep, tried: Iterable[Attempt], deadline: float = np.inf
    ) -> tuple[RegistrationResult, np.ndarray]:
        """The first result that can be followed, else the first one of all, and the twist (6,) of the sweep there.

        deadline: of `time.perf_counter()`. Nearness to a prediction verifies only where the scan is tracked and the
        prediction is by a measured velocity.
        """
        near = self.registrations.tracking, self.registrations.wide
        first: tuple[RegistrationResult, np.ndarray] | None = None
        for predicted, registrations in tried:
            usual = self.usual if registrations[0] in near and self.elapsed is not None else None
            target, prepared_with = self.target(), (near[0].config, self.map.num_neighbors)
            tracked = track(sweep, predicted, target, registrations, usual, *prepared_with, deadline)
            if self.usual.can_follow(tracked[0]):
                return tracked
            first = first or tracked
            if clock.perf_counter() > deadline:
                break
        not_near = RegistrationResult(np.eye(4), "rejected", "the scan is not near its predicted pose")
        return first or (not_near, np.zeros(6))

    def is_tracked(self, time: float, usual_interval: float | None) -> bool:
        """Whether the last pose is so recent that nearness to the prediction counts in the verification."""
        longest = min(self._config.max_prediction, TRACKED_INTERVALS * (usual_interval or np.inf))
        return time - self.pose_time <= longest

    def follow(self, sweep: Sweep, time: float, found: Tracked, was_lost: bool = False) -> np.ndarray:
        """Continue with a scan that was found, refined on the local map: the motion (4, 4) since the last one used.

        The prediction counts where the scene does not constrain all directions, and where the scan was found on the
        last one alone, as less than half of it overlaps: that of `MotionFilter` without point times and a guess frame.
        """
        result, twist = found.result, found.twist
        is_predicted = result.status == WEAK or found.frame is not None
        elapsed, last_twist = time - self.pose_time, self.twist
        refined = refine_sweep(sweep.points, sweep.times, result.T_target_source, twist, self.fine_target())
        pose, own_twist = refined or (result.T_target_source, twist)
        is_filtered = sweep.times is None and self.elapsed is not None and elapsed > 0.0
        is_filtered = is_filtered and not (was_lost or self.prediction.has_guess)
        if is_filtered:
            pose = self._filter.add(pose, result.covariance, elapsed, is_predicted)
        elif is_predicted:
            factor = self.registrations.full.config.weak_variance_factor if result.status == WEAK else 1.0
            covariance = result.covariance / factor
            expected = found.predicted, last_twist, elapsed, sweep.scale
            pose, own_twist = combined_motion(pose, own_twist, covariance, *expected)
        motion = se3.invert(self.pose) @ pose
        was_known, self.elapsed = self.elapsed is not None, elapsed
        if elapsed > 0.0:
            self.twist = mean = se3.log(motion) / elapsed
            self._set_keyframe_twist(last_twist if was_known else None, mean, elapsed)
            if refined is not None and sweep.times is not None:
                self.twist = own_twist
                if was_known:
                    length, stamp = float(np.ptp(sweep.times)), time - sweep.middle
                    self.twist = self._sweep_velocity.corrected(own_twist, last_twist, mean, elapsed, length, stamp)
            elif is_filtered and (is_predicted or self._was_predicted):  # else two poses show it sooner
                self.twist = self._filter.twist
        else:
            self.twist, self.elapsed = np.zeros(6), None
        change = self.twist - last_twist if was_known and not was_lost else None
        if change is not None and sweep.times is None and self._is_free(result):
            change = np.r_[np.zeros(3), change[3:]]  # the velocity there is predicted: it would accelerate itself
        if not is_filtered:
            self._filter.restart(pose, self.twist)
        self._was_predicted = is_predicted
        self.prediction.measured(motion, sweep.scale, change, elapsed)
        frame, is_on_map = found.frame or self.map.newest, found.frame is None
        self._continue_from(sweep, time, pose, frame, result, is_on_map)
        self.was_far = found.is_far
        return motion

    def _is_free(self, result: RegistrationResult) -> bool:
        """Whether the scene does not constrain a direction."""
        return result.status == WEAK and result.degeneracy < self.registrations.full.config.min_information

    def estimate_spin(self, estimate: SpinEstimate, interval: float) -> None:
        """Of a sensor without point times, by the last two keyframes that another scan has followed.

        Once it is known all keyframes are deskewed: the points of the next scans have times. interval: seconds between
        scans. After a scan that took long itself the pair waits for the next one.
        """
        pair, last = self._waiting_pair, self._last_followed()
        self._waiting_pair = None
        if pair is None and last > 0 and self.keyframes[last - 1].segment == self.keyframes[last].segment:
            pair = self.keyframes[last - 1], self.keyframes[last]
            if self.was_far:
                self._waiting_pair, pair = pair, None
        if pair is not None:
            self._add_spin_pair(estimate, *pair, interval)

    def estimate_spin_by(
        self, estimate: SpinEstimate, sweep: Sweep, time: float, result: RegistrationResult, interval: float | None
    ) -> None:
        """The same by a scan that agrees little with the map, maybe as it is distorted. interval: None: not known."""
        elapsed, pose = time - self.pose_time, result.T_target_source
        if interval is None or self.elapsed is None or self._first_frame is not None or elapsed <= 0.0:
            return
        if result.overlap_source < MIN_OVERLAP:
            return
        mean = se3.log(se3.invert(self.pose) @ pose) / elapsed
        twist = mean + (mean - self.twist) * elapsed / (elapsed + self.elapsed)
        distorted = Keyframe(sweep.points, pose, self.covariance, twist)
        self._add_spin_pair(estimate, self.keyframes[self._last_followed()], distorted, interval)

    def _last_followed(self) -> int:
        """The last keyframe that another scan has followed: the motion after it is known."""
        return max(0, len(self.keyframes) - (2 if self._is_keyframe_last() else 1))

    def _add_spin_pair(self, estimate: SpinEstimate, first: Keyframe, second: Keyframe, interval: float) -> None:
        spin = estimate.add(first, second, self.scale.voxel_size, interval, self.registrations.full.config)
        if spin is None:
            return
        for index in range(len(self.keyframes)):
            self.keyframes[index].deskew(spin.times(self.keyframes[index].points))
        self.keyframes.release()
        newest = range(len(self.keyframes))[:-3:-1]  # older ones have the errors of distorted sweeps
        self.map.restart([self.keyframes[index] for index in newest])

    def relocate(
        self, sweep: Sweep, time: float, pose: np.ndarray, frame: Keyframe, result: RegistrationResult
    ) -> None:
        """Continue at a pose (4, 4) where the scan was found, beside a keyframe; the motion to it is not known."""
        self.twist, self.elapsed = np.zeros(6), None
        self.prediction.restart()
        self._continue_from(sweep, time, pose, frame, result, is_on_map=True)

    def _continue_from(
        self, sweep: Sweep, time: float, pose: np.ndarray, frame: Keyframe, result: RegistrationResult, is_on_map: bool
    ) -> None:
        T_frame_map = se3.invert(frame.T_map_sensor)
        covariance = se3.moved_covariance(T_frame_map, result.covariance)
        self.covariance = compose_covariance(frame.T_map_sensor, frame.covariance, T_frame_map @ pose, covariance)
        self.pose, self.pose_time, self.has_followed, self._first_sweep = pose, time, True, None
        self.last_sweep = sweep
        if is_on_map:
            self.usual.add(result)
        self._scans_since_keyframe += 1
        if not is_on_map or is_keyframe(self.map.newest, pose, result, self._keyframe_distance(sweep), self._config):
            self._add_keyframe(sweep.at_middle(self.twist))

    def _keyframe_distance(self, sweep: Sweep) -> float:
        """Metres between keyframes: fewer where they show little of the surfaces between their points."""
        nearer = self.map.is_sparse and self._scans_since_keyframe >= SPARSE_SCANS
        return (SPARSE_DISTANCE if nearer else 1.0) * self._config.keyframe_distance * sweep.scale

    def _set_keyframe_twist(self, last_mean: np.ndarray | None, mean: np.ndarray, elapsed: float) -> None:
        """The twist of the last scan, if it is a keyframe: between the mean ones before and after it.

        That of a first scan is extrapolated from the two mean ones after it.
        """
        if self._first_frame is not None and last_mean is not None:
            frame, first_elapsed = self._first_frame
            frame.twist = last_mean - (mean - last_mean) * first_elapsed / (first_elapsed + elapsed)
        self._first_frame = None
        if self._is_keyframe_last():
            frame = self.map.newest
            frame.twist = mean if last_mean is None else 0.5 * (last_mean + mean)
            self._first_frame = (frame, elapsed) if last_mean is None else None

    def _is_keyframe_last(self) -> bool:
        return self.map.newest.T_map_sensor is self.pose

    def _add_keyframe(self, points: np.ndarray) -> None:
        self._scans_since_keyframe = 0
        self.map.add(self.keyframes.add(points, self.pose, self.covariance, self.twist))

    def _deskew_first_sweep(self, sweep: Sweep, time: float) -> None:
        """Estimate the velocity of the first two sweeps, which nothing predicts, and deskew the first with it."""
        first, elapsed = self._first_sweep, time - self.pose_time
        if first is None or sweep.times is None or not 0.0 < elapsed <= self._config.max_prediction:
            return
        still = Predicted(np.eye(4), self.twist)
        guess = self.prediction.with_guess(np.eye(4), still)[0].pose
        found = estimate_initial_velocities(self.registrations, first, sweep, elapsed, self.scale.voxel_size, guess)
        if found is None:
            return
        twist_first, self.twist = found
        self.pose = se3.exp(first.middle * twist_first)  # odom is the sensor's frame at the first stamp
        self.keyframes.clear()
        self.map.restart([self.keyframes.add(first.at_middle(twist_first), self.pose, self.covariance, twist_first)])
