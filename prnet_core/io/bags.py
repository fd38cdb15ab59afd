"""ROS 2 bags (mcap, sqlite3) and ROS 1 bags, read with `rosbags`: no ROS installation is needed.

Messages are streamed from the files, never all in memory at once. Types are decoded with the definitions of the ROS
distributions, not with those in the bag: bags without definitions, and bags with unknown ones, read alike. Damaged
messages and parts are left out, counted, and named in the log; all others are read.
"""

from __future__ import annotations

import heapq
import logging
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prnet_core.io.bag_files import BagError, BagFile, open_files
from prnet_core.io.cut_bag import decompressed
from prnet_core.io.pointcloud2 import Cloud, CloudError, read_cloud, seconds

if TYPE_CHECKING:
    from typing import Self

POINT_CLOUD = "sensor_msgs/msg/PointCloud2"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
POSE_TYPES = (
    TRANSFORMS,
    "geometry_msgs/msg/TransformStamped",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "nav_msgs/msg/Odometry",
)
_ZSTD = b"\x28\xb5\x2f\xfd"  # no CDR message begins with these bytes
_LARGEST_MESSAGE = 1 << 28  # bytes
_SAME_WIRE_FORMAT = {"tf/msg/tfMessage": TRANSFORMS}

_log = logging.getLogger(__name__)


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
    """One PointCloud2 of a bag: stamp in seconds, the frame the points are in, and the points.

    The stamp is the header's, or where that is not set (0) the time of recording.
    """

    stamp: float
    frame_id: str
    cloud: Cloud


def open_bag(path: str | Path) -> Bag:
    """Open a bag for reading; use it in a `with` block.

    `path` is a ROS 2 bag folder (with or without metadata.yaml), a single .mcap or .db3 file, a ROS 1 .bag
    file, or a folder of such files. Raises FileNotFoundError when nothing is there, BagError for a file that is
    not a bag or is damaged, ImportError without the package `rosbags`.
    """
    return Bag(Path(path))


class Bag:
    """An open bag. Topic names are accepted with and without the leading slash.

    skipped: number of messages left out by reason, in the latest iteration over `scans`.
    """

    def __init__(self, path: Path) -> None:
        """Open the bag at `path`; see `open_bag`."""
        try:
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise ImportError("reading bags needs the package rosbags: pip install rosbags") from error
        self.path = path
        self._ros2_types = get_typestore(Stores.ROS2_JAZZY)
        self._stack = ExitStack()
        self._logged: set[str] = set()
        self.skipped: Counter[str] = Counter()
        self._files = open_files(path, self._stack)
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
        """The PointCloud2 topic called `name`; without a name the only one.

        Raises BagError, which lists the PointCloud2 topics of the bag, where there is no such topic or several.
        """
        available = self.point_cloud_topics()
        listed = ", ".join(f"{topic} ({self.topics[topic].count} scans)" for topic in available) or "none"
        if name is None:
            if len(available) == 1:
                return available[0]
            problem = "no PointCloud2 topic" if not available else "several PointCloud2 topics: name one of them"
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
        """Messages in the order of their log time, as CDR; ROS 1 messages are converted.

        `topics` are full names; None is all topics. A message of a ROS 1 type that ROS 2 does not know is left
        out. A file that is damaged further on ends there, with a warning in the log.
        """
        streams = []
        for file in self._files:
            connections = [c for c in file.reader.connections if topics is None or c.topic in topics]
            if connections:
                streams.append(self._stream(file, connections))
        yield from heapq.merge(*streams, key=lambda message: message.log_time_ns)

    def decode(self, message: BagMessage) -> Any:
        """The message as an object with the fields of the ROS message. Raises BagError when it cannot be decoded."""
        try:
            return self._ros2_types.deserialize_cdr(_unpacked(message.cdr), message.msgtype)
        except Exception as error:  # damaged bytes lead to errors of any kind
            raise BagError(
                f"{self.path}: a message of {message.topic} at {message.log_time_ns * 1e-9:.3f} s cannot be decoded: "
                f"{type(error).__name__} {error}"
            ) from error

    def scans(self, topic: str | None = None) -> Iterator[Scan]:
        """The scans of a PointCloud2 topic that are in the frame of its first one; `topic` as in `point_cloud_topic`.

        Left out, counted in `skipped` and logged once for each reason: clouds that cannot be decoded or read (no
        x, y, z; less data than their size says), and clouds in another frame (a second sensor on the topic). Raises
        BagError when there is no such topic.
        """
        return self._with_stamps(self.point_cloud_topic(topic))

    def _scans(self, topic: str) -> Iterator[tuple[float, Scan]]:
        """(time of recording in seconds, scan)."""
        self.skipped.clear()
        frame = None
        for message in self.raw_messages([topic]):
            try:
                cloud_message = self.decode(message)
                header = cloud_message.header
                cloud = read_cloud(cloud_message)
            except BagError as error:
                self._skip("not decodable", f"a scan of {topic} is left out: {error}")
                continue
            except CloudError as error:
                self._skip(f"not readable ({error.kind})", f"a scan of {topic} is left out: {error}")
                continue
            frame = frame or header.frame_id
            if header.frame_id.lstrip("/") != frame.lstrip("/"):
                self._skip(
                    f"in the frame {header.frame_id!r}",
                    f"scans of {topic} in the frame {header.frame_id!r} are left out: the first one is in {frame!r}",
                )
                continue
            yield message.log_time_ns * 1e-9, Scan(seconds(header.stamp), header.frame_id, cloud)

    def _with_stamps(self, topic: str) -> Iterator[Scan]:
        """The scans with the times of recording as stamps where the first two have none."""
        recorded = self._scans(topic)
        first = list(islice(recorded, 1))
        if first and first[0][1].stamp == 0.0:
            first += islice(recorded, 1)
        is_unset = len(first) == 2 and all(scan.stamp == 0.0 for _, scan in first)
        if is_unset:
            self.log_once("no stamp", f"the stamps of {topic} are not set: the times of recording are used")
        for time, scan in chain(first, recorded):
            yield scan._replace(stamp=time) if is_unset and scan.stamp == 0.0 else scan

    def _skip(self, reason: str, text: str) -> None:
        self.skipped[reason] += 1
        self.log_once(reason, text)

    def log_once(self, reason: str, text: str) -> None:
        """Warn with the bag's path and the text, the first time for this reason."""
        if reason not in self._logged:
            self._logged.add(reason)
            _log.warning("%s: %s", self.path, text)

    def _stream(self, file: BagFile, connections: list[Any]) -> Iterator[BagMessage]:
        for connection, log_time_ns, data in file.messages(connections):
            msgtype = _ros2_type(connection.msgtype)
            if file.is_ros1:
                if msgtype not in self._ros2_types.types:
                    continue
                try:
                    data = bytes(self._ros2_types.ros1_to_cdr(data, msgtype))
                except Exception as error:  # as in `decode`
                    self._skip("not decodable", f"a message of {connection.topic} is left out: {error}")
                    continue
            yield BagMessage(connection.topic, msgtype, log_time_ns, data)

    def _list_topics(self) -> dict[str, BagTopic]:
        topics: dict[str, BagTopic] = {}
        for file in self._files:
            for connection in file.reader.connections:
                known = topics.get(connection.topic)
                count = connection.msgcount + (known.count if known else 0)
                topics[connection.topic] = BagTopic(connection.topic, _ros2_type(connection.msgtype), count)
        return topics


def _unpacked(cdr: bytes) -> bytes:
    """The message of a bag whose messages are compressed, where no metadata.yaml says so to `rosbags`."""
    return decompressed(cdr, "zstd", _LARGEST_MESSAGE) if cdr.startswith(_ZSTD) else cdr


def _ros2_type(msgtype: str) -> str:
    return _SAME_WIRE_FORMAT.get(msgtype, msgtype)
