"""The frame graph of tf2_ros.Buffer, without a wire."""

import math

import numpy as np
import pytest

pytest.importorskip("rclpy")
tf2_ros = pytest.importorskip("tf2_ros")

from geometry_msgs.msg import TransformStamped  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.time import Time  # noqa: E402
from scipy.spatial.transform import Rotation, Slerp  # noqa: E402


def seconds(value: float) -> Time:
    return Time(nanoseconds=round(value * 1e9))


def message(parent: str, child: str, stamp: float, T_parent_child: np.ndarray) -> TransformStamped:
    result = TransformStamped()
    result.header.frame_id, result.child_frame_id = parent, child
    result.header.stamp = seconds(stamp).to_msg()
    t, q = result.transform.translation, result.transform.rotation
    t.x, t.y, t.z = T_parent_child[:3, 3].tolist()
    q.x, q.y, q.z, q.w = Rotation.from_matrix(T_parent_child[:3, :3]).as_quat().tolist()
    return result


def matrix(stamped: TransformStamped) -> np.ndarray:
    t, q = stamped.transform.translation, stamped.transform.rotation
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
    T[:3, 3] = t.x, t.y, t.z
    return T


def random_transform(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.normal(size=3)
    return T


def at(x: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return T


def filled(*samples: tuple[float, float], **kwargs):
    """A buffer with odom -> base at (stamp, x)."""
    buffer = tf2_ros.Buffer(**kwargs)
    for stamp, x in samples:
        buffer.set_transform(message("odom", "base", stamp, at(x)), "test")
    return buffer


def is_known(buffer, target: str, source: str) -> bool:
    try:
        buffer.lookup_transform(target, source, Time())
    except tf2_ros.TransformException:
        return False
    return True


def x_of(buffer, stamp: float) -> float:
    return matrix(buffer.lookup_transform("odom", "base", seconds(stamp)))[0, 3]


@pytest.mark.parametrize("seed", range(5))
def test_any_two_frames_of_a_random_tree_agree_with_the_matrices(seed):
    rng = np.random.default_rng(seed)
    buffer = tf2_ros.Buffer()
    T_root = {"f0": np.eye(4)}
    for child in range(1, 12):
        parent = f"f{rng.integers(child)}"
        T_parent_child = random_transform(rng)
        send = buffer.set_transform_static if child % 3 else buffer.set_transform
        send(message(parent, f"f{child}", 5.0, T_parent_child), "test")
        T_root[f"f{child}"] = T_root[parent] @ T_parent_child
    for target in T_root:
        for source in T_root:
            expected = np.linalg.inv(T_root[target]) @ T_root[source]
            np.testing.assert_allclose(
                matrix(buffer.lookup_transform(target, source, seconds(5.0))), expected, atol=1e-9
            )


@pytest.mark.parametrize("seed", range(5))
def test_rotations_are_interpolated_on_the_sphere(seed):
    rng = np.random.default_rng(seed)
    first, second = random_transform(rng), random_transform(rng)
    buffer = tf2_ros.Buffer()
    for stamp, T in ((1.0, first), (2.0, second)):
        buffer.set_transform(message("odom", "base", stamp, T), "test")
    slerp = Slerp([1.0, 2.0], Rotation.from_matrix([first[:3, :3], second[:3, :3]]))
    for stamp in (1.0, 1.125, 1.5, 1.9, 2.0):
        T = matrix(buffer.lookup_transform("odom", "base", seconds(stamp)))
        np.testing.assert_allclose(T[:3, :3], slerp(stamp).as_matrix(), atol=1e-6)
        np.testing.assert_allclose(T[:3, 3], first[:3, 3] + (stamp - 1) * (second - first)[:3, 3], atol=1e-6)


def test_quaternions_of_either_sign_interpolate_along_the_shorter_arc():
    buffer = tf2_ros.Buffer()
    rotated = at(0.0)
    rotated[:3, :3] = Rotation.from_euler("z", 0.2).as_matrix()
    buffer.set_transform(message("odom", "base", 1.0, at(0.0)), "test")
    flipped = message("odom", "base", 2.0, rotated)
    q = flipped.transform.rotation
    q.x, q.y, q.z, q.w = -q.x, -q.y, -q.z, -q.w
    buffer.set_transform(flipped, "test")
    T = matrix(buffer.lookup_transform("odom", "base", seconds(1.5)))
    assert Rotation.from_matrix(T[:3, :3]).magnitude() == pytest.approx(0.1, abs=1e-9)


def test_samples_may_come_in_any_order():
    buffer = filled((3.0, 3.0), (1.0, 1.0), (2.0, 2.0))
    assert [x_of(buffer, stamp) for stamp in (1.5, 2.5)] == pytest.approx([1.5, 2.5])


def test_a_repeated_stamp_keeps_the_first_transform():
    assert x_of(filled((1.0, 1.0), (1.0, 7.0), (2.0, 2.0)), 1.0) == pytest.approx(1.0)


def test_samples_older_than_the_cache_time_are_forgotten():
    buffer = filled((1.0, 1.0), (2.0, 2.0), (4.5, 4.5), cache_time=Duration(seconds=3))
    assert x_of(buffer, 2.5) == pytest.approx(2.5)
    with pytest.raises(tf2_ros.ExtrapolationException, match="past"):
        x_of(buffer, 1.2)


def test_one_sample_is_good_for_its_own_stamp_only():
    buffer = filled((1.0, 1.0))
    assert x_of(buffer, 1.0) == pytest.approx(1.0)
    with pytest.raises(tf2_ros.ExtrapolationException):
        x_of(buffer, 1.1)


@pytest.mark.parametrize("frame", ["", "/odom"])
def test_a_bad_frame_name_is_an_invalid_argument(frame):
    with pytest.raises(tf2_ros.InvalidArgumentException):
        filled((1.0, 1.0)).lookup_transform(frame, "base", Time())


def test_two_trees_are_not_connected():
    buffer = filled((1.0, 1.0))
    buffer.set_transform_static(message("map", "goal", 0.0, at(1.0)), "test")
    with pytest.raises(tf2_ros.ConnectivityException):
        buffer.lookup_transform("odom", "goal", Time())


def test_an_unknown_frame_is_named():
    with pytest.raises(tf2_ros.LookupException, match="nowhere"):
        filled((1.0, 1.0)).lookup_transform("odom", "nowhere", Time())


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_transforms_that_are_no_transforms_are_ignored(value):
    buffer = tf2_ros.Buffer()
    bad_translation = message("odom", "base", 1.0, at(0.0))
    bad_translation.transform.translation.y = value
    bad_rotation = message("odom", "base", 1.0, at(0.0))
    bad_rotation.transform.rotation.w = 0.5
    to_itself = message("odom", "odom", 1.0, at(0.0))
    for bad in (bad_translation, bad_rotation, to_itself):
        buffer.set_transform(bad, "test")
    assert not is_known(buffer, "odom", "base")


def test_time_zero_is_the_newest_stamp_that_all_moving_frames_share():
    buffer = filled((1.0, 1.0), (3.0, 3.0))
    for stamp in (1.0, 2.0):
        buffer.set_transform(message("base", "arm", stamp, at(stamp)), "test")
    stamped = buffer.lookup_transform("odom", "arm", Time())
    assert Time.from_msg(stamped.header.stamp).nanoseconds == seconds(2.0).nanoseconds
    assert matrix(stamped)[0, 3] == pytest.approx(4.0)


def test_the_full_lookup_sees_a_frame_at_two_times():
    buffer = filled((1.0, 1.0), (3.0, 3.0))
    T_now_before = matrix(buffer.lookup_transform_full("base", seconds(3.0), "base", seconds(1.5), "odom"))
    assert T_now_before[0, 3] == pytest.approx(-1.5)


def test_a_clock_that_jumps_back_clears_the_moving_transforms_only(ros_domain):
    import rclpy

    context = rclpy.context.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = rclpy.create_node(
        "simulated",
        context=context,
        parameter_overrides=[rclpy.parameter.Parameter("use_sim_time", value=True)],
    )
    clock = node.get_clock()
    clock.set_ros_time_override(seconds(100.0))
    buffer = tf2_ros.Buffer(node=node)
    buffer.set_transform_static(message("base", "lidar", 0.0, at(1.0)), "test")
    buffer.set_transform(message("odom", "base", 100.0, at(1.0)), "test")
    clock.set_ros_time_override(seconds(101.0))
    assert is_known(buffer, "odom", "lidar")
    clock.set_ros_time_override(seconds(5.0))
    assert not is_known(buffer, "odom", "base")
    assert is_known(buffer, "base", "lidar")
    buffer.set_transform(message("odom", "base", 5.0, at(2.0)), "test")
    assert x_of(buffer, 5.0) == pytest.approx(2.0)
    node.destroy_node()
    context.shutdown()
