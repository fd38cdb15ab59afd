"""How the node starts, ends, and reacts to other nodes."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import PERIOD, SLOW_CORE, START, assert_close, pose_matrix, stamp_of  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402


def test_silence_is_reported_with_the_topic(robot, walk_poses):
    robot.start_node("-r", "points:=/front/cloud", no_data_timeout=0.3)
    robot.wait_for_status(
        lambda values, message: "no data for" in message and "/front/cloud (0 publishers)" in message, "the topic"
    )


def test_best_effort_publisher_and_reliable_subscription_are_named(robot):
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import PointCloud2

    robot.start_node(reliability="reliable", no_data_timeout=0.3)
    driver = robot.ros.create_publisher(PointCloud2, "points", qos_profile_sensor_data)
    robot.wait_for_status(lambda values, message: "QoS" in message and "RELIABILITY" in message, "the QoS to be named")
    assert driver.get_subscription_count() == 0


def test_only_the_latest_scan_waits_and_the_dropped_are_counted(robot, walk_poses):
    robot.start_node(registration__target_points=200000, reliability="reliable")  # slow
    poses = walk_poses(25)
    for i, pose in enumerate(poses):
        robot.publish(robot.room.scan(pose, 20000), START + i * PERIOD)
        robot.spin(0.05)
    last = START + (len(poses) - 1) * PERIOD
    robot.wait_for_odometry(last)  # the newest always gets its turn
    robot.wait_until(lambda: int(robot.values()["registered"]) == len(robot.odometry), "the last report")
    values = robot.values()
    handled = sum(int(values[name]) for name in ("registered", "rejected", "ignored", "dropped"))
    assert handled == int(values["received"]) <= len(poses)
    assert int(values["dropped"]) > 0


GATED_CORE = """
import time
from pathlib import Path
from prnet_core.odometry import ScanOdometry
register = ScanOdometry.register_scan

def gated(self, points, stamp, *rest):
    gate = Path({folder!r}, f"{{stamp:.1f}}")
    if gate.exists():
        print(f"at the gate of {{stamp:.1f}}", flush=True)
    while gate.exists():
        time.sleep(0.01)
    return register(self, points, stamp, *rest)

ScanOdometry.register_scan = gated
"""
"""Registration of a scan waits as long as a file with its stamp as name exists."""


def test_scans_wait_for_the_first_pair_and_later_only_the_latest_does(robot, walk_poses, tmp_path):
    robot.change_core(GATED_CORE.format(folder=str(tmp_path)))
    robot.start_node(reliability="reliable")
    poses = walk_poses(9)
    stamps = [START + i * PERIOD for i in range(9)]

    def publish_at_gate(gated, others):
        gate = tmp_path / f"{stamps[gated]:.1f}"
        gate.touch()
        robot.publish(robot.room.scan(poses[gated]), stamps[gated])
        robot.wait_until(lambda: f"at the gate of {gate.name}" in robot.log(), "the registration to begin")
        for i in others:
            robot.publish(robot.room.scan(poses[i]), stamps[i])
        robot.wait_for_count("received", others[-1] + 1)
        gate.unlink()
        robot.wait_for_odometry(stamps[others[-1]])

    robot.publish_and_wait(poses[0], stamps[0])
    publish_at_gate(1, [2, 3, 4])
    assert [stamp_of(message) for message in robot.odometry] == pytest.approx(stamps[:5])
    publish_at_gate(5, [6, 7, 8])
    assert [stamp_of(message) for message in robot.odometry] == pytest.approx([*stamps[:6], stamps[8]])
    robot.wait_for_count("registered", 7)
    assert robot.values()["dropped"] == "2"
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[8])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_node_cleanly_with_a_scan_in_work(robot, walk_poses, number):
    robot.start_node(registration__target_points=200000)
    for i, pose in enumerate(walk_poses(6)):
        robot.publish(robot.room.scan(pose, 30000), START + i * PERIOD)
    robot.wait_until(lambda: bool(robot.odometry), "the first scan")
    assert robot.stop_node(number) == 0, robot.log()
    assert "Traceback" not in robot.log() and "rror" not in robot.log()


def test_log_names_the_interpreter_and_what_cannot_be_loaded(robot, walk_poses):
    import sys

    robot.start_node(weights="/nowhere/w.safetensors", device="cuda:7")
    assert sys.executable in robot.log()
    assert "/nowhere/w.safetensors" in robot.log()
    robot.wait_for_status(
        lambda values, message: "without the network" in message and values["weights"] == "none", "the problem"
    )
    for i, pose in enumerate(walk_poses(2)):
        robot.publish_and_wait(pose, START + i * PERIOD)


@pytest.mark.parametrize(
    "arguments, text",
    [
        ("num_threads:=0", "num_threads"),
        ("registration.max_range:=far", "registration.max_range' must be a float, not 'far'"),
        ("registration.max_range:=true", "registration.max_range' must be a float, not True"),
        ("registration.max_range:=-5", "registration.max_range' must be from 0 to 1e+06, not -5"),
        ("reliability:=sometimes", "best_effort, reliable"),
        ("odom_frame:=''", "odom_frame"),
        ("base_frame:=odom", "must differ"),
        ("base_frame:=/base_link", "slash"),
        ("registration.min_range:=5.0 -p registration.max_range:=2.0", "max_range (2.0) must be above min_range (5.0)"),
        ("odom_frame:=odom --params-file /nowhere.yaml", "/nowhere.yaml"),
        ("odom_frame:=odom --nonsense", "unknown ROS arguments"),
    ],
)
def test_incorrect_parameters_end_the_start_with_a_sentence(ros_domain, arguments, text):
    import subprocess
    import sys

    command = [sys.executable, "-m", "prnet_ros.node.main", "--ros-args", "-p", *arguments.split()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert text in ended.stderr and "Traceback" not in ended.stderr


def test_unknown_arguments_and_parameters_are_named(robot):
    import subprocess
    import sys

    command = [sys.executable, "-m", "prnet_ros.node.main", "--ros-args", "-p", "weights:=none", "--", "--foo"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2 and "unrecognized arguments: --foo" in ended.stderr
    robot.start_node(odom_fram="map")
    robot.wait_until(lambda: "'odom_fram' (is 'odom_frame' meant?)" in robot.log(), "the warning")


FAILING_CORE = """
from prnet_core.odometry import ScanOdometry
register = ScanOdometry.register_scan

def fail_sometimes(self, points, stamp, *rest):
    if round(stamp * 10) % 3 == 2:
        raise RuntimeError("SVD did not converge")
    return register(self, points, stamp, *rest)

ScanOdometry.register_scan = fail_sometimes
"""


def test_exceptions_of_the_core_are_counted_logged_once_and_the_node_goes_on(robot, walk_poses):
    robot.change_core(FAILING_CORE)
    robot.start_node()
    poses = walk_poses(9)
    failed = [i for i in range(9) if round((START + i * PERIOD) * 10) % 3 == 2]
    for i, pose in enumerate(poses):
        if i in failed:
            robot.publish(robot.room.scan(pose), START + i * PERIOD)
            robot.wait_for_count("error.RuntimeError", failed.index(i) + 1)
        else:
            robot.publish_and_wait(pose, START + i * PERIOD)
    assert robot.log().count("Traceback") == 1
    assert any(s.level == b"\x02" and "SVD did not converge" in s.message for s in robot.statuses)
    good = max(i for i in range(9) if i not in failed)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[good])
    assert robot.stop_node() == 0


def test_a_scan_being_registered_when_the_trajectory_ends_is_not_published(robot, walk_poses):
    from std_srvs.srv import Trigger

    robot.change_core(SLOW_CORE)
    robot.start_node()
    poses = walk_poses(4)
    robot.publish_and_wait(poses[0], START)
    robot.publish(robot.room.scan(poses[1]), START + 1.0)
    robot.wait_until(lambda: "registering slowly" in robot.log(), "the registration to begin")
    future = robot.ros.create_client(Trigger, "/prnet/reset").call_async(Trigger.Request())
    robot.wait_until(future.done, "the answer")
    robot.wait_for_count("outdated", 1)
    robot.publish_and_wait(poses[2], START + 2.0)
    robot.wait_until(lambda: len(robot.transforms) == 2, "the second transform")
    assert [stamp_of(message) for message in robot.transforms] == [START, START + 2.0]
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))


def test_with_the_network(robot, walk_poses):
    """The packaged weights on the CPU, ended by SIGTERM while a scan is registered."""
    robot.start_node(weights="''", device="cpu", num_threads=1)
    poses = walk_poses(4)
    for i, pose in enumerate(poses):
        robot.publish_and_wait(pose, START + i * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[-1])
    robot.wait_for_status(lambda values, message: values["registered"] == "4", "the report")
    assert (robot.values()["weights"], robot.values()["device"]) == ("packaged", "cpu")
    robot.publish(robot.room.scan(poses[-1]), START + 100.0)
    assert robot.stop_node(signal.SIGTERM) == 0, robot.log()
