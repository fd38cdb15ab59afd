"""A trajectory from consecutive scans."""

import time as clock
from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.keyframes import Keyframes
from prnet_core.odometry.lost_search import Found, LostSearch, is_map_next, is_reachable
from prnet_core.odometry.lost_track import LostTrack
from prnet_core.odometry.near_tracking import track_near
from prnet_core.odometry.prediction import FASTER, Predicted
from prnet_core.odometry.scale import PreciseRange
from prnet_core.odometry.scan_time import allowed_time
from prnet_core.odometry.scan_tracker import Tracked, attempts, is_near_target, nearest_prediction, prepare_sweep
from prnet_core.odometry.segment import Segment
from prnet_core.odometry.spin import SpinEstimate
from prnet_core.odometry.stamps import IGNORED, RESET, StampFilter
from prnet_core.odometry.sweep import Sweep, make_sweep
from prnet_core.odometry.tracking import Registrations
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration import Registration, RegistrationResult

FIRST_VARIANCE = 1e-9
SCANS_FOR_ANOTHER_FIRST = 5
SCANS_FOR_ANOTHER_SCALE = 3  # lost
RELOCATED_KEYFRAMES = 5  # nearest keyframes that make the local map after a relocation
MAX_SCAN_POINTS = 40_000  # of a scan, about, that are registered: the voxel filter leaves a few thousand anyway


class ScanOdometry:
    """Registers each scan to a local map: predict, deskew, register, refine the sweep's motion, update the map.

    A scan with point times is registered at the median of its times, and its pose brought to its stamp with the sweep's
    own velocity; times that the driver of a spinning LiDAR does not give are estimated. Keyframes and local map are in
    the map's frame, the published pose is in odom: see `OdometryUpdate`.
    """

    def __init__(self, registration: Registration, config: OdometryConfig | None = None):
        self.registration = registration
        self.config = config or OdometryConfig()
        self._registrations = Registrations(registration)
        self._lost_search = LostSearch(self._registrations)
        self._lost_track = LostTrack(self._registrations, self.config)
        self._map_id = -1
        self.reset()

    @property
    def keyframes(self) -> Keyframes:
        """The keyframes of the local map, and those that a lost scan is searched on."""
        return self._segment.keyframes

    def reset(self) -> None:
        """Return to the initial state: the next scan is the first."""
        self._stamps = StampFilter(self.config.reset_jump)
        self._precision = PreciseRange()
        self._spin = SpinEstimate()
        self._restart()

    def _restart(self) -> None:
        self._segment = Segment(self._registrations, self.config, np.eye(6) * FIRST_VARIANCE)
        self._T_map_odom = np.eye(4)
        self._map_id += 1
        self._found()

    def _found(self) -> None:
        """Leave the lost state."""
        self._lost_scans, self._num_searches = 0, 0
        self._lost_track.stop()
        self.keyframes.release()

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
        self._segment.prediction.add_guess(predicted_motion)
        if verdict == IGNORED:
            return self._answer("ignored", reason)
        if verdict == RESET:
            self._restart()
        interval = self._stamps.usual_interval
        sweep = make_sweep(points, point_times, self.registration.config, interval, self.config.deskew)
        self._sweep = sweep = self._spin.timed(sweep)
        sweep = sweep.within(self._precision.limit(sweep)).limited(MAX_SCAN_POINTS)
        if len(self.keyframes) == 0:
            return self._start(sweep, *(("reset", reason) if verdict == RESET else ("first", "first scan")))
        deadlines = [began + allowed_time(self.config, interval, is_lost) for is_lost in (self._lost_scans > 0, True)]
        update = self._add(sweep, *deadlines)
        if sweep.times is None and self.config.deskew and interval and not self._lost_scans:
            self._segment.estimate_spin(self._spin, interval)
        if update.status != "weak":  # a near wall may fill a narrow view for some scans
            # for the next scan: another voxel size means another map, see `prepare_next`
            self._segment.scale.update(sweep, self._lost_scans >= SCANS_FOR_ANOTHER_SCALE)
        return self._give_up(sweep, update)

    def prepare_next(self) -> None:
        """Prepare the local map for the next scan, which otherwise waits for it. Optional: no result depends on it."""
        if len(self.keyframes) and len(target := self._segment.target()):
            _ = target.sample, self._segment.fine_target()

    def _start(self, sweep: Sweep, status: str, reason: str) -> OdometryUpdate:
        if not self._segment.begin(sweep, self._stamp + sweep.middle):
            return self._answer("rejected", f"the first scan has {len(sweep)} usable points")
        return self._answer(status, reason)

    def _give_up(self, sweep: Sweep, update: OdometryUpdate) -> OdometryUpdate:
        """After many lost scans: continue with them if they were tracked; start again if no scan was used before."""
        has_followed = self._segment.has_followed
        wanted = (self.config.new_map_after or np.inf) if has_followed else SCANS_FOR_ANOTHER_FIRST
        if self._lost_scans < wanted:
            return update
        if self._lost_track.can_continue(int(wanted) - 1):
            return self._continue_lost_track()
        is_usable = len(sweep) >= self.registration.config.min_points
        if has_followed or not is_usable or self.registration.voxel_size_for(sweep.points) == 0.0:
            return update
        reason = f"none of {self._lost_scans} scans fits the first one"
        self._restart()
        return self._start(sweep, "first", reason)

    def _continue_lost_track(self) -> OdometryUpdate:
        """Continue with the scans that were tracked while lost, in their local map; older keyframes remain to be found.

        odom continues: only the step from the last tracked scan to them is predicted.
        """
        track, T_map_first, lost = self._lost_track.segment, self._lost_track.T_map_first, self._lost_scans
        if track is None:
            raise RuntimeError("nothing was tracked while lost")
        motion = se3.invert(self._segment.pose) @ T_map_first @ track.pose
        T_first_map = se3.invert(T_map_first)
        track.keyframes.add_earlier(self.keyframes, T_first_map)
        self._segment, self._T_map_odom = track, T_first_map @ self._T_map_odom
        self._map_id += 1
        self._found()
        return self._answer("accepted", f"{lost} scans were lost, a new local map continues with the last ones", motion)

    def _add(self, sweep: Sweep, deadline: float, last_deadline: float) -> OdometryUpdate:
        """deadline, last_deadline: of `time.perf_counter()`, and of the last attempt before the scan counts as lost."""
        segment, time = self._segment, self._stamp + sweep.middle
        is_lost = self._lost_scans > 0
        predictions = self._predictions_while_lost(sweep, time) if is_lost else segment.predictions(sweep, time)
        first, near = predictions[0], predictions
        if is_lost:  # a single fast registration, since a search follows
            target = segment.target()
            near = [p for p in predictions[-1:] if not self._is_search_due() and is_near_target(sweep, p, target)]
            tried = attempts(near, (self._registrations.relocation,))
            found = Tracked(*segment.track(sweep, tried, deadline), first.pose)
        else:
            is_tracked = segment.is_tracked(time, self._stamps.usual_interval)
            found = track_near(segment, sweep, time, near, is_tracked, deadline, last_deadline)
        result, twist = found.result, found.twist
        if sweep.times is None and self.config.deskew and not is_lost and result.status != "accepted":
            segment.estimate_spin_by(self._spin, sweep, time, result, self._stamps.usual_interval)
            sweep = self._spin.timed(sweep)
            if sweep.times is not None and not segment.usual.can_follow(result):
                return self._add(sweep, deadline, last_deadline)
        if segment.usual.can_follow(result) or found.frame is not None:
            if is_lost and not self._is_reachable(result.T_target_source, predictions[-1].pose, time, sweep):
                return self._relocate(sweep, time, first.pose, Found(result.T_target_source, result, None))
            return self._follow(sweep, time, found)
        if not near:
            result, twist = replace(result, T_target_source=first.pose), first.twist
        return self._search(sweep, time, twist, first.pose, result, deadline)

    def _predictions_while_lost(self, sweep: Sweep, time: float) -> list[Predicted]:
        """Pose where odom continues if the scan is found elsewhere, and for an attempt the one that fits the map best.

        The first is from the track of the lost scans or, if there is none, from velocities up to the last one.
        """
        segment = self._segment
        expected = segment.predictions_while_lost(sweep, time)
        self._lost_track.add(sweep, time, Predicted(expected[0].pose, segment.twist), segment.covariance)
        continued = self._lost_track.predicted or expected[0]
        faster = segment.by_changed_velocity(time, FASTER)
        nearest = nearest_prediction(sweep, [continued, *expected, *faster], segment.target())
        return [continued] if nearest is continued else [continued, nearest]

    def _follow(self, sweep: Sweep, time: float, found: Tracked) -> OdometryUpdate:
        """Continue with a scan that was found on the local map, or on the last scan."""
        return self._used(sweep, found.result, self._segment.follow(sweep, time, found, self._lost_scans > 0))

    def _used(
        self, sweep: Sweep, result: RegistrationResult, motion: np.ndarray, is_relocated: bool = False
    ) -> OdometryUpdate:
        self._found()
        update = self._answer(result.status, result.reason, motion, result, is_relocated=is_relocated)
        return replace(update, T_odom_sensor=update.T_odom_sensor @ se3.exp(-sweep.middle * self._segment.twist))

    def _search(
        self,
        sweep: Sweep,
        time: float,
        twist: np.ndarray,
        predicted: np.ndarray,
        failure: RegistrationResult,
        deadline: float,
    ) -> OdometryUpdate:
        """Search for a scan that is not near the prediction: one target for each scan, the local map or a keyframe."""
        segment, found = self._segment, self._search_targets(sweep, time, twist, predicted, deadline)
        if found is None:
            if self._lost_scans == 0:
                self._lost_track.add(sweep, time, Predicted(predicted, twist), segment.covariance)
            self._lost_scans += 1
            reason = failure.reason
            if clock.perf_counter() > deadline:
                reason = f"not registered within its time: {reason}"
            return self._answer("rejected", reason, registration=failure, pose=predicted)
        if found.frame is not None:
            segment.map.restart(self.keyframes.around(found.frame)[:RELOCATED_KEYFRAMES])
        elif time - segment.pose_time <= self.config.max_prediction and (
            not self._lost_scans or self._is_reachable(found.T_map_sensor, predicted, time, sweep)
        ):
            return self._follow(sweep, time, Tracked(found.result, twist, predicted))
        return self._relocate(sweep, time, predicted, found)

    def _is_search_due(self) -> bool:
        """Whether to search: while lost scans are tracked, searches and attempts near the prediction alternate."""
        return self._lost_track.num_followed > 0 and self._lost_scans % 2 == 0

    def _search_targets(
        self, sweep: Sweep, time: float, twist: np.ndarray, predicted: np.ndarray, deadline: float
    ) -> Found | None:
        """One search, on the local map or on a keyframe."""
        segment, config = self._segment, self.registration.config
        lost, number = self._lost_scans, self._num_searches
        if self._lost_track.num_followed and not self._is_search_due():
            return None
        source = prepare_sweep(sweep, twist, segment.scale.voxel_size, self._registrations.relocation.config)
        if len(source) < config.min_points or clock.perf_counter() > deadline:
            return None
        self._num_searches += 1
        if not is_map_next(number):
            return self._lost_search.search_frame(source, sweep.points, self.keyframes, number, deadline)
        is_tracked = segment.is_tracked(time, self._stamps.usual_interval)
        guess = predicted if is_tracked and not lost else None
        found = self._lost_search.search_map(source, segment.target(), guess, lost, deadline)
        if found is None or lost or not is_tracked or segment.elapsed is None:
            return found
        # just tracked: a symmetric place fits when rotated by 180 degrees too
        return found if self._is_reachable(found.T_map_sensor, predicted, time, sweep) else None

    def _is_reachable(self, pose: np.ndarray, predicted: np.ndarray, time: float, sweep: Sweep) -> bool:
        return is_reachable(pose, predicted, self._segment.twist, time - self._segment.pose_time, sweep.scale)

    def _relocate(self, sweep: Sweep, time: float, predicted: np.ndarray, found: Found) -> OdometryUpdate:
        """Continue after a relocation: odom from the prediction; the correction T_map_odom takes the jump."""
        segment, frame = self._segment, found.frame or self._segment.map.newest
        motion = se3.invert(segment.pose) @ predicted
        self._T_map_odom = found.T_map_sensor @ se3.invert(predicted) @ self._T_map_odom
        segment.relocate(sweep, time, found.T_map_sensor, frame, found.result)
        return self._used(sweep, found.result, motion, is_relocated=True)

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
        notes: tuple[str, ...] = (self._sweep.note,) if self._sweep is not None and self._sweep.note else ()
        if not self._segment.prediction.is_guess_trusted:
            notes += ("the guess frame disagrees with the scans",)
        return OdometryUpdate(
            status=status,
            reason=reason,
            stamp=self._stamp,
            T_odom_sensor=T_odom_map @ (self._segment.pose if pose is None else pose),
            T_previous_sensor=np.eye(4) if motion is None else motion,
            twist=self._segment.twist.copy(),
            covariance=se3.rotated_covariance(T_odom_map[:3, :3], self._segment.covariance),
            elapsed=self._segment.elapsed,
            registration=registration,
            T_map_odom=self._T_map_odom.copy(),
            is_relocated=is_relocated,
            map_id=self._map_id,
            sweep=self._sweep,
            notes=notes,
        )
