"""The node as a process, over DDS: inputs and outputs."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import PERIOD, START, assert_close, matrix_of, pose_matrix, stamp_of  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402


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
        ground_truth = se3.invert(poses[0]) @ pose
        assert_close(matrix_of(transform.transform), ground_truth)
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

    from prnet_ros.node.frames import transform_message

    message = TransformStamped(child_frame_id=child, transform=transform_message(matrix))
    message.header.frame_id = parent
    return message


def topics_of_node(robot):
    """Topics that the node subscribes to; none until the node's name is discovered, later than its topics."""
    if ("prnet", "/") not in robot.ros.get_node_names_and_namespaces():
        return set()
    return {name for name, _ in robot.ros.get_subscriber_names_and_types_by_node("prnet", "/")}


def test_extrinsics_on_tf_only_are_found_and_tf_is_left_again(robot, walk_poses):
    """Some drivers publish the pose of the sensor on /tf, again and again."""
    from tf2_ros import TransformBroadcaster

    robot.start_node(base_frame="base_link")
    robot.wait_until(lambda: "/tf_static" in topics_of_node(robot), "the subscription to /tf_static")
    assert "/tf" not in topics_of_node(robot)
    broadcaster = TransformBroadcaster(robot.ros)
    pose, stamp = walk_poses(1)[0], START

    def publish_until_answered():
        nonlocal stamp
        if not robot.odometry:
            stamp += 0.1
            broadcaster.sendTransform(static_transform("base_link", "lidar", np.eye(4)))
            robot.publish(robot.room.scan(pose), stamp)
            robot.spin(0.2)
        return bool(robot.odometry)

    robot.wait_until(publish_until_answered, "the transform to arrive")
    robot.wait_until(lambda: topics_of_node(robot).isdisjoint({"/tf", "/tf_static"}), "the end of the subscriptions")


def test_local_map_on_demand(robot, walk_poses):
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from sensor_msgs.msg import PointCloud2

    from prnet_core.io.pointcloud2 import read_cloud

    robot.start_node()
    poses = walk_poses(2)
    robot.publish_and_wait(poses[0], START)
    maps, latched = [], QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    subscription = robot.ros.create_subscription(PointCloud2, "local_map", maps.append, latched)
    robot.wait_until(lambda: subscription.get_publisher_count() > 0, "the match")
    robot.wait_for_status(lambda values, message: True, "the match at the other end")
    robot.publish_and_wait(poses[1], START + PERIOD)
    robot.wait_until(lambda: bool(maps), "the map")
    assert maps[0].header.frame_id == "odom"
    points = se3.apply(poses[0], read_cloud(maps[0]).points)  # in the room
    assert len(points) > 500 and (np.abs(points - [0.0, 0.0, 1.5]) < [5.1, 4.1, 1.6]).all()


def test_nothing_before_the_extrinsics_are_known_then_the_motion_of_the_base(robot, walk_poses):
    """The sensor looks to the left, 1 m before the base."""
    from tf2_ros import StaticTransformBroadcaster

    T_base_sensor = se3.make_transform(se3.rotation_exp(np.array([0, 0, np.pi / 2])), [1.0, 0.0, 0.2])
    robot.start_node(base_frame="base_link")
    poses = walk_poses(5)  # of the base
    robot.publish(robot.room.scan(poses[0] @ T_base_sensor), START - 1.0)
    robot.wait_for_status(
        lambda values, message: values["waiting_for_extrinsics"] == "1" and "'lidar' to 'base_link'" in message,
        "the missing transform to be named",
    )
    assert not robot.odometry and not robot.transforms

    broadcaster = StaticTransformBroadcaster(robot.ros)
    broadcaster.sendTransform(
        [
            static_transform("base_link", "mast", se3.make_transform(np.eye(3), [0.0, 0.0, 0.2])),
            static_transform("mast", "lidar", se3.make_transform(T_base_sensor[:3, :3], [1.0, 0.0, 0.0])),
        ]
    )
    stamp = START

    def publish_until_answered():
        nonlocal stamp
        if not robot.odometry:
            stamp += 0.1
            robot.publish(robot.room.scan(poses[0] @ T_base_sensor), stamp)
            robot.spin(0.2)
        return bool(robot.odometry)

    robot.wait_until(publish_until_answered, "the transform to arrive")
    robot.wait_for_odometry(stamp)
    for i, pose in enumerate(poses[1:], 1):
        robot.publish_and_wait(pose @ T_base_sensor, stamp + i * PERIOD)
    assert robot.odometry[-1].child_frame_id == "base_link"
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[-1], metres=0.05)
    linear = robot.odometry[-1].twist.twist.linear
    assert (linear.x, linear.y) == (pytest.approx(0.8, abs=0.25), pytest.approx(0.0, abs=0.25))
    robot.wait_for_status(lambda values, message: "nothing is published" not in message, "the warning to go")
    assert topics_of_node(robot).isdisjoint({"/tf", "/tf_static"})


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

    from prnet_core.io.pointcloud2 import read_cloud

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
    ground_truth = se3.apply(se3.invert(poses[0]) @ poses[-1], points)
    assert np.linalg.norm(read_cloud(clouds[-1]).points - ground_truth, axis=1).max() < 0.1
    robot.wait_until(lambda: paths and len(paths[-1].poses) == 4, "the trajectory")
    assert paths[-1].header.frame_id == "odom"


def with_intensity(message):
    """Numbers the points: intensity holds 0, 1, 2, ..."""
    from sensor_msgs.msg import PointField

    points = np.frombuffer(message.data, np.float32).reshape(-1, 3)
    numbered = np.column_stack([points, np.arange(len(points), dtype=np.float32)])
    message.fields = [
        *message.fields,
        PointField(name="intensity", offset=12, datatype=PointField.FLOAT32, count=1),
    ]
    message.point_step, message.row_step, message.data = 16, 16 * len(points), numbered.tobytes()


def test_registered_points_keep_their_fields(robot, walk_poses):
    from sensor_msgs.msg import PointCloud2

    robot.start_node(registration__min_range=2.0)
    clouds = []
    subscription = robot.ros.create_subscription(PointCloud2, "registered_points", clouds.append, 10)
    robot.wait_until(subscription.get_publisher_count, "the subscription to match")
    poses = walk_poses(2)
    for i, pose in enumerate(poses):
        points = robot.room.scan(pose)
        points[::50] = np.nan
        robot.publish(points, START + i * PERIOD, change=with_intensity)
        robot.wait_for_odometry(START + i * PERIOD)
    robot.wait_until(lambda: clouds and stamp_of(clouds[-1]) == stamp_of(robot.odometry[-1]), "the last cloud")
    cloud = clouds[-1]
    assert [field.name for field in cloud.fields] == ["x", "y", "z", "intensity"]
    x, y, z, number = np.frombuffer(cloud.data, np.float32).reshape(-1, 4).T
    far = np.flatnonzero(np.linalg.norm(points, axis=1) >= 2.0)
    np.testing.assert_array_equal(number, far)
    expected = se3.apply(pose_matrix(robot.odometry[-1]), points[far])
    np.testing.assert_allclose(np.column_stack([x, y, z]), expected, atol=1e-4)


def drop_z(message):
    message.fields = message.fields[:2]


def cut_short(message):
    message.data = message.data[:-1]


def empty(message):
    message.width, message.data, message.row_step = 0, b"", 0


def other_frame(message):
    message.header.frame_id = "camera"


def test_clouds_in_millimetres_are_remarked_on(robot, walk_poses):
    robot.start_node()
    for i, pose in enumerate(walk_poses(3)):
        robot.publish(1000.0 * robot.room.scan(pose), START + i * PERIOD, frame_id="/lidar")
        robot.wait_for_odometry(START + i * PERIOD)
    robot.wait_for_count("too_fast", 1)
    assert "are the clouds in metres" in robot.log()
    assert robot.odometry[-1].child_frame_id == "lidar"


def no_frame(message):
    message.header.frame_id = ""


def frame_of_the_odometry(message):
    message.header.frame_id = "odom"


def test_bad_clouds_and_wild_scans_are_counted_and_the_node_goes_on(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(12)
    robot.publish_and_wait(poses[0], START)
    spoilt = {"no_xyz": drop_z, "short_data": cut_short, "empty": empty, "other_frame": other_frame}
    for kind, change in spoilt.items():
        robot.publish(robot.room.scan(poses[0]), START + 0.01, change=change)
        robot.wait_for_count(f"bad_cloud.{kind}", 1)
        assert kind in robot.status().message
    for number, change in enumerate((no_frame, frame_of_the_odometry), 1):
        robot.publish(robot.room.scan(poses[0]), START + 0.015, change=change)
        robot.wait_for_count("bad_cloud.frame_id", number)
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
        robot.wait_for_count("received", 9 + i)
    robot.wait_for_status(lambda values, message: True, "a last report")
    assert len(robot.odometry) == 1

    for i, pose in enumerate(poses[1:4], 1):
        robot.publish_and_wait(pose, START + i * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[3])
    assert robot.process.poll() is None
