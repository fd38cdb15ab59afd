"""prnet_replay as a process, and a subscriber in this one, over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from prnet_core.io.bags import POINT_CLOUD, open_bag

ROOT = Path(__file__).resolve().parents[2]
KINECT, LIDAR_WALK = ROOT / "test" / "data" / "kinect", ROOT / "test" / "data" / "lidar_walk"
ROSBAGS = ROOT.parent / "shared" / "data" / "scans" / "rosbag"
TIMEOUT = 180.0

pytest.importorskip("rosbags", reason="rosbags is not installed")


class Listener:
    """A node that collects messages; starts and watches the replay."""

    def __init__(self, domain: int) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.node = rclpy.create_node("listener", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._nodes = [self.node]
        self._processes: list[subprocess.Popen] = []

    def listen(self, message_class: type, topic: str, **qos: object) -> list:
        """The list that messages of a topic will be in."""
        from rclpy.qos import QoSProfile

        received: list = []
        self.node.create_subscription(message_class, topic, received.append, QoSProfile(**{"depth": 100, **qos}))
        return received

    def replay(self, *arguments: object) -> subprocess.Popen:
        """Start prnet_replay."""
        process = subprocess.Popen(
            [sys.executable, "-m", "prnet_ros.replay", "--wait-for", "listener", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def spin_until(self, condition, what: str) -> None:
        """Spin until the condition holds."""
        end = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < end, f"waited {TIMEOUT} s for {what}"
            self._executor.spin_once(timeout_sec=0.02)

    def spin_for(self, seconds: float) -> None:
        """Spin for a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)

    def add_node(self, node) -> None:
        """Spin this node too, until the end of the test."""
        self._nodes.append(node)
        self._executor.add_node(node)

    def wait_for_messages(self, process: subprocess.Popen, received: list, number: int) -> str:
        """Spin until the replay has ended and `number` messages are in; its standard output."""
        self.spin_until(lambda: process.poll() is not None and len(received) >= number, f"{number} messages")
        out, error = process.communicate()
        assert (process.returncode, error) == (0, "")
        return out

    def close(self) -> None:
        """End what was started."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self._executor.shutdown()
        for node in self._nodes:
            node.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def listener(ros_domain):
    """A subscriber in a ROS domain of its own."""
    pytest.importorskip("tf2_msgs", reason="tf2_msgs is not installed")
    listener = Listener(ros_domain)
    yield listener
    listener.close()


def recorded_clouds(path: Path):
    with open_bag(path) as bag:
        return [bag.decode(message) for message in bag.raw_messages() if message.msgtype == POINT_CLOUD]


def assert_same_clouds(received: list, recorded: list) -> None:
    assert len(received) == len(recorded)
    for cloud, original in zip(received, recorded):
        assert (cloud.header.stamp.sec, cloud.header.stamp.nanosec) == (
            original.header.stamp.sec,
            original.header.stamp.nanosec,
        )
        assert cloud.header.frame_id == original.header.frame_id
        assert (cloud.height, cloud.width, cloud.point_step, cloud.row_step, cloud.is_dense) == (
            original.height, original.width, original.point_step, original.row_step, original.is_dense,
        )  # fmt: skip
        assert [(f.name, f.offset, f.datatype) for f in cloud.fields] == [
            (f.name, f.offset, f.datatype) for f in original.fields
        ]
        assert bytes(cloud.data) == original.data.tobytes()


def test_clouds_arrive_as_recorded(listener):
    from sensor_msgs.msg import PointCloud2

    received = listener.listen(PointCloud2, "/points")
    out = listener.wait_for_messages(listener.replay(KINECT), received, 3)
    assert "3 clouds" in out and "/points" in out
    assert_same_clouds(received, recorded_clouds(KINECT))


def test_it_starts_at_the_cloud_that_is_named(listener):
    from sensor_msgs.msg import PointCloud2

    from prnet_ros.player import Replay, ReplayOptions

    received = listener.listen(PointCloud2, "/later")
    with open_bag(KINECT) as bag:
        options = ReplayOptions(to="/later", rate=10.0, wait_for="1", first=1)
        assert Replay(listener.node, bag, options).run() == 2
    listener.spin_until(lambda: len(received) == 2, "two clouds")
    assert_same_clouds(received, recorded_clouds(KINECT)[1:])


def test_best_effort_subscriber_receives_the_first_cloud(listener):
    from rclpy.qos import ReliabilityPolicy
    from sensor_msgs.msg import PointCloud2

    received = listener.listen(PointCloud2, "/points", reliability=ReliabilityPolicy.BEST_EFFORT)
    first = recorded_clouds(LIDAR_WALK)[0].header.stamp
    for _ in range(3):  # best effort promises nothing to a process that gets no time to listen
        process = listener.replay(LIDAR_WALK)
        listener.spin_until(lambda: received, "a cloud")
        stamp = received[0].header.stamp
        if (stamp.sec, stamp.nanosec) == (first.sec, first.nanosec):
            return
        process.kill()
        process.communicate()
        received.clear()
    pytest.fail("the first cloud was lost in three replays")


def test_renamed_topic_static_transforms_and_clock(listener):
    from rclpy.qos import DurabilityPolicy
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import PointCloud2
    from tf2_msgs.msg import TFMessage

    clock = listener.listen(Clock, "/clock", depth=10_000)
    statics = listener.listen(TFMessage, "/tf_static", durability=DurabilityPolicy.TRANSIENT_LOCAL)
    received = listener.listen(PointCloud2, "/scans")
    listener.wait_for_messages(listener.replay(LIDAR_WALK, "--to", "/scans", "--rate", "20", "--clock"), received, 64)
    assert_same_clouds(received, recorded_clouds(LIDAR_WALK))
    ((transform,),) = (message.transforms for message in statics)
    assert (transform.header.frame_id, transform.child_frame_id) == ("base_link", "lidar")
    ticks = np.array([message.clock.sec + message.clock.nanosec * 1e-9 for message in clock])
    assert np.all(np.diff(ticks) >= 0.0)
    last = received[-1].header.stamp
    assert abs(ticks[-1] - (last.sec + last.nanosec * 1e-9)) < 1e-3


def test_static_transforms_reach_a_late_subscriber(listener):
    """The node may start after the replay; it looks up the extrinsics at its first cloud."""
    from rclpy.qos import DurabilityPolicy
    from sensor_msgs.msg import PointCloud2
    from tf2_msgs.msg import TFMessage

    received = listener.listen(PointCloud2, "/points")
    listener.replay(LIDAR_WALK, "--loop")
    listener.spin_until(lambda: received, "a cloud")
    statics = listener.listen(TFMessage, "/tf_static", durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listener.spin_until(lambda: statics, "the static transform")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_loop_starts_again_and_ends_cleanly_on_a_signal(listener, number):
    from sensor_msgs.msg import PointCloud2

    received = listener.listen(PointCloud2, "/points")
    process = listener.replay(KINECT, "--loop", "--rate", "10")
    listener.spin_until(lambda: len(received) > 7, "the third round")
    stamps = [message.header.stamp.sec + message.header.stamp.nanosec * 1e-9 for message in received[:7]]
    assert stamps[:3] == stamps[3:6] and stamps[6] == stamps[0]
    process.send_signal(number)
    out, error = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, error) == (0, "")


@pytest.mark.parametrize("wait_for", ["prnet", "/robot1/prnet", "2"])
def test_it_waits_for_the_node_and_not_for_another_subscriber(listener, wait_for):
    """RViz, or `ros2 topic echo`, subscribes seconds before the node: the node still gets the first cloud."""
    import rclpy
    from sensor_msgs.msg import PointCloud2

    shown = listener.listen(PointCloud2, "/points")
    process = listener.replay(KINECT, "--wait-for", wait_for)
    listener.spin_until(lambda: listener.node.count_publishers("/points") > 0, "the publisher")
    listener.spin_for(2.0)
    assert shown == [] and process.poll() is None
    node = rclpy.create_node("prnet", namespace="/robot1", context=listener.context)
    listener.add_node(node)
    received = []
    node.create_subscription(PointCloud2, "/points", received.append, 100)
    listener.wait_for_messages(process, received, 3)
    assert_same_clouds(received, recorded_clouds(KINECT))


def test_a_signal_during_the_imports_ends_it_cleanly(tmp_path):
    """They take seconds on a busy machine; the stand-in takes a minute, and reports when it has begun."""
    (tmp_path / "rclpy.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "prnet_ros.replay", str(KINECT)], env=environment, cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (0, "")


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        ([LIDAR_WALK, "--topic", "/velodyne"], 2, ["no topic /velodyne", "/points (64 scans)"]),
        ([LIDAR_WALK, "--topic", "/tf_static"], 2, ["TFMessage", "/points (64 scans)"]),
        ([ROOT / "nowhere"], 2, ["nowhere"]),
        ([KINECT, "--ros-args", "--bogus"], 2, ["unknown ROS arguments ['--bogus']"]),
        ([KINECT, "--ros-args", "-r", "points:=a b"], 2, ["remap rule: '-r points:=a b'"]),
        ([KINECT, "--wait", "0.2", "--wait-for", "prnet"], 1, ["waited 0.2 s on /points for node prnet"]),
        ([KINECT, "--wait", "0.2", "--wait-for", "3"], 1, ["waited 0.2 s on /points for 3 subscribers"]),
    ],
)
def test_an_error_is_one_line(listener, arguments, code, words):
    process = listener.replay(*arguments)
    _, error = process.communicate(timeout=TIMEOUT)
    assert process.returncode == code
    assert error.startswith("prnet_replay: ") and error.count("\n") == 1
    assert all(word in error for word in words)


@pytest.mark.parametrize(
    "arguments, words",
    [
        *((["--rate", rate], "--rate: ") for rate in ("0", "-1", "nan", "inf", "fast")),
        (["--wait", "-1"], "--wait: must be a number of seconds"),
        (["--wait", "nan"], "--wait: must be a number of seconds"),
        (["--wait-for", "0"], "--wait 0 does not wait"),
        (["--wait-for", "my node"], "must be the name of a node"),
        (["--to", "my points"], "'my points': Invalid topic name: topic name must not contain"),
        (["--to", "/a//b"], "'/a//b': Invalid topic name"),
        (["--to", "{bogus}/points"], "unknown substitution"),
        (["--to", "points/"], "'points/': Invalid topic name"),
        (["--to", ""], "'': Invalid topic name"),
    ],
)
def test_incorrect_options_are_explained(capsys, arguments, words):
    from prnet_ros import replay

    with pytest.raises(SystemExit) as exit_:
        replay._parse([str(KINECT), *arguments])
    *_, line = capsys.readouterr().err.splitlines()
    assert exit_.value.code == 2 and words in line


@pytest.mark.parametrize("name, number", [("balm_5_db3", 5), ("balm_5_ros1.bag", 5), ("balm_15_mcap", 15)])
def test_real_bags_of_every_kind(listener, name, number):
    from sensor_msgs.msg import PointCloud2

    if not (ROSBAGS / name).exists():
        pytest.skip(f"needs shared/data/scans/rosbag/{name} beside the checkout")
    received = listener.listen(PointCloud2, "/points")
    listener.wait_for_messages(listener.replay(ROSBAGS / name, "--rate", "10"), received, number)
    assert_same_clouds(received, recorded_clouds(ROSBAGS / name))
