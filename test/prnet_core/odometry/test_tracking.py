"""Acceptance near a prediction, and the registrations of scans that are further from it."""

from dataclasses import replace

import numpy as np
import pytest
from odometry_scenes import scan

from prnet_core.geometry import se3
from prnet_core.odometry.tracking import Registrations, Tracking
from prnet_core.registration import Registration, RegistrationResult

USUAL = RegistrationResult(
    np.eye(4),
    "accepted",
    "",
    overlap_source=0.9,
    overlap_target=0.4,
    violation=0.01,
    agreement=0.5,
    covariance=np.eye(6) * 1e-4,
    degeneracy=0.05,
)


@pytest.fixture
def tracking():
    tracking = Tracking(doubtful_overlap=0.6, min_information=0.005)
    tracking.add(USUAL)
    return tracking


def test_what_fits_near_the_prediction_is_accepted(tracking):
    rejected = replace(USUAL, status="rejected", violation=0.06)
    assert tracking.accept_near(rejected, np.eye(4), 5.0).status == "accepted"
    assert tracking.accept_near(replace(rejected, agreement=0.2), np.eye(4), 5.0) == replace(rejected, agreement=0.2)


def test_what_overlaps_much_less_than_usual_has_come_into_view_only_without_violation(tracking):
    small = replace(USUAL, status="rejected", overlap_source=0.5, violation=0.02)
    assert tracking.accept_near(small, np.eye(4), 5.0).status == "accepted"
    assert tracking.accept_near(replace(small, violation=0.06), np.eye(4), 5.0).status == "rejected"


def test_what_slides_along_a_free_direction_is_weak(tracking):
    """A narrow view of a wall: little of the map agrees, as little is seen, and the wall does not show a slide."""
    slid = se3.make_transform(np.eye(3), [0.0, 1.0, 0.0])
    view = {"overlap_target": 0.05, "agreement": 0.2, "degeneracy": 0.0}
    rejected = replace(USUAL, T_target_source=slid, status="rejected", **view)
    found = tracking.accept_near(rejected, np.eye(4), 5.0)
    assert found.status == "weak" and tracking.can_follow(found)
    np.testing.assert_array_equal(found.covariance, rejected.covariance)
    assert tracking.accept_near(rejected, np.eye(4), 1.0).status == "rejected"


@pytest.mark.parametrize(("degrees", "is_found"), [(35.0, True), (45.5, True), (60.0, False)])
def test_a_turn_is_found_from_its_prediction_alone(degrees, is_found):
    """Nearer to the prediction than 45 degrees nothing is compared; from far off a room rotated by 90 is rejected."""
    registrations = Registrations(Registration(None))
    (first, first_pose), (second, second_pose) = scan(0), scan(1)
    voxel = registrations.full.voxel_size_for(first)
    target, source = (registrations.full.prepare(points, voxel, np.zeros(3)) for points in (first, second))
    motion = se3.invert(first_pose) @ second_pose
    guess = motion @ se3.exp(np.array([0.0, 0.0, 0.0, 0.0, 0.0, np.radians(degrees)]))
    result = registrations.wide.register_prepared(source, target, guess, hypotheses="guess")
    assert result.usable == is_found, result.reason
    distance, angle = se3.difference(motion, result.T_target_source)
    assert (distance < 0.05 and angle < 0.02) == is_found
    assert ("alternatives" in result.timings) == (is_found and degrees > 45.0)
