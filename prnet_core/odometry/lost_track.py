"""The sensor's motion while it is lost: scans are tracked in a local map of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.sweep import Sweep

if TYPE_CHECKING:
    from prnet_core.odometry.scan_odometry import ScanOdometry

MIN_FOLLOWED = 5  # scans in a row that are tracked before the trajectory continues with them
MAX_PAUSE = 6  # scans without a track, after one more that were not tracked


class LostTrack:
    """Odometry beside the lost one: it begins with a lost scan, at its predicted pose, and again where it fails.

    So the scans since the last tracked one are related by measurement but for the steps at which the track began.
    make_odometry: of an odometry that makes no searches. predicted: of the last scan, by the track, in the map of the
    lost odometry; None where it was not tracked.
    """

    def __init__(self, make_odometry: Callable[[], ScanOdometry]):
        self._make_odometry = make_odometry
        self.stop()

    def stop(self) -> None:
        """The odometry is not lost any more."""
        self.odometry: ScanOdometry | None = None
        self.T_map_first = np.eye(4)  # its first scan at the middle of its sweep, in the map of the lost odometry
        self.num_followed = 0
        self.predicted: Predicted | None = None
        self._num_failed, self._pause = 0, 0

    def add(self, sweep: Sweep, stamp: float, expected: Predicted, covariance: np.ndarray) -> None:
        """Track a lost scan, or begin with it.

        expected: where the scan is without the track. covariance: (6, 6) of the last tracked pose.
        """
        self.predicted = None
        if self._pause > 0:
            self._pause -= 1
            return
        if self.odometry is not None:
            update = self.odometry.register_lost(sweep, stamp)
            if update.status == "accepted":
                self.predicted = Predicted(self.T_map_first @ self.odometry.pose, self.odometry.twist)
                self.num_followed, self._num_failed = self.num_followed + 1, 0
                return
            if self.num_followed:
                expected = Predicted(self.T_map_first @ update.T_odom_sensor, self.odometry.twist)
            self.odometry, self.num_followed = None, 0
            self._num_failed += 1
            self._pause = min(self._num_failed - 1, MAX_PAUSE)
            if self._pause:
                return
        odometry = self._make_odometry()
        if odometry.begin_lost(sweep, stamp, expected.twist, covariance):
            self.odometry, self.T_map_first = odometry, expected.pose

    def can_continue(self, wanted: int) -> bool:
        """Whether at least `wanted` scans in a row, or MIN_FOLLOWED, were tracked."""
        return self.odometry is not None and self.num_followed >= min(wanted, MIN_FOLLOWED)
