"""Writes small bags of every kind for the tests of the bag reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

POINTS, TF, STATIC, POSE = "/points", "/ground_truth/tf", "/tf_static", "/ground_truth/pose"
FRAME = "lidar"


class BagMaker:
    """Makes messages and writes them: `messages` are (topic, log time in seconds, message)."""

    def __init__(self) -> None:
        from rosbags.typesys import Stores, get_typestore

        self.ros2 = get_typestore(Stores.ROS2_JAZZY)
        self._ros1 = get_typestore(Stores.ROS1_NOETIC)

    def cloud(self, points: np.ndarray, stamp: float, frame: str = FRAME) -> Any:
        """PointCloud2 of x, y, z float32."""
        types = self.ros2.types
        data = np.frombuffer(np.asarray(points, "<f4").tobytes(), np.uint8)
        fields = [types["sensor_msgs/msg/PointField"](name, 4 * i, 7, 1) for i, name in enumerate("xyz")]
        return types["sensor_msgs/msg/PointCloud2"](
            self.header(stamp, frame), 1, len(points), fields, False, 12, 12 * len(points), data, True
        )

    def transform(self, parent: str, child: str, xyz: tuple, quaternion: tuple, stamp: float) -> Any:
        """TransformStamped; quaternion as x y z w."""
        types = self.ros2.types
        transform = types["geometry_msgs/msg/Transform"](
            types["geometry_msgs/msg/Vector3"](*xyz), types["geometry_msgs/msg/Quaternion"](*quaternion)
        )
        return types["geometry_msgs/msg/TransformStamped"](self.header(stamp, parent), child, transform)

    def tf(self, *transforms: Any) -> Any:
        """TFMessage."""
        return self.ros2.types["tf2_msgs/msg/TFMessage"](list(transforms))

    def pose(self, frame: str, xyz: tuple, quaternion: tuple, stamp: float) -> Any:
        """PoseStamped."""
        types = self.ros2.types
        pose = types["geometry_msgs/msg/Pose"](
            types["geometry_msgs/msg/Point"](*xyz), types["geometry_msgs/msg/Quaternion"](*quaternion)
        )
        return types["geometry_msgs/msg/PoseStamped"](self.header(stamp, frame), pose)

    def header(self, stamp: float, frame: str) -> Any:
        """std_msgs/Header."""
        time = self.ros2.types["builtin_interfaces/msg/Time"](*divmod(round(stamp * 1e9), 10**9))
        return self.ros2.types["std_msgs/msg/Header"](time, frame)

    def write(self, path: Path, messages: list[tuple[str, float, Any]], storage: str = "mcap") -> Path:
        """A ROS 2 bag folder."""
        from rosbags.rosbag2 import StoragePlugin, Writer

        with Writer(path, version=8, storage_plugin=StoragePlugin[storage.upper()]) as writer:
            connections: dict[str, Any] = {}
            for topic, time, message in messages:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, message.__msgtype__, typestore=self.ros2)
                data = self.ros2.serialize_cdr(message, message.__msgtype__)
                writer.write(connections[topic], round(time * 1e9), data)
        return path

    def write_ros1(self, path: Path, messages: list[tuple[str, float, Any]]) -> Path:
        """A ROS 1 bag."""
        from rosbags.rosbag1 import Writer

        with Writer(path) as writer:
            connections: dict[str, Any] = {}
            for sequence, (topic, time, message) in enumerate(messages):
                message = self._with_sequence(message, sequence)
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, message.__msgtype__, typestore=self._ros1)
                data = self._ros1.serialize_ros1(message, message.__msgtype__)
                writer.write(connections[topic], round(time * 1e9), data)
        return path

    def _with_sequence(self, message: Any, sequence: int) -> Any:
        import dataclasses

        header = self._ros1.types["std_msgs/msg/Header"](sequence, message.header.stamp, message.header.frame_id)
        return dataclasses.replace(message, header=header)


@pytest.fixture
def bag_maker() -> BagMaker:
    """Makes bags; skips where rosbags is not installed."""
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    return BagMaker()


@pytest.fixture
def scan_messages(bag_maker: BagMaker) -> Callable[..., list[tuple[str, float, Any]]]:
    """`scan_messages(number, topic)`: clouds at 10 Hz, of one point more each; log times 0.1 s after the stamps."""

    def make(number: int, topic: str = POINTS) -> list[tuple[str, float, Any]]:
        stamps = [100.0 + 0.1 * index for index in range(number)]
        return [
            (topic, stamp + 0.1, bag_maker.cloud(np.arange(3.0 * (index + 1)).reshape(-1, 3), stamp))
            for index, stamp in enumerate(stamps)
        ]

    return make
