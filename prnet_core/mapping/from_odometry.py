"""A map built during odometry: the poses of the odometry's updates are the constraints between keyframes."""

import numpy as np

from prnet_core.mapping.builder import MapBuilder
from prnet_core.odometry import OdometryUpdate
from prnet_core.odometry.offline import USED

SCAN_SIGMAS = np.array([0.005, 0.005, 0.005, 0.001, 0.001, 0.001])
"""Standard deviations of one registration, metres and radians, where its own covariance is smaller than that."""


class OdometryMapper:
    """Feeds a MapBuilder with scans that odometry has registered."""

    def __init__(self, builder: MapBuilder) -> None:
        self.builder = builder
        self._covariance = np.zeros((6, 6))
        self._last_pose = np.eye(4)

    def add_update(self, update: OdometryUpdate) -> bool:
        """Add the scan of an update; True when it becomes a keyframe. Rejected scans are left out.

        Poses are those in the map of the odometry's keyframes, where a relocation is a measured transform.
        """
        if update.status not in USED:
            return False
        covariance = None if update.registration is None else update.registration.covariance
        return self.add_scan(update.points, update.T_map_odom @ update.T_odom_sensor, update.stamp, covariance)

    def add_scan(
        self, points: np.ndarray, T_odom_sensor: np.ndarray, stamp: float, covariance: np.ndarray | None
    ) -> bool:
        """Add a scan (N, 3), metres, in the sensor's frame; True when it becomes a keyframe.

        T_odom_sensor: (4, 4) by odometry. covariance: (6, 6) of its registration, or None for the first scan.
        """
        self._add_uncertainty(T_odom_sensor, np.zeros((6, 6)) if covariance is None else covariance)
        kept = self.builder.add_scan(points, T_odom_sensor, stamp, self._covariance)
        if kept:
            self._covariance = np.zeros((6, 6))
        self._last_pose = T_odom_sensor
        return kept

    def state(self) -> dict[str, np.ndarray]:
        """The values that a mapper needs to continue, besides the map itself."""
        return {**self.builder.state(), "covariance": self._covariance, "last_pose": self._last_pose}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.builder.restore(state)
        self._covariance, self._last_pose = state["covariance"], state["last_pose"]

    def _add_uncertainty(self, T_odom_sensor: np.ndarray, registered: np.ndarray) -> None:
        """Add the uncertainty of one scan to that of the pose relative to the last keyframe."""
        scan = np.diag(SCAN_SIGMAS**2) + np.minimum(np.abs(registered), 1.0) * np.eye(6)
        moved = float(np.linalg.norm(self._last_pose[:3, 3] - T_odom_sensor[:3, 3]))
        self._covariance += scan if moved > 0.0 else 0.1 * scan
