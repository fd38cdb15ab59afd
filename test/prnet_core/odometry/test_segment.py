"""How the track of a segment continues with a scan that was found."""

from dataclasses import replace

import numpy as np
import pytest
from odometry_scenes import scan

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.scan_tracker import Tracked
from prnet_core.odometry.segment import Segment
from prnet_core.odometry.sweep import make_sweep
from prnet_core.odometry.tracking import Registrations
from prnet_core.registration import Registration, RegistrationConfig, RegistrationResult

CERTAIN, FREE_ALONG_X = np.eye(6) * 1e-8, np.diag([1e2, 1e-8, 1e-8, 1e-10, 1e-10, 1e-10])
FOUND = RegistrationResult(np.eye(4), "accepted", "", overlap_source=0.9, covariance=CERTAIN)


def follow(status, covariance, x=0.5, expected=0.3, on_last_scan=False):
    """A segment after scans at x = 0, 0.1 and 0.2 m, and one found at `x` and expected at `expected`."""
    segment = Segment(Registrations(Registration(None)), OdometryConfig(), np.eye(6) * 1e-9)
    points, _ = scan(0)
    sweep = make_sweep(points, None, RegistrationConfig(), None)
    segment.begin(sweep, 0.0)
    for i in (1, 2):
        segment.follow(sweep, 0.1 * i, Tracked(replace(FOUND, T_target_source=at(0.1 * i)), np.zeros(6), at(0.1 * i)))
    result = replace(FOUND, T_target_source=at(x), status=status, covariance=covariance)
    frame = Keyframe(points, segment.pose, CERTAIN, segment.twist) if on_last_scan else None
    segment.follow(sweep, 0.3, Tracked(result, np.zeros(6), at(expected), frame))
    return segment


def at(x):
    return se3.make_transform(np.eye(3), [x, 0.0, 0.0])


def predicted(segment):
    return segment.prediction.by_velocity(segment.pose, segment.twist, 0.1, is_mean=True)


def test_a_velocity_that_changes_is_predicted_with_its_acceleration():
    constant, accelerated = predicted(follow("accepted", CERTAIN))
    assert constant.pose[0, 3] == pytest.approx(0.8, abs=0.02) and accelerated.pose[0, 3] > 0.9


def test_in_a_free_direction_an_acceleration_that_was_predicted_ends():
    constant, accelerated = predicted(follow("weak", FREE_ALONG_X, x=0.2, expected=0.5))
    assert constant.pose[0, 3] == pytest.approx(0.8, abs=0.02)
    assert accelerated.pose[0, 3] == pytest.approx(constant.pose[0, 3])


@pytest.mark.parametrize(("covariance", "x"), [(CERTAIN, 0.5), (FREE_ALONG_X, 0.3)])
def test_on_the_last_scan_alone_the_prediction_counts_by_the_covariance(covariance, x):
    segment = follow("accepted", covariance, on_last_scan=True)
    assert segment.pose[0, 3] == pytest.approx(x, abs=0.02)
