"""Transforms become messages, and messages transforms."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import PoseWithCovarianceStamped, Transform  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra.numpy import arrays  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402
from prnet_core.io.pointcloud2 import read_cloud  # noqa: E402
from prnet_core.odometry.extrinsics import BaseMotion  # noqa: E402
from prnet_ros.node.frames import pose_message, quaternion_of, transform_matrix, transform_message  # noqa: E402
from prnet_ros.node.messages import (  # noqa: E402
    cloud_message,
    initial_pose_of,
    lost_message,
    odometry_message,
    tf_message,
    usable_covariance,
)

STAMP = Time(sec=12, nanosec=34)
twists = arrays(np.float64, 6, elements=st.floats(-3.0, 3.0))


@given(twists)
def test_transform_message_and_back(twist):
    matrix = se3.exp(twist)
    np.testing.assert_allclose(transform_matrix(transform_message(matrix)), matrix, atol=1e-12)
    quaternion = quaternion_of(matrix[:3, :3])
    assert np.linalg.norm(quaternion) == pytest.approx(1.0, abs=1e-12) and quaternion[3] >= 0.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_half_turns(axis):
    rotation = -np.eye(3)
    rotation[axis, axis] = 1.0
    matrix = se3.make_transform(rotation, np.zeros(3))
    np.testing.assert_allclose(np.abs(quaternion_of(rotation)), np.eye(4)[axis], atol=1e-12)
    np.testing.assert_allclose(transform_matrix(transform_message(matrix)), matrix, atol=1e-12)


def test_transforms_that_are_none():
    message = Transform()
    message.rotation.w = 0.0
    with pytest.raises(ValueError):
        transform_matrix(message)
    for value in (float("nan"), float("inf"), 1e300):
        message.rotation.w, message.translation.x = 1.0, value
        with pytest.raises(ValueError):
            transform_matrix(message)


@given(twists, st.booleans())
def test_inverted_tf_says_the_same(twist, invert):
    T_odom_base = se3.exp(twist)
    message = tf_message(T_odom_base, STAMP, "odom", "base", invert)
    assert (message.header.frame_id, message.child_frame_id) == (("base", "odom") if invert else ("odom", "base"))
    assert message.header.stamp == STAMP
    matrix = transform_matrix(message.transform)
    np.testing.assert_allclose(se3.invert(matrix) if invert else matrix, T_odom_base, atol=1e-12)


def test_registered_cloud_reads_back():
    points = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    np.testing.assert_array_equal(read_cloud(cloud_message(points, STAMP, "odom")).points, points)
    assert cloud_message(np.empty((0, 3)), STAMP, "odom").width == 0


@given(arrays(np.float64, (6, 6), elements=st.floats()))
def test_any_covariance_becomes_usable(covariance):
    usable = usable_covariance(covariance)
    assert np.isfinite(usable).all()
    np.testing.assert_array_equal(usable, usable.T)
    assert (np.diag(usable) >= 1e-9).all() and (np.diag(usable) <= 1e6).all()


@given(arrays(np.float64, (6, 6), elements=st.floats(-10, 10)))
def test_a_positive_definite_covariance_stays_so(root):
    covariance = root @ root.T + 1e-3 * np.eye(6)
    np.testing.assert_allclose(usable_covariance(covariance), covariance, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(usable_covariance(covariance * 1e6)).min() > 0.0
    assert np.all(np.diag(usable_covariance(np.zeros((6, 6)))) == 1e-9)


def test_an_unknown_covariance_is_large_and_finite():
    motion = BaseMotion(np.eye(4), np.eye(6), np.zeros(6), np.full((6, 6), np.inf))
    message = odometry_message(motion, STAMP, "odom", "base")
    assert message.header.frame_id == "odom" and message.child_frame_id == "base"
    np.testing.assert_array_equal(np.reshape(message.twist.covariance, (6, 6)), np.eye(6) * 1e6)
    assert message.pose.pose == pose_message(np.eye(4))


def test_a_lost_message_is_a_pose_without_information():
    T_odom_base = se3.exp(np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]))
    message = lost_message(T_odom_base, STAMP, "odom", "base")
    assert message.pose.pose == pose_message(T_odom_base)
    np.testing.assert_array_equal(np.reshape(message.pose.covariance, (6, 6)), np.eye(6) * 1e6)


@pytest.mark.parametrize("frame", ["odom", "/odom", ""])
def test_initial_pose(frame):
    message = PoseWithCovarianceStamped()
    message.header.frame_id = frame
    message.pose.pose = pose_message(se3.exp(np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])))
    message.pose.covariance = np.eye(6).ravel()
    pose = initial_pose_of(message, "odom")
    np.testing.assert_allclose(pose.T_odom_start, se3.exp(np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])), atol=1e-12)
    np.testing.assert_array_equal(pose.covariance, np.eye(6))
    message.header.frame_id = "map"
    with pytest.raises(ValueError, match="must be in 'odom', not in 'map'"):
        initial_pose_of(message, "odom")
    message.header.frame_id = "odom"
    message.pose.pose.position.x = float("nan")
    with pytest.raises(ValueError):
        initial_pose_of(message, "odom")
