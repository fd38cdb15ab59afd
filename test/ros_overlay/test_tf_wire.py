"""TF between two real processes, over DDS."""

import math
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
tf2_ros = pytest.importorskip("tf2_ros")

from rclpy.context import Context  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy  # noqa: E402
from rclpy.time import Time  # noqa: E402

from prnet_ros.node.tf_buffer import TfBuffer  # noqa: E402

TALKER = Path(__file__).with_name("tf_talker.py")
PATIENCE = Duration(seconds=30)
TF_MESSAGE_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"


@contextmanager
def talker(mode: str):
    """The talking process; it has published once when the body begins."""
    process = subprocess.Popen([sys.executable, str(TALKER), mode], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == "ready"
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield process
    finally:
        process.terminate()  # a killed process leaves files in /dev/shm
        process.wait()


@pytest.fixture
def node(ros_domain):
    """A spinning node in a context of its own."""
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = rclpy.create_node("listener", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield node
    executor.shutdown()
    thread.join()
    node.destroy_node()
    context.shutdown()


@contextmanager
def listening(node):
    """A buffer that is filled from /tf and /tf_static."""
    tf = TfBuffer(node)
    tf.listen(is_static=False)
    tf.listen(is_static=True)
    try:
        yield tf.buffer
    finally:
        tf.close()


@pytest.fixture
def buffer(node):
    """A buffer that listens."""
    with listening(node) as buffer:
        yield buffer


def seconds(value: float) -> Time:
    return Time(nanoseconds=round(value * 1e9))


def translation_and_yaw(message) -> tuple[np.ndarray, float]:
    t, q = message.transform.translation, message.transform.rotation
    assert (q.x, q.y) == (0.0, 0.0)
    return np.array([t.x, t.y, t.z]), 2 * math.atan2(q.z, q.w)


def test_a_lookup_between_two_stamps_is_interpolated(buffer):
    with talker("moving"):
        for elapsed in (0.0, 0.2, 0.25, 0.499999, 0.75, 1.3, 2.0):
            message = buffer.lookup_transform("odom", "base", seconds(100.0 + elapsed), PATIENCE)
            translation, yaw = translation_and_yaw(message)
            np.testing.assert_allclose(translation, np.array([1.0, -0.5, 0.25]) * elapsed, atol=1e-6)
            assert math.remainder(yaw - 2.0 * elapsed, 2 * math.pi) == pytest.approx(0.0, abs=1e-6)
            assert (message.header.frame_id, message.child_frame_id) == ("odom", "base")
            assert Time.from_msg(message.header.stamp).nanoseconds == seconds(100.0 + elapsed).nanoseconds


def test_a_static_transform_reaches_a_listener_that_comes_later(node):
    with talker("static"), listening(node) as buffer:
        for stamp in (seconds(0.0), seconds(1e9)):
            translation, yaw = translation_and_yaw(buffer.lookup_transform("base", "lidar", stamp, PATIENCE))
            np.testing.assert_allclose(translation, [1.0, 0.0, 0.5], atol=1e-9)
            assert yaw == pytest.approx(math.pi / 2, abs=1e-9)


def test_moving_and_static_transforms_of_two_processes_chain_in_both_directions(buffer):
    with talker("moving"), talker("static"):
        stamp = seconds(100.6)
        forth, yaw_forth = translation_and_yaw(buffer.lookup_transform("odom", "lidar", stamp, PATIENCE))
        back, yaw_back = translation_and_yaw(buffer.lookup_transform("lidar", "odom", stamp, PATIENCE))
    turn = np.array([[math.cos(1.2), -math.sin(1.2), 0], [math.sin(1.2), math.cos(1.2), 0], [0, 0, 1]])
    np.testing.assert_allclose(forth, [0.6, -0.3, 0.15] + turn @ [1.0, 0.0, 0.5], atol=1e-6)
    assert yaw_forth == pytest.approx(1.2 + math.pi / 2, abs=1e-6)
    assert yaw_back == pytest.approx(-yaw_forth, abs=1e-9)
    inverse = np.array(
        [
            [math.cos(yaw_forth), math.sin(yaw_forth), 0],
            [-math.sin(yaw_forth), math.cos(yaw_forth), 0],
            [0, 0, 1],
        ]
    )
    np.testing.assert_allclose(back, -inverse @ forth, atol=1e-9)


def test_time_zero_is_the_latest_transform(buffer):
    with talker("moving"):
        message = buffer.lookup_transform("odom", "base", Time(), PATIENCE)
    assert Time.from_msg(message.header.stamp).nanoseconds == seconds(102.0).nanoseconds


def test_times_outside_of_the_buffer_are_an_extrapolation(buffer):
    with talker("moving"):
        buffer.lookup_transform("odom", "base", Time(), PATIENCE)
        with pytest.raises(tf2_ros.ExtrapolationException, match="future"):
            buffer.lookup_transform("odom", "base", seconds(102.1), Duration(seconds=0.3))
        with pytest.raises(tf2_ros.ExtrapolationException, match="past"):
            buffer.lookup_transform("odom", "base", seconds(99.9))


def test_a_lookup_waits_its_time_out_and_then_names_the_frame(buffer):
    clock = rclpy.clock.Clock(clock_type=rclpy.clock.ClockType.STEADY_TIME)
    start = clock.now()
    with pytest.raises(tf2_ros.LookupException, match="nowhere"):
        buffer.lookup_transform("nowhere", "odom", Time(), Duration(seconds=0.5))
    assert clock.now() - start >= Duration(seconds=0.5)


def test_an_unknown_frame_without_time_out_fails_at_once(buffer):
    with pytest.raises(tf2_ros.LookupException, match="odom"):
        buffer.lookup_transform("odom", "base", Time())
    assert issubclass(tf2_ros.LookupException, tf2_ros.TransformException)


def test_topics_have_the_qos_and_the_type_of_the_distribution(node):
    with talker("moving"), talker("static"), listening(node):
        for topic, durability in (
            ("/tf", DurabilityPolicy.VOLATILE),
            ("/tf_static", DurabilityPolicy.TRANSIENT_LOCAL),
        ):
            publisher = wait_for(lambda topic=topic: endpoints(node.get_publishers_info_by_topic(topic), "tf_talker"))
            subscriber = endpoints(node.get_subscriptions_info_by_topic(topic), node.get_name())
            assert len(publisher) == len(subscriber) == 1
            for info in publisher + subscriber:
                assert info.topic_type == "tf2_msgs/msg/TFMessage"
                assert info.qos_profile.durability == durability
                assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
                assert str(info.topic_type_hash) == TF_MESSAGE_HASH


def test_a_recorded_tf_message_is_read_as_another_decoder_reads_it():
    highlevel = pytest.importorskip("rosbags.highlevel")
    from rclpy.serialization import deserialize_message
    from tf2_msgs.msg import TFMessage

    bag = Path(__file__).parents[3] / "shared" / "data" / "scans" / "rosbag" / "balm_15_mcap"
    if not bag.exists():
        pytest.skip(f"{bag} is not there")
    with highlevel.AnyReader([bag]) as reader:
        connections = [c for c in reader.connections if c.msgtype == "tf2_msgs/msg/TFMessage"]
        count = 0
        for connection, _, raw in reader.messages(connections=connections):
            ours, theirs = (
                deserialize_message(bytes(raw), TFMessage),
                reader.deserialize(raw, connection.msgtype),
            )
            assert len(ours.transforms) == len(theirs.transforms)
            for a, b in zip(ours.transforms, theirs.transforms):
                assert a.child_frame_id == b.child_frame_id
                assert a.transform.translation.x == b.transform.translation.x
                assert a.transform.rotation.w == b.transform.rotation.w
            count += len(ours.transforms)
    assert count > 0


def endpoints(infos, node_name: str) -> list:
    """Those that belong to the node: a graph may hold the endpoints of others."""
    return [info for info in infos if info.node_name == node_name]


def wait_for(ask, timeout: float = 30.0):
    """The first true answer."""
    event, steps = threading.Event(), round(timeout / 0.05)
    for _ in range(steps):
        if answer := ask():
            return answer
        event.wait(0.05)
    pytest.fail(f"nothing within {timeout} s")
