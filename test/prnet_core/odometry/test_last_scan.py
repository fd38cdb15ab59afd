"""A scan registered to the scan before it alone."""

import numpy as np
import pytest
from odometry_scenes import scan

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.last_scan import track_on_last_scan
from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.sweep import make_sweep
from prnet_core.odometry.tracking import Registrations, Tracking
from prnet_core.registration import Registration, RegistrationConfig

COVARIANCE = np.eye(6) * 1e-4


def track(predictions, T_map_last):
    """Scan 1 of the hall on scan 0, which is at T_map_last (4, 4) of the map."""
    last, sweep = (make_sweep(scan(index)[0], None, RegistrationConfig(), None) for index in (0, 1))
    frame = Keyframe(last.points, T_map_last, COVARIANCE, np.zeros(6))
    registrations, usual = Registrations(Registration(None)), Tracking(doubtful_overlap=0.6, min_information=0.005)
    return track_on_last_scan(registrations, usual, last, frame, 0.2, sweep, predictions, np.inf)


def test_the_prediction_nearest_to_the_last_scan_is_refined():
    T_map_last = se3.exp(np.array([3.0, -1.0, 0.2, 0.1, 0.0, 2.0]))
    true = T_map_last @ scan(1)[1]
    offsets = (np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.3]), np.array([0.05, 0.0, 0.0, 0.0, 0.0, -0.02]))
    predictions = [Predicted(true @ se3.exp(offset), np.zeros(6)) for offset in offsets]
    found = track(predictions, T_map_last)
    distance, angle = se3.difference(found.result.T_target_source, true)
    assert found.result.usable and found.result.reason.startswith("on the last scan alone")
    assert distance < 0.02 and angle < 0.005
    np.testing.assert_allclose(found.predicted, predictions[1].pose)
    in_own_frame = track([Predicted(scan(1)[1] @ se3.exp(offsets[1]), np.zeros(6))], np.eye(4)).result.covariance
    moved = se3.moved_covariance(T_map_last, in_own_frame)
    np.testing.assert_allclose(found.result.covariance, moved, rtol=0.2, atol=1e-7)


@pytest.mark.parametrize("angle", [0.6, 1.2, np.pi])
def test_a_hall_that_is_rotated_is_not_used(angle):
    away = scan(1)[1] @ se3.exp(np.array([0.0, 0.0, 0.0, 0.0, 0.0, angle]))
    assert track([Predicted(away, np.zeros(6))], np.eye(4)) is None
