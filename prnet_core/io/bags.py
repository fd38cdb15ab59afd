"""ROS 2 bags (mcap, sqlite3) and ROS 1 bags, read with `rosbags`: no ROS installation is needed.

Messages are streamed from the files, never held all at once. Types are decoded with the definitions of the
ROS distributions, not with those in the bag: bags that carry none, and bags with definitions of other
messages that nobody can parse, read alike.
"""

from __future__ import annotations

import heapq
import logging
import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import Self

    from prnet_core.io.pointcloud2 import Cloud

POINT_CLOUD = "sensor_msgs/msg/PointCloud2"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
POSE_TYPES = (
    TRANSFORMS,
    "geometry_msgs/msg/TransformStamped",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "nav_msgs/msg/Odometry",
)
_SAME_WIRE_FORMAT = {"tf/msg/tfMessage": TRANSFORMS}
_STORAGE_SUFFIXES = (".mcap", ".db3", ".bag")

_log = logging.getLogger(__name__)


class BagError(ValueError):
    """The bag cannot be read, or does not hold what was asked for; the text says what it does hold."""


class BagTopic(NamedTuple):
    """A topic of a bag: its name, the type in ROS 2 spelling, and how many messages it has."""

    name: str
    msgtype: str
    count: int


class BagMessage(NamedTuple):
    """A message as recorded: topic, type in ROS 2 spelling, log time in nanoseconds, CDR-serialised data."""

    topic: str
    msgtype: str
    log_time_ns: int
    cdr: bytes


class Scan(NamedTuple):
    """One PointCloud2 of a bag: header stamp in seconds, the frame the points are in, and the points."""

    stamp: float
    frame_id: str
    cloud: Cloud


def open_bag(path: str | Path) -> Bag:
    """Open a bag for reading; use it in a `with` block.

    `path` is a ROS 2 bag folder (with or without metadata.yaml), a single .mcap or .db3 file, a ROS 1 .bag
    file, or a folder of such files.

    Raises:
        FileNotFoundError: nothing is there.
        BagError: it is not a bag, or it is damaged.
        ImportError: the package `rosbags` is not installed.
    """
    return Bag(Path(path))


class Bag:
    """An open bag. Topic names are accepted with and without the leading slash."""

    def __init__(self, path: Path) -> None:
        """Open the bag at `path`; see `open_bag`."""
        try:
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise ImportError("reading bags needs the package rosbags: pip install rosbags") from error
        self.path = path
        self._ros2_types = get_typestore(Stores.ROS2_JAZZY)
        self._stack = ExitStack()
        self._ros1_readers: list[Any] = []
        self._readers = self._open_readers()
        self.topics = self._list_topics()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def point_cloud_topics(self) -> list[str]:
        """Names of the PointCloud2 topics, sorted."""
        return sorted(topic.name for topic in self.topics.values() if topic.msgtype == POINT_CLOUD)

    def pose_topics(self) -> list[str]:
        """Names of the topics that `prnet_core.io.bag_poses` can read poses from, sorted."""
        return sorted(topic.name for topic in self.topics.values() if topic.msgtype in POSE_TYPES)

    def point_cloud_topic(self, name: str | None = None) -> str:
        """The PointCloud2 topic called `name`; without a name the only one, if it is the only one.

        Raises:
            BagError: there is no such topic, or no name was given and there are several. The text lists the
                PointCloud2 topics of the bag.
        """
        available = self.point_cloud_topics()
        listed = ", ".join(f"{topic} ({self.topics[topic].count} scans)" for topic in available) or "none"
        if name is None:
            if len(available) == 1:
                return available[0]
            problem = (
                "no PointCloud2 topic" if not available else "several PointCloud2 topics: name one of them"
            )
        else:
            full_name = "/" + name.lstrip("/")
            if full_name in available:
                return full_name
            if full_name in self.topics:
                problem = f"{full_name} is {self.topics[full_name].msgtype}, not {POINT_CLOUD}"
            else:
                problem = f"no topic {full_name}"
        raise BagError(f"{self.path}: {problem}. PointCloud2 topics in this bag: {listed}")

    def raw_messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """Messages in the order of their log time, as CDR; ROS 1 messages are converted on the way.

        `topics` are full names; None is all topics. A message of a ROS 1 type that ROS 2 does not know is left
        out.
        """
        streams = []
        for reader in self._readers:
            connections = [c for c in reader.connections if topics is None or c.topic in topics]
            if connections:
                streams.append(self._stream(reader, connections))
        yield from heapq.merge(*streams, key=lambda message: message.log_time_ns)

    def decode(self, message: BagMessage) -> Any:
        """The message as an object with the fields of the ROS message."""
        return self._ros2_types.deserialize_cdr(message.cdr, message.msgtype)

    def scans(self, topic: str | None = None) -> Iterator[Scan]:
        """The scans of a PointCloud2 topic, one at a time; `topic` as in `point_cloud_topic`.

        A cloud that cannot be read (no x, y, z; less data than its size says) is left out with a warning in
        the log.

        Raises:
            BagError: there is no such topic.
        """
        return self._scans(self.point_cloud_topic(topic))

    def _scans(self, topic: str) -> Iterator[Scan]:
        from prnet_core.io.pointcloud2 import CloudError, read_cloud

        for message in self.raw_messages([topic]):
            cloud_message = self.decode(message)
            header = cloud_message.header
            try:
                cloud = read_cloud(cloud_message)
            except CloudError as error:
                _log.warning("%s: a scan of %s is left out: %s", self.path, topic, error)
                continue
            yield Scan(seconds(header.stamp), header.frame_id, cloud)

    def _stream(self, reader: Any, connections: list[Any]) -> Iterator[BagMessage]:
        for connection, log_time_ns, data in reader.messages(connections=connections):
            msgtype = _ros2_type(connection.msgtype)
            if reader in self._ros1_readers:
                if msgtype not in self._ros2_types.types:
                    continue
                data = bytes(self._ros2_types.ros1_to_cdr(data, msgtype))
            yield BagMessage(connection.topic, msgtype, log_time_ns, data)

    def _open_readers(self) -> list[Any]:
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path}: no such bag")
        if not self.path.is_dir():
            return [self._open_reader(self.path)]
        files = sorted((f for f in self.path.iterdir() if f.suffix in _STORAGE_SUFFIXES), key=_number_order)
        if (self.path / "metadata.yaml").exists():
            try:
                return [self._open_reader(self.path)]
            except BagError as error:
                if not files:
                    raise
                _log.warning("%s; reading the files beside metadata.yaml themselves", error)
        if not files:
            raise BagError(
                f"{self.path}: no metadata.yaml and no {', '.join(_STORAGE_SUFFIXES)} file in this folder"
            )
        return [self._open_reader(file) for file in files]

    def _open_reader(self, path: Path) -> Any:
        from rosbags.rosbag1 import Reader as Ros1Reader
        from rosbags.rosbag1 import ReaderError as Ros1Error
        from rosbags.rosbag2 import Reader as Ros2Reader
        from rosbags.rosbag2 import ReaderError as Ros2Error

        is_ros1 = path.suffix == ".bag" and not path.is_dir()
        try:
            reader = self._stack.enter_context(Ros1Reader(path) if is_ros1 else Ros2Reader(path))
        except (Ros1Error, Ros2Error) as error:
            raise BagError(f"{path}: not a readable bag: {error}") from error
        if is_ros1:
            self._ros1_readers.append(reader)
        return reader

    def _list_topics(self) -> dict[str, BagTopic]:
        topics: dict[str, BagTopic] = {}
        for reader in self._readers:
            for connection in reader.connections:
                known = topics.get(connection.topic)
                count = connection.msgcount + (known.count if known else 0)
                topics[connection.topic] = BagTopic(connection.topic, _ros2_type(connection.msgtype), count)
        return topics


def seconds(stamp: Any) -> float:
    """A builtin_interfaces/Time in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9


def _ros2_type(msgtype: str) -> str:
    return _SAME_WIRE_FORMAT.get(msgtype, msgtype)


def _number_order(path: Path) -> list[int | str]:
    """Sort key that puts walk_2 before walk_10, as the parts of a split bag are counted."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]
