"""A trajectory from consecutive scans."""

from __future__ import annotations

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration import Registration
from prnet_core.registration.preprocess import clean_points


class ScanOdometry:
    """Chains registrations: predict, register to the key frame, judge, update."""

    def __init__(self, registration: Registration, config: OdometryConfig | None = None):
        self.registration = registration
        self.config = config or OdometryConfig()
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next scan is the first."""
        self._stamp: float | None = None
        self._pose = np.eye(4)
        self._twist = np.zeros(6)
        self._covariance = np.eye(6) * 1e-9
        self._keyframe: np.ndarray | None = None
        self._keyframe_pose = np.eye(4)
        self._keyframe_covariance = self._covariance

    def register_scan(
        self, points: np.ndarray, stamp: float, point_times: np.ndarray | None = None
    ) -> OdometryUpdate:
        """Add a scan: points (N, 3) metres in the sensor's frame, stamp in seconds, point_times (N,) seconds
        relative to the stamp or None. Raises ValueError when the stamp is not finite."""
        if not np.isfinite(stamp):
            raise ValueError(f"a stamp must be finite, not {stamp}")
        if self._stamp is not None and stamp <= self._stamp:
            if stamp < self._stamp - 1.0:
                gap = self._stamp - stamp
                self.reset()
                return self._first(points, stamp, "reset", f"time went back by {gap:.3f} s")
            return self._update("ignored", f"stamp {stamp:.6f} is not newer than {self._stamp:.6f}", stamp)
        if self._keyframe is None:
            return self._first(points, stamp, "first", "first scan")

        elapsed = stamp - self._stamp
        predicted = self._pose @ se3.exp(self._twist * elapsed)
        guess = se3.invert(self._keyframe_pose) @ predicted
        result = self.registration.register(points, self._keyframe, guess)
        if not result.usable:
            return self._update("rejected", result.reason, stamp, registration=result, pose=predicted)
        pose = self._keyframe_pose @ result.T_target_source
        motion = se3.invert(self._pose) @ pose
        rotate = se3.adjoint(se3.make_transform(self._keyframe_pose[:3, :3], np.zeros(3)))
        self._covariance = self._keyframe_covariance + rotate @ result.covariance @ rotate.T
        self._twist = se3.log(motion) / elapsed
        self._pose, self._stamp = pose, stamp
        if result.overlap_source < self.config.keyframe_overlap:
            self._keyframe, self._keyframe_pose = points, pose
            self._keyframe_covariance = self._covariance
        return self._update(result.status, result.reason, stamp, motion=motion, registration=result)

    def _first(self, points: np.ndarray, stamp: float, status: str, reason: str) -> OdometryUpdate:
        usable = len(clean_points(points, self.registration.config))
        if usable < self.registration.config.min_points:
            return self._update("rejected", f"the first scan has {usable} usable points", stamp)
        self._keyframe, self._stamp = points, stamp
        return self._update(status, reason, stamp)

    def _update(self, status, reason, stamp, motion=None, registration=None, pose=None) -> OdometryUpdate:
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
