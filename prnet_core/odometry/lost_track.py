"""The sensor's motion while it is lost: scans are tracked in a local map of their own."""

from itertools import chain

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.prediction import FASTER, MAX_ROTATION_ERROR, MAX_TRANSLATION_ERROR, SLOWER, Predicted
from prnet_core.odometry.scan_tracker import Tracked, attempts, is_near_target
from prnet_core.odometry.segment import Segment
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.tracking import Registrations

MIN_FOLLOWED = 10  # scans in a row that are tracked before the trajectory continues with them: as many may be found
MAX_PAUSE = 6  # scans without a track, after one more that were not tracked


class LostTrack:
    """A segment beside the lost one: it begins with a lost scan, at its predicted pose, and again where it fails.

    So the scans since the last tracked one are related by measurement but for the steps at which the track began.
    predicted: of the last scan, by the track, in the map of the lost segment; None where it was not tracked.
    """

    def __init__(self, registrations: Registrations, config: OdometryConfig):
        self._registrations, self._config = registrations, config
        self.stop()

    def stop(self) -> None:
        """End the track: the odometry is not lost any more."""
        self.segment: Segment | None = None
        self.T_map_first = np.eye(4)  # its first scan at the middle of its sweep, in the map of the lost segment
        self.num_followed = 0
        self.predicted: Predicted | None = None
        self._num_failed, self._pause = 0, 0

    def add(self, sweep: Sweep, time: float, expected: Predicted, covariance: np.ndarray) -> None:
        """Track a lost scan, or begin with it.

        time: of the sweep's middle. expected: where the scan is without the track. covariance: (6, 6) of the last
        tracked pose.
        """
        self.predicted = None
        if self._pause > 0:
            self._pause -= 1
            return
        if self.segment is not None:
            followed = self._follow(self.segment, sweep, time)
            if self.predicted is not None:
                return
            if self.num_followed:
                expected = followed
            self.segment, self.num_followed = None, 0
            self._num_failed += 1
            self._pause = min(self._num_failed - 1, MAX_PAUSE)
            if self._pause:
                return
        covariance = _with_predicted_step(covariance, expected.pose, sweep.scale)
        segment = Segment(self._registrations, self._config, covariance)
        if segment.begin(sweep, time, expected.twist):
            self.segment, self.T_map_first = segment, expected.pose

    def _follow(self, segment: Segment, sweep: Sweep, time: float) -> Predicted:
        """The expected pose of the scan in the map of the lost segment; sets `predicted` if it is found there."""
        segment.prediction.add_guess(None)
        if self.num_followed:
            predictions = segment.predictions(sweep, time)
        else:
            changed = segment.predictions_while_lost(sweep, time, SLOWER + FASTER)
            predictions = [*changed, Predicted(segment.pose, segment.twist)]
        is_tracked = segment.is_tracked(time, None)
        registration = self._registrations.tracking if is_tracked else self._registrations.relocation
        tried = (
            predicted
            for predicted in chain(predictions, segment.turning_prediction(sweep, time))
            if is_near_target(sweep, predicted, segment.target())
        )
        result, twist = segment.track(sweep, attempts(tried, (registration, registration)))
        if result.usable:
            segment.follow(sweep, time, Tracked(result, twist, predictions[0].pose))
            segment.scale.update(sweep)
            self.num_followed, self._num_failed = self.num_followed + 1, 0
            self.predicted = Predicted(self.T_map_first @ segment.pose, segment.twist)
        return Predicted(self.T_map_first @ predictions[0].pose, segment.twist)

    def can_continue(self, wanted: int) -> bool:
        """Whether at least `wanted` scans in a row, or MIN_FOLLOWED, were tracked."""
        return self.segment is not None and self.num_followed >= min(wanted, MIN_FOLLOWED)


def _with_predicted_step(covariance: np.ndarray, pose: np.ndarray, scale: float) -> np.ndarray:
    """Covariance (6, 6) of a pose (4, 4) that was predicted, about its own axes: by as much as a prediction may be off.

    covariance: of the last tracked pose, about the map's axes. scale: the scan's median range.
    """
    deviation = np.r_[np.full(3, MAX_TRANSLATION_ERROR * scale), np.full(3, MAX_ROTATION_ERROR)]
    return se3.rotated_covariance(pose[:3, :3].T, covariance) + np.diag(deviation**2)
