"""A trajectory from consecutive scans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import KeyFrame, KeyFrames
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration import Registration, RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud, clean_points, usable_points

FIRST_VARIANCE = 1e-9
SCANS_FOR_A_NEW_START = 5


class ScanOdometry:
    """Chains registrations: deskew, predict, register to the target, judge, update the target.

    A scan with point times is taken for one at the median of its times, and its pose brought to its stamp at the end.
    Deskewed to the stamp instead, an error of the velocity would move the whole scan, and come back as an error of the
    next velocity; where stamps are those of the sweep's start it never dies out.
    """

    def __init__(self, registration: Registration, config: OdometryConfig | None = None):
        self.registration = registration
        self.config = config or OdometryConfig()
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next scan is the first."""
        self._keyframes = self._no_keyframes()
        self._voxel_size = 0.0
        self._stamp: float | None = None
        self._pose_time = 0.0
        self._elapsed: float | None = None
        self._has_followed = False
        self._lost_scans = 0
        self._usual_overlap = 0.0
        self._pose = np.eye(4)
        self._twist = np.zeros(6)
        self._covariance = np.eye(6) * FIRST_VARIANCE

    def _no_keyframes(self) -> KeyFrames:
        joined = self.config.map_keyframes if self.config.target == "map" else 1
        return KeyFrames(joined, self.config.remembered_keyframes, self.config.map_points)

    def register_scan(
        self, points: np.ndarray, stamp: float, point_times: np.ndarray | None = None
    ) -> OdometryUpdate:
        """Add a scan: points (N, 3) in metres in the sensor's frame, stamp in seconds.

        point_times: (N,) seconds relative to the stamp, or None. The pose is that at the stamp. Raises ValueError
        when the stamp is not finite or the times are not one a point.
        """
        if not np.isfinite(stamp):
            raise ValueError(f"a stamp must be finite, not {stamp}")
        status, reason = "first", "first scan"
        if self._stamp is not None and stamp <= self._stamp:
            back = self._stamp - stamp
            if back < self.config.reset_jump:
                how_far = f"{back:.6f} s behind" if back else "the same as"
                answer = self._answer("ignored", f"the stamp is {how_far} the last one")
                return replace(answer, stamp=stamp)
            self.reset()
            status, reason = "reset", f"time went back by {back:.3f} s"
        points, middle = self._clean(points, point_times, stamp)
        self._stamp = stamp
        if len(self._keyframes) == 0:
            return self._start(points, stamp + middle, status, reason)
        update = self._add(points, stamp + middle)
        if self._is_first_scan_useless(points):
            self._keyframes = self._no_keyframes()
            reason = f"none of {self._lost_scans} scans fits the first one"
            return self._start(points, stamp + middle, status, reason)
        return replace(update, T_odom_sensor=update.T_odom_sensor @ se3.exp(-middle * update.twist))

    def _clean(self, points: np.ndarray, times: np.ndarray | None, stamp: float) -> tuple[np.ndarray, float]:
        """The usable points (M, 3) as seen at one time, and that time in seconds after the stamp."""
        if times is None or not self.config.deskew:
            return clean_points(points, self.registration.config), 0.0
        points, times = np.asarray(points), np.asarray(times, dtype=np.float64)
        if times.shape != (len(points),):
            raise ValueError(f"{len(points)} points need times of that many, not {times.shape}")
        usable = usable_points(points, self.registration.config) & np.isfinite(times)
        points, times = points[usable, :3].astype(np.float64, copy=False), times[usable]
        middle = float(np.median(times)) if len(times) else 0.0
        twist = np.zeros(6) if self._lost_scans else self._twist_at(stamp + middle)
        return deskew(points, times - middle, twist), middle

    def _is_first_scan_useless(self, points: np.ndarray) -> bool:
        """Nothing was ever registered to it, as when the sensor was covered; these points may do better."""
        useless = not self._has_followed and self._lost_scans >= SCANS_FOR_A_NEW_START
        return useless and len(points) >= self.registration.config.min_points

    def _start(self, points: np.ndarray, time: float, status: str, reason: str) -> OdometryUpdate:
        needed = self.registration.config.min_points
        self._voxel_size = self.registration.voxel_size_for(points)
        if len(points) < needed or self._voxel_size == 0.0:
            return self._answer("rejected", f"the first scan has {len(points)} usable points")
        self._pose_time, self._lost_scans = time, 0
        self._keyframes.add(points, self._pose, self._covariance)
        return self._answer(status, reason)

    def _add(self, points: np.ndarray, time: float) -> OdometryUpdate:
        predicted = self._pose @ se3.exp(self._twist_at(time) * (time - self._pose_time))
        source = self.registration.prepare(points, self._voxel_size)
        result = self._register(source, self._keyframes.newest, predicted)
        if not result.usable or self._is_doubtful(result):
            return self._relocate(points, source, time, predicted, result)
        return self._follow(points, time, self._keyframes.newest, result)

    def _twist_at(self, time: float) -> np.ndarray:
        """The last velocity (6,), for as long as it is trusted; then that of standing still."""
        return self._twist if time - self._pose_time <= self.config.max_prediction else np.zeros(6)

    def _register(self, source: PreparedCloud, frame: KeyFrame, predicted: np.ndarray) -> RegistrationResult:
        target = self._keyframes.target(self.registration, self._voxel_size)
        return self.registration.register_prepared(
            source, target, se3.invert(frame.T_odom_sensor) @ predicted
        )

    def _is_doubtful(self, result: RegistrationResult) -> bool:
        """A weak result is no place to go on from when it is not where predicted, or suddenly much worse."""
        worse = result.overlap_source < self.config.doubtful_overlap * self._usual_overlap
        return result.status == "weak" and (result.hypothesis != "guess" or worse)

    def _follow(
        self, points: np.ndarray, time: float, frame: KeyFrame, result: RegistrationResult
    ) -> OdometryUpdate:
        pose = frame.T_odom_sensor @ result.T_target_source
        motion = se3.invert(self._pose) @ pose
        self._covariance = compose_covariance(
            frame.T_odom_sensor, frame.covariance, result.T_target_source, result.covariance
        )
        self._elapsed = time - self._pose_time
        if self._elapsed > 0.0:
            self._twist = se3.log(motion) / self._elapsed
        else:
            self._twist, self._elapsed = np.zeros(6), None
        self._pose, self._pose_time, self._lost_scans, self._has_followed = pose, time, 0, True
        if result.status == "accepted":
            self._usual_overlap += 0.2 * (result.overlap_source - self._usual_overlap)
        if self._is_keyframe(points, result):
            self._keyframes.add(points, pose, self._covariance)
        return self._answer(result.status, result.reason, motion, result)

    def _is_keyframe(self, points: np.ndarray, result: RegistrationResult) -> bool:
        """By overlap and distance; never from a weak result, which would spoil the target."""
        if self.config.target == "previous":
            return True
        if result.status != "accepted":
            return False
        moved = np.linalg.norm(result.T_target_source[:3, 3])
        reach = np.median(np.linalg.norm(points, axis=1))
        return (
            result.overlap_source < self.config.keyframe_overlap
            or result.confidence < self.config.keyframe_confidence
            or moved > self.config.keyframe_distance * reach
            or se3.rotation_angle(result.T_target_source[:3, :3]) > self.config.keyframe_angle
        )

    def _relocate(
        self,
        points: np.ndarray,
        source: PreparedCloud,
        time: float,
        predicted: np.ndarray,
        failure: RegistrationResult,
    ) -> OdometryUpdate:
        """Lost: try older key frames without a guess, others with each scan; when none fits, reject the scan."""
        for frame in self._frames_to_try(predicted[:3, 3]) if len(source) else []:
            target = self.registration.prepare(frame.points, self._voxel_size)
            result = self.registration.register_prepared(source, target)
            if result.status == "accepted":
                self._keyframes.restart_from(frame)
                self._pose_time = time  # no time for the jump from the last pose: it is no motion of the sensor
                return self._follow(points, time, frame, result)
        self._lost_scans += 1
        reason = (
            failure.reason
            if failure.status == "rejected"
            else f"doubtful after the scans before: {failure.reason}"
        )
        return self._answer("rejected", reason, registration=failure, pose=predicted)

    def _frames_to_try(self, near: np.ndarray) -> list[KeyFrame]:
        """The next older key frames in turn, those nearest to the predicted position (3,) first."""
        older, count = self._keyframes.older(near), self.config.relocation_attempts
        first = self._lost_scans * count % max(1, len(older))
        return (older[first:] + older[:first])[:count]

    def _answer(
        self,
        status: str,
        reason: str,
        motion: np.ndarray | None = None,
        registration: RegistrationResult | None = None,
        pose: np.ndarray | None = None,
    ) -> OdometryUpdate:
        return OdometryUpdate(
            status=status,
            reason=reason,
            stamp=self._stamp,
            T_odom_sensor=(self._pose if pose is None else pose).copy(),
            T_previous_sensor=np.eye(4) if motion is None else motion,
            twist=self._twist.copy(),
            covariance=self._covariance.copy(),
            elapsed=self._elapsed,
            registration=registration,
        )
