"""The relative pose of the sensor from another odometry on TF."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("tf2_ros", reason="tf2_ros is not installed")

from builtin_interfaces.msg import Time  # noqa: E402
from geometry_msgs.msg import TransformStamped  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402
from prnet_ros.node.frames import transform_message  # noqa: E402
from prnet_ros.node.guess import GuessFrame  # noqa: E402


@pytest.fixture
def node(ros_domain):
    import rclpy

    context = rclpy.Context()
    context.init(domain_id=ros_domain)
    node = rclpy.create_node("prnet", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def transform(parent, child, matrix, sec):
    message = TransformStamped(child_frame_id=child, transform=transform_message(matrix))
    message.header.frame_id, message.header.stamp = parent, Time(sec=sec)
    return message


def test_motion_between_two_scans_by_wheels_and_extrinsics(node):
    guess = GuessFrame(node, "wheels")
    T_base_lidar = se3.exp(np.array([0.2, 0.0, 1.0, 0.0, 0.1, 0.0]))
    step = se3.exp(np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.3]))
    guess._tf.buffer.set_transform_static(transform("base", "lidar", T_base_lidar, 0), "test")
    for sec, pose in ((100, np.eye(4)), (101, step), (102, step @ step)):
        guess._tf.buffer.set_transform(transform("wheels", "base", pose, sec), "test")
    assert guess.motion_to("lidar", Time(sec=100)) is None  # nothing to compare with
    expected = se3.invert(T_base_lidar) @ step @ T_base_lidar
    for sec in (101, 102):
        np.testing.assert_allclose(guess.motion_to("lidar", Time(sec=sec)), expected, atol=1e-9)
    assert guess.motion_to("lidar", Time(sec=102)) is None  # no time has passed
    assert guess.motion_to("lidar", Time(sec=110)) is None and "no motion of 'lidar' in 'wheels'" in guess.problem
    guess.restart()
    assert guess.motion_to("lidar", Time(sec=102)) is None


def test_without_a_guess_frame_nothing_is_listened_to(node):
    before = len(list(node.subscriptions))
    guess = GuessFrame(node, "")
    assert len(list(node.subscriptions)) == before
    assert guess.motion_to("lidar", Time(sec=1)) is None
