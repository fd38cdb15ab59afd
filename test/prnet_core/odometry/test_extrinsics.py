"""What the sensor does, seen from the base that carries it."""

import numpy as np
import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra.numpy import arrays  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402
from prnet_core.odometry import OdometryUpdate  # noqa: E402
from prnet_core.odometry.extrinsics import motion_of_base  # noqa: E402
from prnet_core.registration import RegistrationResult  # noqa: E402

twists = arrays(np.float64, 6, elements=st.floats(-3.0, 3.0))
quarter = se3.rotation_exp(np.array([0, 0, np.pi / 2]))


def update(T_odom_sensor, twist=None, covariance=None, registration=None, elapsed=None):
    twist = np.zeros(6) if twist is None else twist
    covariance = np.eye(6) if covariance is None else covariance
    return OdometryUpdate("accepted", "", 1.0, T_odom_sensor, np.eye(4), twist, covariance, elapsed, registration)


@given(twists, twists)
def test_base_pose_is_the_sensor_pose_moved_along_the_extrinsics(motion, extrinsics):
    T_odom_sensor, T_base_sensor = se3.exp(motion), se3.exp(extrinsics)
    T_odom_base = motion_of_base(update(T_odom_sensor), T_base_sensor).T_odom_base
    np.testing.assert_allclose(T_odom_base @ T_base_sensor, T_base_sensor @ T_odom_sensor, atol=1e-9)


def test_turning_on_the_spot_with_a_sensor_one_metre_ahead():
    """The sensor looks to the left, 1 m before the axis of the turn; it moves sideways, the base does not."""
    T_base_sensor = se3.make_transform(quarter, [1.0, 0.0, 0.0])
    turn = se3.exp(np.array([0, 0, 0, 0, 0, 0.3]))
    T_odom_sensor = se3.invert(T_base_sensor) @ turn @ T_base_sensor
    motion = motion_of_base(update(T_odom_sensor, se3.log(T_odom_sensor) / 0.1), T_base_sensor)
    np.testing.assert_allclose(motion.T_odom_base, turn, atol=1e-12)
    np.testing.assert_allclose(motion.twist, [0, 0, 0, 0, 0, 3.0], atol=1e-9)


@given(twists, twists)
def test_covariance_of_the_base_follows_a_small_error_of_the_sensor(motion, extrinsics):
    """Every column of the covariance's root is an error; what it does to the base is computed by moving it."""
    T_odom_sensor, T_base_sensor = se3.exp(motion), se3.exp(extrinsics)
    root = np.random.default_rng(0).normal(size=(6, 6)) * 1e-6
    reference = T_base_sensor @ T_odom_sensor @ se3.invert(T_base_sensor)
    base_errors = []
    for error in root.T:
        rotation = se3.rotation_exp(error[3:]) @ T_odom_sensor[:3, :3]
        moved = se3.make_transform(rotation, T_odom_sensor[:3, 3] + error[:3])
        base = T_base_sensor @ moved @ se3.invert(T_base_sensor)
        rotation_error = se3.rotation_log(base[:3, :3] @ reference[:3, :3].T)
        base_errors.append(np.concatenate([base[:3, 3] - reference[:3, 3], rotation_error]))
    expected = np.array(base_errors).T @ np.array(base_errors)
    covariance = motion_of_base(update(T_odom_sensor, covariance=root @ root.T), T_base_sensor).covariance
    np.testing.assert_allclose(covariance, expected, atol=1e-4 * np.abs(expected).max())


def test_twist_covariance_is_that_of_two_registrations_over_the_time_between():
    turn = se3.make_transform(quarter, np.zeros(3))
    variances = np.array([1.0, 4.0, 9.0, 0.1, 0.2, 0.3])
    result = RegistrationResult(turn, "accepted", "", covariance=np.diag(variances))
    motion = motion_of_base(update(np.eye(4), registration=result, elapsed=0.5), np.eye(4))
    expected = np.diag([4.0, 1.0, 9.0, 0.2, 0.1, 0.3]) * 8.0  # x and y change places in the rotated sensor
    np.testing.assert_allclose(motion.twist_covariance, expected, atol=1e-12)


def test_twist_covariance_of_the_first_scan_is_large_and_finite():
    np.testing.assert_array_equal(motion_of_base(update(np.eye(4)), np.eye(4)).twist_covariance, np.eye(6) * 1e6)
