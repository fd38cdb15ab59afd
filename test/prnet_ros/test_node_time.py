"""Stamps, clocks and resets: what the node does when time jumps."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import PERIOD, START, assert_close, pose_matrix, stamp_of  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402


def test_stamps_that_stand_still_or_go_back_a_little_are_ignored(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(3)
    robot.publish_and_wait(poses[0], START)
    robot.publish_and_wait(poses[1], START + 0.2)
    for number, stamp in enumerate((START + 0.2, START + 0.1), 1):
        robot.publish(robot.room.scan(poses[1]), stamp)
        robot.wait_for_count("ignored", number)
    robot.publish_and_wait(poses[2], START + 0.3)
    robot.wait_until(lambda: len(robot.transforms) == 3, "three transforms")
    stamps = [stamp_of(t) for t in robot.transforms]
    assert stamps == sorted(set(stamps))


def test_bag_loop_resumes_with_the_second_scan(robot, walk_poses):
    """The first stamp that goes back may be an outlier; the next one confirms it."""
    robot.start_node()
    poses = walk_poses(4)
    for i, pose in enumerate(poses):
        robot.publish_and_wait(pose, START + i * PERIOD * 10)
    robot.publish(robot.room.scan(poses[0]), START)
    robot.wait_for_count("ignored", 1)
    for i, pose in enumerate(poses[1:], 1):
        robot.publish_and_wait(pose, START + i * PERIOD * 10)
    assert len(robot.odometry) == 7
    assert_close(pose_matrix(robot.odometry[4]), np.eye(4))
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[1]) @ poses[-1])
    robot.wait_for_count("reset", 1)


def test_clock_that_jumps_back_starts_a_new_trajectory(robot, walk_poses):
    from rosgraph_msgs.msg import Clock

    clock = robot.ros.create_publisher(Clock, "/clock", 10)
    robot.start_node(use_sim_time=True)
    robot.wait_until(lambda: clock.get_subscription_count() > 0, "the node to listen to /clock")

    def tick(seconds):
        message = Clock()
        message.clock.sec, message.clock.nanosec = int(seconds), round(seconds % 1 * 1e9)
        clock.publish(message)

    poses = walk_poses(3)
    for i, pose in enumerate(poses):
        tick(START + i * PERIOD)
        robot.publish_and_wait(pose, START + i * PERIOD)
    tick(START)
    robot.wait_for_count("reset", 1)
    assert "clock went back" in robot.log()
    # It went back by less than what the odometry itself takes for a jump.
    robot.publish_and_wait(poses[1], START + PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))

    # The other order: a scan overtakes the clock. The odometry ignores it as long as no other one confirms its stamp.
    for stamp in (START + 0.9, START + 1.7):
        tick(stamp)
        robot.publish_and_wait(poses[1], stamp)
    robot.publish(robot.room.scan(poses[0]), START)
    robot.wait_for_count("ignored", 1)
    tick(START)
    robot.wait_for_count("reset", 2)
    assert robot.log().count("clock went back") == 2
    robot.publish_and_wait(poses[2], START + 2 * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))


def test_sim_time_without_a_clock_still_registers_and_reports(robot, walk_poses):
    robot.start_node(use_sim_time=True, no_data_timeout=0.5)
    for i, pose in enumerate(walk_poses(2)):
        robot.publish_and_wait(pose, START + i * PERIOD)
    robot.wait_for_status(lambda values, message: "no data for" in message, "silence to be noticed")


def test_reset_service(robot, walk_poses):
    from std_srvs.srv import Trigger

    robot.start_node()
    poses = walk_poses(3)
    for i, pose in enumerate(poses[:2]):
        robot.publish_and_wait(pose, START + i * PERIOD)
    client = robot.ros.create_client(Trigger, "/prnet/reset")
    robot.wait_until(client.service_is_ready, "the service")
    future = client.call_async(Trigger.Request())
    robot.wait_until(future.done, "the answer")
    assert future.result().success
    robot.publish_and_wait(poses[2], START + 1.0)
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))
