"""A map built beside the odometry: the poses of its updates are the constraints between keyframes."""

from __future__ import annotations

import numpy as np

from prnet_core.geometry import se3
from prnet_core.mapping.builder import MapBuilder
from prnet_core.odometry import OdometryUpdate
from prnet_core.odometry.offline import USED

SCAN_SIGMAS = np.array([0.005, 0.005, 0.005, 0.001, 0.001, 0.001])
"""Standard deviations of one registration, metres and radians, where its own covariance is smaller than that."""


class OdometryMapper:
    """Feeds a MapBuilder with the updates of a ScanOdometry."""

    def __init__(self, builder: MapBuilder) -> None:
        self.builder = builder
        self._covariance = np.zeros((6, 6))
        self._last_pose = np.eye(4)

    def add_update(self, update: OdometryUpdate) -> bool:
        """Take the answer to one scan; True when its scan becomes a keyframe. Rejected scans are left out."""
        if update.status not in USED:
            return False
        self._grow(update)
        kept = self.builder.add_scan(update.points, update.T_odom_sensor, update.stamp, self._covariance)
        if kept:
            self._covariance = np.zeros((6, 6))
        self._last_pose = update.T_odom_sensor
        return kept

    def _grow(self, update: OdometryUpdate) -> None:
        """Add the uncertainty of one scan to that of the motion since the last keyframe."""
        registered = np.zeros((6, 6)) if update.registration is None else update.registration.covariance
        scan = np.diag(SCAN_SIGMAS**2) + np.minimum(np.abs(registered), 1.0) * np.eye(6)
        moved = float(np.linalg.norm(se3.invert(self._last_pose)[:3, 3] - se3.invert(update.T_odom_sensor)[:3, 3]))
        self._covariance += scan if moved > 0.0 else 0.1 * scan
