"""The node as a process, over DDS: what goes in, what comes out."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from prnet_core.geometry import se3  # noqa: E402

START = 1000.0  # s, stamp of the first scan
PERIOD = 0.1


def stamp_of(message):
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def matrix_of(transform):
    from prnet_ros.frames import transform_matrix

    return transform_matrix(transform)


def pose_matrix(odometry):
    from geometry_msgs.msg import Transform, Vector3

    pose = odometry.pose.pose
    p = pose.position
    return matrix_of(Transform(translation=Vector3(x=p.x, y=p.y, z=p.z), rotation=pose.orientation))


def assert_close(T_a, T_b, metres=0.03, degrees=0.6):
    error = se3.invert(T_a) @ T_b
    assert np.linalg.norm(error[:3, 3]) < metres
    assert np.rad2deg(se3.rotation_angle(error[:3, :3])) < degrees


def test_scans_in_tf_and_odometry_out(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(8)
    for i, pose in enumerate(poses):
        robot.publish_and_wait(pose, START + i * PERIOD)
    robot.wait_until(lambda: len(robot.transforms) == len(poses), "all transforms")

    assert [stamp_of(t) for t in robot.transforms] == [stamp_of(o) for o in robot.odometry]
    for pose, transform, odometry in zip(poses, robot.transforms, robot.odometry):
        assert (transform.header.frame_id, transform.child_frame_id) == ("odom", "lidar")
        assert (odometry.header.frame_id, odometry.child_frame_id) == ("odom", "lidar")
        truth = se3.invert(poses[0]) @ pose
        assert_close(matrix_of(transform.transform), truth)
        np.testing.assert_allclose(pose_matrix(odometry), matrix_of(transform.transform), atol=1e-9)
        for covariance in (odometry.pose.covariance, odometry.twist.covariance):
            diagonal = np.diag(np.reshape(covariance, (6, 6)))
            assert (diagonal > 0.0).all() and np.isfinite(covariance).all()
    twist = robot.odometry[-1].twist.twist
    assert twist.linear.x == pytest.approx(0.8, abs=0.2) and abs(twist.linear.y) < 0.2
    assert twist.angular.z == pytest.approx(np.deg2rad(20.0), abs=0.15)

    robot.wait_for_count("registered", len(poses))
    assert robot.values()["received"] == str(len(poses))
    assert robot.values()["rejected"] == robot.values()["dropped"] == "0"


def static_transform(parent, child, matrix):
    from geometry_msgs.msg import TransformStamped

    from prnet_ros.frames import transform_message

    message = TransformStamped(child_frame_id=child, transform=transform_message(matrix))
    message.header.frame_id = parent
    return message


def test_nothing_before_the_mount_is_known_then_the_motion_of_the_base(robot, walk_poses):
    """The sensor looks to the left, 1 m before the base."""
    from tf2_ros import StaticTransformBroadcaster

    T_base_sensor = se3.make_transform(se3.rotation_exp(np.array([0, 0, np.pi / 2])), [1.0, 0.0, 0.2])
    robot.start_node(base_frame="base_link")
    poses = walk_poses(5)  # of the base
    robot.publish(robot.room.scan(poses[0] @ T_base_sensor), START - 1.0)
    robot.wait_for_status(
        lambda values, message: values["waiting_for_mount"] == "1" and "'lidar' to 'base_link'" in message,
        "the missing mount to be named",
    )
    assert not robot.odometry and not robot.transforms

    broadcaster = StaticTransformBroadcaster(robot.ros)
    broadcaster.sendTransform([
        static_transform("base_link", "mast", se3.make_transform(np.eye(3), [0.0, 0.0, 0.2])),
        static_transform("mast", "lidar", se3.make_transform(T_base_sensor[:3, :3], [1.0, 0.0, 0.0])),
    ])
    stamp = START

    def publish_until_heard():
        nonlocal stamp
        if not robot.odometry:
            stamp += 0.1
            robot.publish(robot.room.scan(poses[0] @ T_base_sensor), stamp)
            robot.spin(0.2)
        return bool(robot.odometry)

    robot.wait_until(publish_until_heard, "the mount to arrive")
    robot.wait_for_odometry(stamp)
    for i, pose in enumerate(poses[1:], 1):
        robot.publish_and_wait(pose @ T_base_sensor, stamp + i * PERIOD)
    assert robot.odometry[-1].child_frame_id == "base_link"
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[-1], metres=0.05)
    linear = robot.odometry[-1].twist.twist.linear
    assert (linear.x, linear.y) == (pytest.approx(0.8, abs=0.25), pytest.approx(0.0, abs=0.25))
    robot.wait_for_status(lambda values, message: "nothing is published" not in message, "the warning to go")


def test_inverted_tf_and_switching_tf_off_at_run_time(robot, walk_poses):
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter

    robot.start_node(invert_tf=True, odom_frame="map3d")
    poses = walk_poses(4)
    for i, pose in enumerate(poses[:2]):
        robot.publish_and_wait(pose, START + i * PERIOD)
    robot.wait_until(lambda: len(robot.transforms) == 2, "two transforms")
    transform = robot.transforms[-1]
    assert (transform.header.frame_id, transform.child_frame_id) == ("lidar", "map3d")
    assert_close(se3.invert(matrix_of(transform.transform)), se3.invert(poses[0]) @ poses[1])

    client = robot.ros.create_client(SetParameters, "/prnet/set_parameters")
    robot.wait_until(client.service_is_ready, "the parameter service")

    def set_parameter(name, value):
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        future = client.call_async(request)
        robot.wait_until(future.done, "the parameter to be set")
        return future.result().results[0]

    assert set_parameter("publish_tf", False).successful
    assert not set_parameter("odom_frame", "other").successful  # needs a restart
    assert not set_parameter("no_data_timeout", -1.0).successful  # out of range
    for i, pose in enumerate(poses[2:], 2):
        robot.publish_and_wait(pose, START + i * PERIOD)
    assert len(robot.transforms) == 2 and len(robot.odometry) == 4


def test_registered_cloud_lies_on_the_room_and_trajectory_grows(robot, walk_poses):
    from nav_msgs.msg import Path
    from sensor_msgs.msg import PointCloud2

    from prnet_core.data.pointcloud2 import read_cloud

    robot.start_node()
    clouds, paths = [], []
    subscriptions = [
        robot.ros.create_subscription(PointCloud2, "registered_points", clouds.append, 10),
        robot.ros.create_subscription(Path, "trajectory", paths.append, 10),
    ]
    robot.wait_until(lambda: all(s.get_publisher_count() for s in subscriptions), "the subscriptions to match")
    poses = walk_poses(4)
    for i, pose in enumerate(poses):
        points = robot.room.scan(pose)
        robot.publish(points, START + i * PERIOD)
        robot.wait_for_odometry(START + i * PERIOD)
    robot.wait_until(lambda: clouds and stamp_of(clouds[-1]) == stamp_of(robot.odometry[-1]), "the last cloud")
    assert clouds[-1].header.frame_id == "odom"
    truth = se3.apply(se3.invert(poses[0]) @ poses[-1], points)
    assert np.linalg.norm(read_cloud(clouds[-1]).points - truth, axis=1).max() < 0.1
    robot.wait_until(lambda: paths and len(paths[-1].poses) == 4, "the trajectory")
    assert paths[-1].header.frame_id == "odom"


def drop_z(message):
    message.fields = message.fields[:2]


def cut_short(message):
    message.data = message.data[:-1]


def empty(message):
    message.width, message.data, message.row_step = 0, b"", 0


def wrong_frame(message):
    message.header.frame_id = "camera"


def test_bad_clouds_and_wild_scans_are_counted_and_the_node_goes_on(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(12)
    robot.publish_and_wait(poses[0], START)
    spoilt = {"no_xyz": drop_z, "short_data": cut_short, "empty": empty, "other_frame": wrong_frame}
    for kind, change in spoilt.items():
        robot.publish(robot.room.scan(poses[0]), START + 0.01, change=change)
        robot.wait_for_count(f"bad_cloud.{kind}", 1)
        assert kind in robot.status().message
    robot.publish(np.full((50, 3), np.nan), START + 0.02)
    robot.wait_for_count("bad_cloud.not_finite", 1)

    wild = np.random.default_rng(1)
    hard = [
        np.zeros((1, 3)),
        np.zeros((5000, 3)),
        np.stack([np.linspace(0, 9, 3000), np.zeros(3000), np.zeros(3000)], axis=1),
        wild.normal(size=(4000, 3)) * 1e30,
        wild.normal(size=(20, 3)),
        np.array([[1e38, -1e38, 1e38]] * 100),
    ]
    # None of these may be taken for a motion, nor end the node, nor move the odometry.
    for i, points in enumerate(hard):
        robot.publish(points, START + 0.03 + 0.01 * i)
        robot.wait_for_count("received", 7 + i)
    robot.wait_for_status(lambda values, message: True, "a last report")
    assert len(robot.odometry) == 1

    for i, pose in enumerate(poses[1:4], 1):
        robot.publish_and_wait(pose, START + i * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[3])
    assert robot.process.poll() is None


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


def test_bag_loop_resumes_within_one_scan(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(4)
    for loop in range(2):
        for i, pose in enumerate(poses):
            robot.publish_and_wait(pose, START + i * PERIOD * 10)
        assert len(robot.odometry) == len(poses) * (loop + 1)
    assert_close(pose_matrix(robot.odometry[4]), np.eye(4))
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[-1])
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

    # The other order: the first scan overtakes the clock, and is not thrown away again when the clock comes.
    for stamp in (START + 1.0, START + 10.0):
        tick(stamp)
        robot.publish_and_wait(poses[1], stamp)
    robot.publish_and_wait(poses[0], START)
    tick(START)
    robot.wait_until(lambda: robot.log().count("clock went back") == 2, "the second jump")
    robot.publish_and_wait(poses[2], START + 2 * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[2])


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


def test_silence_is_told_with_the_topic(robot, walk_poses):
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


def test_newest_scan_wins_and_the_dropped_are_counted(robot, walk_poses):
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_node_cleanly_with_a_scan_in_work(robot, walk_poses, number):
    robot.start_node(registration__target_points=200000)
    for i, pose in enumerate(walk_poses(6)):
        robot.publish(robot.room.scan(pose, 30000), START + i * PERIOD)
    robot.wait_until(lambda: bool(robot.odometry), "the first scan")
    assert robot.stop_node(number) == 0, robot.log()
    assert "Traceback" not in robot.log() and "rror" not in robot.log()


def test_log_names_the_interpreter_and_what_is_not_to_be_had(robot, walk_poses):
    import sys

    robot.start_node(weights="/nowhere/w.safetensors", device="cuda:7")
    assert sys.executable in robot.log()
    assert "/nowhere/w.safetensors" in robot.log()
    robot.wait_for_status(
        lambda values, message: "without the network" in message and values["weights"] == "none", "the problem"
    )
    for i, pose in enumerate(walk_poses(2)):
        robot.publish_and_wait(pose, START + i * PERIOD)


@pytest.mark.parametrize("argument, said", [
    ("num_threads:=0", "num_threads"),
    ("registration.max_range:=5", "registration.max_range' must be a float"),
    ("reliability:=sometimes", "best_effort, reliable"),
    ("odom_frame:=''", "odom_frame"),
])
def test_wrong_parameters_end_the_start_with_a_sentence(ros_domain, argument, said):
    import subprocess
    import sys

    command = [sys.executable, "-m", "prnet_ros.main", "--ros-args", "-p", argument]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert said in ended.stderr and "Traceback" not in ended.stderr


FAILING_CORE = """
import sys
from prnet_core.odometry import ScanOdometry
register = ScanOdometry.register_scan

def fail_sometimes(self, points, stamp, times=None):
    if round(stamp * 10) % 3 == 2:
        raise RuntimeError("SVD did not converge")
    return register(self, points, stamp, times)

ScanOdometry.register_scan = fail_sometimes
from prnet_ros.main import main
sys.exit(main())
"""


def test_exceptions_of_the_core_are_counted_told_once_and_the_node_goes_on(robot, walk_poses):
    robot.start_node(program=("-c", FAILING_CORE))
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


def test_with_the_network(robot, walk_poses):
    """The packaged weights on the CPU, ended by SIGTERM with a scan in work."""
    robot.start_node(weights="''", device="cpu", num_threads=1)
    poses = walk_poses(4)
    for i, pose in enumerate(poses):
        robot.publish_and_wait(pose, START + i * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[-1])
    robot.wait_for_status(lambda values, message: values["registered"] == "4", "the report")
    assert (robot.values()["weights"], robot.values()["device"]) == ("packaged", "cpu")
    robot.publish(robot.room.scan(poses[-1]), START + 100.0)
    assert robot.stop_node(signal.SIGTERM) == 0, robot.log()
