"""A trajectory from consecutive scans."""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.keyframes import Keyframe, Keyframes, is_keyframe
from prnet_core.odometry.local_map import LocalMap
from prnet_core.odometry.lost_search import Found, LostSearch, is_map_next, is_reachable
from prnet_core.odometry.lost_track import LostTrack
from prnet_core.odometry.prediction import Predicted, Prediction
from prnet_core.odometry.scale import PreciseRange, SceneScale
from prnet_core.odometry.scan_tracker import ScanTracker, is_near_target, nearest_prediction
from prnet_core.odometry.stamps import IGNORED, RESET, StampFilter
from prnet_core.odometry.start_motion import estimate_start_motion
from prnet_core.odometry.sweep import Sweep, make_sweep
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration import Registration, RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

FIRST_VARIANCE = 1e-9
SCANS_FOR_ANOTHER_FIRST = 5
MIN_SCAN_TIME = 0.2  # seconds: scans that arrive faster than this leave time for a search all the same,
MIN_SEARCH_TIME = 1.0  # and while lost, on a slow or busy machine, for one that takes so long
TRACKED_INTERVALS = 3.5  # usual intervals between scans after which the prediction no longer counts in the verification
RELOCATED_KEYFRAMES = 5  # nearest keyframes that make the local map after a relocation
MAX_SCAN_POINTS = 40_000  # of a scan, about, that are registered: the voxel filter leaves a few thousand anyway
DEFAULT_SCAN_TIME = 0.5  # before the rate is known
SCANS_FOR_ANOTHER_SCALE = 3  # lost


class ScanOdometry:
    """Registers each scan to a local map: predict, deskew, register, refine the sweep's motion, update the map.

    A scan with point times is registered at the median of its times, and its pose brought to its stamp with the sweep's
    own velocity. Keyframes and local map are in the map's frame, the published pose is in odom: see `OdometryUpdate`.
    """

    def __init__(self, registration: Registration, config: OdometryConfig | None = None):
        self.registration = registration
        self._lost_search = LostSearch(registration)
        self.config = config or OdometryConfig()
        self._lost_track = LostTrack(lambda: ScanOdometry(self.registration, self.config))
        self._is_lost_track = False
        self._map_id = -1
        self.reset()

    @property
    def pose(self) -> np.ndarray:
        """T_map_sensor (4, 4) of the last scan that was used, at the middle of its sweep."""
        return self._pose

    @property
    def twist(self) -> np.ndarray:
        """(6,) of the sensor there, m/s and rad/s, in its frame."""
        return self._twist

    def reset(self) -> None:
        """Forget everything; the next scan is the first."""
        self._stamps = StampFilter(self.config.reset_jump)
        self._precision = PreciseRange()
        self._restart()

    def _restart(self) -> None:
        self._start_map()
        self._prediction = Prediction(self.config.max_prediction)
        self._pose_time = 0.0
        self._elapsed: float | None = None
        self._pose = np.eye(4)  # T_map_sensor of the last scan that was used, at the middle of its sweep
        self._T_map_odom = np.eye(4)
        self._twist = np.zeros(6)
        self._covariance = np.eye(6) * FIRST_VARIANCE

    def _start_map(self) -> None:
        config = self.config
        self.keyframes = Keyframes(config.remembered_keyframes, config.keyframe_points, config.map_keyframes)
        self._map = LocalMap(self.registration.config, config.map_keyframes)
        self._scale = SceneScale(self.registration)
        self._tracker = ScanTracker(self.registration, config.doubtful_overlap)
        self._map_id += 1
        self._has_followed = False
        self._first_sweep: Sweep | None = None  # until the velocity is known that deskews it
        self._found()

    def _found(self) -> None:
        """The odometry is not lost, or not any more."""
        self._lost_scans, self._num_searches = 0, 0
        self._lost_track.stop()

    def register_scan(
        self,
        points: np.ndarray,
        stamp: float,
        point_times: np.ndarray | None = None,
        predicted_motion: np.ndarray | None = None,
    ) -> OdometryUpdate:
        """Add a scan: points (N, 3) in metres in the sensor's frame, stamp in seconds.

        point_times: (N,) seconds relative to the stamp, or None. predicted_motion: (4, 4), T_last_now of the sensor
        since the last call by another source (wheels, IMU), or None; it is not used where it disagrees with the
        scans. The pose is that at the stamp. Raises ValueError when the stamp is not finite or the times are not one a
        point.
        """
        began = clock.perf_counter()
        verdict, reason = self._stamps.check(stamp)
        self._stamp, self._sweep = stamp, None
        self._prediction.add_guess(predicted_motion)
        if verdict == IGNORED:
            return self._answer("ignored", reason)
        if verdict == RESET:
            self._restart()
        interval = self._stamps.usual_interval
        sweep = make_sweep(points, point_times, self.registration.config, interval, self.config.deskew)
        self._sweep, sweep = sweep, sweep.within(self._precision.limit(sweep)).limited(MAX_SCAN_POINTS)
        if len(self.keyframes) == 0:
            return self._start(sweep, *(("reset", reason) if verdict == RESET else ("first", "first scan")))
        least = MIN_SEARCH_TIME if self._lost_scans else MIN_SCAN_TIME
        allowed = self.config.max_scan_time or max(interval or DEFAULT_SCAN_TIME, least)
        update = self._add(sweep, began + allowed)
        self._scale.update(
            sweep, self._lost_scans >= SCANS_FOR_ANOTHER_SCALE
        )  # for the next scan: another voxel size means another map, see `prepare_next`
        wanted = (self.config.new_map_after or np.inf) if self._has_followed else SCANS_FOR_ANOTHER_FIRST
        if self._lost_scans < wanted:
            return update
        if self._lost_track.can_continue(int(wanted) - 1):
            return self._continue_lost_track()
        if not self._has_followed and self._can_start_again(sweep):
            reason = f"none of {self._lost_scans} scans fits the first one"
            self._restart()
            return self._start(sweep, "first", reason)
        return update

    def begin_lost(self, sweep: Sweep, stamp: float, twist: np.ndarray, covariance: np.ndarray) -> bool:
        """Begin as the track of an odometry that is lost, at the middle of a sweep: no searches. False: no usable scan.

        twist: (6,) the expected one. covariance: (6, 6) of the pose.
        """
        self._is_lost_track, self._twist, self._covariance = True, twist, covariance
        self._stamp, self._sweep = stamp, sweep
        self._start(sweep, "first", "")
        self._first_sweep = None
        return len(self.keyframes) > 0

    def register_lost(self, sweep: Sweep, stamp: float) -> OdometryUpdate:
        """Track a scan that another odometry has lost."""
        self._stamp, self._sweep = stamp, sweep
        update = self._add(sweep, np.inf)
        self._scale.update(sweep)
        return update

    def prepare_next(self) -> None:
        """Prepare the local map for the next scan, which otherwise waits for it. Optional: no result depends on it."""
        if len(self.keyframes) and len(target := self._target()):
            _ = target.sample

    def _target(self) -> PreparedCloud:
        """The local map as a target."""
        return self._map.target(self._scale.voxel_size, self._pose[:3, 3], self._scale.reach)

    def _can_start_again(self, sweep: Sweep) -> bool:
        is_usable = len(sweep) >= self.registration.config.min_points
        return is_usable and self.registration.voxel_size_for(sweep.points) > 0.0

    def _continue_lost_track(self) -> OdometryUpdate:
        """Continue with the scans that were tracked while lost, in their local map; older keyframes remain to be found.

        odom continues: only the step from the last tracked scan to them is predicted.
        """
        track, T_map_first, lost = self._lost_track.odometry, self._lost_track.T_map_first, self._lost_scans
        if track is None:
            raise RuntimeError("nothing was tracked while lost")
        T_first_map = se3.invert(T_map_first)
        motion = se3.invert(self._pose) @ T_map_first @ track.pose
        track.keyframes.add_earlier(self.keyframes, T_first_map)
        self.keyframes, self._map, self._scale, self._tracker = (
            track.keyframes,
            track._map,
            track._scale,
            track._tracker,
        )
        self._prediction, self._elapsed = track._prediction, track._elapsed
        self._pose, self._pose_time, self._twist = track.pose, track._pose_time, track.twist
        self._covariance = track._covariance
        self._T_map_odom = T_first_map @ self._T_map_odom
        self._map_id += 1
        self._has_followed, self._first_sweep = True, None
        self._found()
        return self._answer("accepted", f"{lost} scans were lost, a new local map continues with the last ones", motion)

    def _start(self, sweep: Sweep, status: str, reason: str) -> OdometryUpdate:
        needed = self.registration.config.min_points
        if len(sweep) < needed or self._scale.update(sweep) == 0.0:
            return self._answer("rejected", f"the first scan has {len(sweep)} usable points")
        self._pose_time = self._stamp + sweep.middle
        self._prediction.restart()
        self._add_keyframe(sweep.points)
        self._first_sweep = None if sweep.times is None else sweep
        return self._answer(status, reason)

    def _add(self, sweep: Sweep, deadline: float) -> OdometryUpdate:
        time = self._stamp + sweep.middle
        elapsed = time - self._pose_time
        self._deskew_first_sweep(sweep, elapsed)
        is_tracking = self._lost_scans == 0 and elapsed <= self._longest_tracked_gap()
        predictions = self._predictions(sweep, elapsed)
        first = predictions[0]
        twist = first.twist
        result = RegistrationResult(first.pose, "rejected", "the scan is not near its predicted pose")
        for predicted in predictions:
            if self._lost_scans and (self._is_search_due() or not is_near_target(sweep, predicted, self._target())):
                continue
            twist = predicted.twist
            result, own_twist = self._tracker.track(
                sweep,
                predicted,
                self._target(),
                deadline,
                is_tracking,
                self._elapsed is not None,
                is_lost=self._lost_scans > 0 or self._is_lost_track,
            )
            if self._tracker.can_follow(result):
                if self._lost_scans and not self._is_reachable(result.T_target_source, first.pose, time, sweep):
                    return self._relocate(sweep, time, first.pose, Found(result.T_target_source, result, None))
                return self._follow(sweep, time, own_twist, result)
            if clock.perf_counter() > deadline:
                break
        return self._search(sweep, time, twist, first.pose, result, deadline)

    def _predictions(self, sweep: Sweep, elapsed: float) -> list[Predicted]:
        """Of the sensor's pose at a sweep's middle, the more trusted first: by a guess frame, and by the velocity.

        While lost, the twist is not known any more: zero.
        """
        if self._lost_scans:
            return self._predictions_while_lost(sweep, elapsed)
        predicted = self._prediction.by_velocity(self._pose, self._twist, elapsed, is_mean=sweep.times is None)
        nearest = nearest_prediction(sweep, predicted, self._target())
        return self._prediction.with_guess(self._pose, nearest)

    def _predictions_while_lost(self, sweep: Sweep, elapsed: float) -> list[Predicted]:
        """By the track of the lost scans, by velocities about the last one, or by a guess frame."""
        changed = self._prediction.by_changed_velocity(self._pose, self._twist, elapsed)
        nearest = nearest_prediction(sweep, changed, self._target())
        expected = self._prediction.with_guess(self._pose, nearest)
        self._lost_track.add(sweep, self._stamp, Predicted(expected[0].pose, self._twist), self._covariance)
        tracked = self._lost_track.predicted
        return expected if tracked is None else [nearest_prediction(sweep, [tracked, *expected], self._target())]

    def _deskew_first_sweep(self, sweep: Sweep, elapsed: float) -> None:
        """Estimate the velocity of the first two sweeps, which nothing predicts, and deskew the first with it."""
        first = self._first_sweep
        if first is None or sweep.times is None or not 0.0 < elapsed <= self.config.max_prediction:
            return
        still = Predicted(np.eye(4), self._twist)
        guess = self._prediction.with_guess(np.eye(4), still)[0].pose
        found = estimate_start_motion(self.registration.config, first, sweep, elapsed, self._scale.voxel_size, guess)
        if found is None:
            return
        twist_first, self._twist = found
        self._pose = se3.exp(first.middle * twist_first)  # odom is the sensor's frame at the first stamp
        self.keyframes.clear()
        self._map.restart([self.keyframes.add(first.at_middle(twist_first), self._pose, self._covariance)])

    def _longest_tracked_gap(self) -> float:
        """Seconds since the last pose within which the prediction counts in the verification."""
        return min(self.config.max_prediction, TRACKED_INTERVALS * (self._stamps.usual_interval or np.inf))

    def _follow(self, sweep: Sweep, time: float, twist: np.ndarray, result: RegistrationResult) -> OdometryUpdate:
        """The scan was found on the local map: refine it, and continue."""
        elapsed, last_twist = time - self._pose_time, self._twist
        refined = self._tracker.refine(sweep, twist, result.T_target_source, self._target())
        pose = result.T_target_source if refined is None else refined[0]
        motion = se3.invert(self._pose) @ pose
        was_known, self._elapsed = self._elapsed is not None, elapsed
        if elapsed > 0.0:
            has_own_twist = refined is not None and sweep.times is not None
            self._twist = refined[1] if has_own_twist else se3.log(motion) / elapsed
        else:
            self._twist, self._elapsed = np.zeros(6), None
        change = self._twist - last_twist if was_known and not self._lost_scans else None
        self._prediction.measured(motion, sweep.scale, change, elapsed)
        return self._continue_from(sweep, time, pose, self._map.newest, result, motion)

    def _continue_from(
        self,
        sweep: Sweep,
        time: float,
        pose: np.ndarray,
        frame: Keyframe,
        result: RegistrationResult,
        motion: np.ndarray,
        is_relocated: bool = False,
    ) -> OdometryUpdate:
        T_frame_map = se3.invert(frame.T_map_sensor)
        to_frame = se3.adjoint(T_frame_map)
        covariance = to_frame @ result.covariance @ to_frame.T
        self._covariance = compose_covariance(frame.T_map_sensor, frame.covariance, T_frame_map @ pose, covariance)
        self._pose, self._pose_time, self._has_followed, self._first_sweep = pose, time, True, None
        self._found()
        self._tracker.add(result)
        if is_keyframe(self._map.newest, pose, result, sweep.scale, self.config):
            self._add_keyframe(sweep.at_middle(self._twist))
        update = self._answer(result.status, result.reason, motion, result, is_relocated=is_relocated)
        return replace(update, T_odom_sensor=update.T_odom_sensor @ se3.exp(-sweep.middle * self._twist))

    def _add_keyframe(self, points: np.ndarray) -> None:
        self._map.add(self.keyframes.add(points, self._pose, self._covariance))

    def _search(
        self,
        sweep: Sweep,
        time: float,
        twist: np.ndarray,
        predicted: np.ndarray,
        failure: RegistrationResult,
        deadline: float,
    ) -> OdometryUpdate:
        """Not near the prediction: one search, on the local map or on a keyframe; another target with each scan."""
        found = None if self._is_lost_track else self._search_targets(sweep, time, twist, predicted, deadline)
        if found is None:
            if self._lost_scans == 0 and not self._is_lost_track:
                self._lost_track.add(sweep, self._stamp, Predicted(predicted, twist), self._covariance)
            self._lost_scans += 1
            reason = failure.reason
            if clock.perf_counter() > deadline:
                reason = f"not registered within its time: {reason}"
            return self._answer("rejected", reason, registration=failure, pose=predicted)
        if found.frame is not None:
            self._map.restart(self.keyframes.around(found.frame)[:RELOCATED_KEYFRAMES])
        elif time - self._pose_time <= self.config.max_prediction and (
            not self._lost_scans or self._is_reachable(found.T_map_sensor, predicted, time, sweep)
        ):
            return self._follow(sweep, time, twist, found.result)
        return self._relocate(sweep, time, predicted, found)

    def _is_search_due(self) -> bool:
        """While the motion of lost scans is tracked, a search and an attempt near the prediction take turns."""
        return self._lost_track.num_followed > 0 and self._lost_scans % 2 == 0

    def _search_targets(
        self, sweep: Sweep, time: float, twist: np.ndarray, predicted: np.ndarray, deadline: float
    ) -> Found | None:
        """One search, on the local map or on a keyframe."""
        lost, number = self._lost_scans, self._num_searches
        if self._lost_track.num_followed and not self._is_search_due():
            return None
        source = prepare_cloud(
            sweep.at_middle(twist), self._scale.voxel_size, self.registration.config, np.zeros((1, 3))
        )
        if len(source) < self.registration.config.min_points or clock.perf_counter() > deadline:
            return None
        self._num_searches += 1
        if not is_map_next(number):
            return self._lost_search.search_frame(source, sweep.points, self.keyframes, number, deadline)
        is_tracked = time - self._pose_time <= self._longest_tracked_gap()
        found = self._lost_search.search_map(source, self._target(), predicted if is_tracked else None, lost, deadline)
        if found is None or lost or not is_tracked or self._elapsed is None:
            return found
        # just tracked: a symmetric place fits when rotated by 180 degrees too
        return found if self._is_reachable(found.T_map_sensor, predicted, time, sweep) else None

    def _is_reachable(self, pose: np.ndarray, predicted: np.ndarray, time: float, sweep: Sweep) -> bool:
        return is_reachable(pose, predicted, self._twist, time - self._pose_time, sweep.scale)

    def _relocate(self, sweep: Sweep, time: float, predicted: np.ndarray, found: Found) -> OdometryUpdate:
        """Found again after being lost: odom continues from the prediction, the map's correction takes the jump."""
        motion = se3.invert(self._pose) @ predicted
        self._T_map_odom = found.T_map_sensor @ se3.invert(predicted) @ self._T_map_odom
        self._twist, self._elapsed = np.zeros(6), None
        self._prediction.restart()
        frame = found.frame or self._map.newest
        return self._continue_from(sweep, time, found.T_map_sensor, frame, found.result, motion, is_relocated=True)

    def _answer(
        self,
        status: str,
        reason: str,
        motion: np.ndarray | None = None,
        registration: RegistrationResult | None = None,
        pose: np.ndarray | None = None,
        is_relocated: bool = False,
    ) -> OdometryUpdate:
        T_odom_map = se3.invert(self._T_map_odom)
        rotation = np.kron(np.eye(2), T_odom_map[:3, :3])
        notes = (self._sweep.note,) if self._sweep is not None and self._sweep.note else ()
        if not self._prediction.is_guess_trusted:
            notes += ("the guess frame disagrees with the scans",)
        return OdometryUpdate(
            status=status,
            reason=reason,
            stamp=self._stamp,
            T_odom_sensor=T_odom_map @ (self._pose if pose is None else pose),
            T_previous_sensor=np.eye(4) if motion is None else motion,
            twist=self._twist.copy(),
            covariance=rotation @ self._covariance @ rotation.T,
            elapsed=self._elapsed,
            registration=registration,
            T_map_odom=self._T_map_odom.copy(),
            is_relocated=is_relocated,
            map_id=self._map_id,
            sweep=self._sweep,
            notes=notes,
        )
