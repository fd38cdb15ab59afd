"""A trajectory from consecutive scans."""

from __future__ import annotations

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import KeyFrame, KeyFrames
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration import Registration, RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud, clean_points

FIRST_VARIANCE = 1e-9


class ScanOdometry:
    """Chains registrations: deskew, predict, register to the target, judge, update the target."""

    def __init__(self, registration: Registration, config: OdometryConfig | None = None):
        self.registration = registration
        self.config = config or OdometryConfig()
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next scan is the first."""
        joined = self.config.map_keyframes if self.config.target == "map" else 1
        self._keyframes = KeyFrames(joined, self.config.remembered_keyframes, self.config.map_points)
        self._voxel_size = 0.0
        self._stamp: float | None = None
        self._pose_stamp = 0.0
        self._lost_scans = 0
        self._usual_overlap = 0.0
        self._pose = np.eye(4)
        self._twist = np.zeros(6)
        self._covariance = np.eye(6) * FIRST_VARIANCE

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
                return self._answer("ignored", f"the stamp is {back:.6f} s behind the last one", stamp)
            self.reset()
            status, reason = "reset", f"time went back by {back:.3f} s"
        points = self._clean(points, point_times)
        self._stamp = stamp
        if len(self._keyframes) == 0:
            return self._start(points, stamp, status, reason)

        predicted = self._predict(stamp)
        source = self.registration.prepare(points, self._voxel_size)
        result = self._register(source, self._keyframes.newest, predicted)
        if not result.usable or self._is_doubtful(result):
            return self._relocate(points, source, stamp, predicted, result)
        return self._follow(points, stamp, self._keyframes.newest, result)

    def _clean(self, points: np.ndarray, times: np.ndarray | None) -> np.ndarray:
        points = np.asarray(points, dtype=np.float64)
        if times is None or not self.config.deskew or points.ndim != 2:
            return clean_points(points, self.registration.config)
        return clean_points(deskew(points[:, :3], np.asarray(times), self._twist), self.registration.config)

    def _start(self, points: np.ndarray, stamp: float, status: str, reason: str) -> OdometryUpdate:
        needed = self.registration.config.min_points
        self._voxel_size = self.registration.voxel_size_for(points)
        if len(points) < needed or self._voxel_size == 0.0:
            return self._answer("rejected", f"the first scan has {len(points)} usable points", stamp)
        self._pose_stamp = stamp
        self._keyframes.add(points, self._pose, self._covariance)
        return self._answer(status, reason, stamp)

    def _predict(self, stamp: float) -> np.ndarray:
        """Pose at the stamp by constant velocity from the last pose."""
        elapsed = stamp - self._pose_stamp
        if elapsed > self.config.max_prediction:
            return self._pose
        return self._pose @ se3.exp(self._twist * elapsed)

    def _register(self, source: PreparedCloud, frame: KeyFrame, predicted: np.ndarray) -> RegistrationResult:
        target = self._keyframes.target(self.registration, self._voxel_size)
        return self.registration.register_prepared(
            source, target, se3.invert(frame.T_odom_sensor) @ predicted
        )

    def _is_doubtful(self, result: RegistrationResult) -> bool:
        """A weak result is no place to go on from when it is not where predicted, or suddenly much worse."""
        worse = result.overlap_source < self.config.doubtful_overlap * self._usual_overlap
        return result.status == "weak" and (result.start != "guess" or worse)

    def _follow(
        self, points: np.ndarray, stamp: float, frame: KeyFrame, result: RegistrationResult
    ) -> OdometryUpdate:
        pose = frame.T_odom_sensor @ result.T_target_source
        motion = se3.invert(self._pose) @ pose
        self._covariance = compose_covariance(
            frame.T_odom_sensor, frame.covariance, result.T_target_source, result.covariance
        )
        self._twist = se3.log(motion) / (stamp - self._pose_stamp)
        self._pose, self._pose_stamp, self._lost_scans = pose, stamp, 0
        if result.status == "accepted":
            self._usual_overlap += 0.2 * (result.overlap_source - self._usual_overlap)
        if self._is_keyframe(points, result):
            self._keyframes.add(points, pose, self._covariance)
        return self._answer(result.status, result.reason, stamp, motion, result)

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
        stamp: float,
        predicted: np.ndarray,
        failure: RegistrationResult,
    ) -> OdometryUpdate:
        """Lost: try older key frames without a guess, others with each scan; when none fits, reject the scan."""
        for frame in self._frames_to_try(predicted[:3, 3]) if len(source) else []:
            target = self.registration.prepare(frame.points, self._voxel_size)
            result = self.registration.register_prepared(source, target)
            if result.status == "accepted":
                self._keyframes.restart_from(frame)
                return self._follow(points, stamp, frame, result)
        self._lost_scans += 1
        reason = (
            failure.reason
            if failure.status == "rejected"
            else f"doubtful after the scans before: {failure.reason}"
        )
        return self._answer("rejected", reason, stamp, registration=failure, pose=predicted)

    def _frames_to_try(self, near: np.ndarray) -> list[KeyFrame]:
        """The next older key frames in turn, those nearest to the predicted position (3,) first."""
        older, count = self._keyframes.older(near), self.config.relocation_attempts
        first = self._lost_scans * count % max(1, len(older))
        return (older[first:] + older[:first])[:count]

    def _answer(
        self,
        status: str,
        reason: str,
        stamp: float,
        motion: np.ndarray | None = None,
        registration: RegistrationResult | None = None,
        pose: np.ndarray | None = None,
    ) -> OdometryUpdate:
        return OdometryUpdate(
            status=status,
            reason=reason,
            stamp=stamp,
            T_odom_sensor=(self._pose if pose is None else pose).copy(),
            T_previous_sensor=np.eye(4) if motion is None else motion,
            twist=self._twist.copy(),
            covariance=self._covariance.copy(),
            registration=registration,
        )
