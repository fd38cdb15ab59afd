"""Bags of simulated scans: PointCloud2, the exact pose on /ground_truth/tf, the extrinsics on /tf_static."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from typing import Self

POINTS = "/points"
GROUND_TRUTH = "/ground_truth/tf"
STATIC = "/tf_static"
MAP_FRAME = "map"
BASE_FRAME = "base_link"

_FLOAT32, _UINT32 = 7, 6
_types = get_typestore(Stores.ROS2_JAZZY)
_UNLIMITED = QosTime(2147483647, 4294967295)


class SampleBag:
    """A ROS 2 bag (mcap, zstd) under construction; use it in a `with` block."""

    def __init__(self, path: Path, with_poses: bool = True, level: int = 19) -> None:
        """Create the folder `path`; with or without the topics of the poses; zstd compresses at `level`."""
        self._writer = Writer(path, version=8, storage_plugin=StoragePlugin.MCAP)
        self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()
        self._writer.storage.compressor = partial(zstd.compress, level=level)
        self._points = self._topic(POINTS, "sensor_msgs/msg/PointCloud2", QosReliability.BEST_EFFORT)
        if with_poses:
            self._ground_truth = self._topic(GROUND_TRUTH, "tf2_msgs/msg/TFMessage", QosReliability.RELIABLE)
            self._static = self._topic(
                STATIC, "tf2_msgs/msg/TFMessage", QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, *_: object) -> None:
        if exception_type is None:
            self._writer.close()

    def add_static(self, stamp_ns: int, frame: str, T_base_frame: np.ndarray) -> None:
        """Add the pose of a sensor on the robot."""
        self._add_transform(self._static, stamp_ns, BASE_FRAME, frame, T_base_frame)

    def add_ground_truth(self, stamp_ns: int, frame: str, T_map_frame: np.ndarray) -> None:
        """The exact pose of a sensor."""
        self._add_transform(self._ground_truth, stamp_ns, MAP_FRAME, frame, T_map_frame)

    def add_scan(self, stamp_ns: int, frame: str, points: np.ndarray, times: np.ndarray) -> None:
        """An unorganised cloud: points (N, 3) float32 and times (N,) in seconds after the stamp (field `t`, ns)."""
        layout = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("t", "<u4")])
        rows = np.empty(len(points), layout)
        for axis, name in enumerate("xyz"):
            rows[name] = points[:, axis]
        rows["t"] = np.round(times * 1e9)
        fields = [self._field(name, 4 * i, _FLOAT32) for i, name in enumerate("xyz")] + [self._field("t", 12, _UINT32)]
        self._add_cloud(stamp_ns, frame, rows[None], fields, is_dense=True)

    def add_depth_frame(self, stamp_ns: int, frame: str, points: np.ndarray) -> None:
        """An organised cloud: points (height, width, 3) float32 with NaN, padded to 16 bytes per point as PCL does."""
        rows = np.zeros((*points.shape[:2], 4), "<f4")
        rows[..., :3] = points
        fields = [self._field(name, 4 * i, _FLOAT32) for i, name in enumerate("xyz")]
        self._add_cloud(stamp_ns, frame, rows, fields, is_dense=False)

    def _topic(
        self, name: str, msgtype: str, reliability: QosReliability, durability: QosDurability = QosDurability.VOLATILE
    ) -> Any:
        qos = Qos(
            QosHistory.KEEP_LAST, 10, reliability, durability, _UNLIMITED, _UNLIMITED, QosLiveliness.AUTOMATIC,
            _UNLIMITED, False,
        )  # fmt: skip
        return self._writer.add_connection(name, msgtype, typestore=_types, offered_qos_profiles=[qos])

    def _add_cloud(self, stamp_ns: int, frame: str, rows: np.ndarray, fields: list[Any], is_dense: bool) -> None:
        height, width = rows.shape[:2]
        data = np.frombuffer(rows.tobytes(), np.uint8)
        point_step = len(data) // (height * width)
        cloud = _types.types["sensor_msgs/msg/PointCloud2"](
            self._header(stamp_ns, frame), height, width, fields, False, point_step, width * point_step, data, is_dense
        )
        self._write(self._points, stamp_ns, cloud)

    def _add_transform(self, topic: Any, stamp_ns: int, parent: str, child: str, transform: np.ndarray) -> None:
        geometry = {name: _types.types[f"geometry_msgs/msg/{name}"] for name in ("Vector3", "Quaternion", "Transform")}
        quaternion = Rotation.from_matrix(transform[:3, :3]).as_quat()
        stamped = _types.types["geometry_msgs/msg/TransformStamped"](
            self._header(stamp_ns, parent),
            child,
            geometry["Transform"](geometry["Vector3"](*transform[:3, 3]), geometry["Quaternion"](*quaternion)),
        )
        self._write(topic, stamp_ns, _types.types["tf2_msgs/msg/TFMessage"]([stamped]))

    def _write(self, topic: Any, stamp_ns: int, message: Any) -> None:
        self._writer.write(topic, stamp_ns, _types.serialize_cdr(message, topic.msgtype))

    @staticmethod
    def _header(stamp_ns: int, frame: str) -> Any:
        stamp = _types.types["builtin_interfaces/msg/Time"](*divmod(stamp_ns, 10**9))
        return _types.types["std_msgs/msg/Header"](stamp, frame)

    @staticmethod
    def _field(name: str, offset: int, datatype: int) -> Any:
        return _types.types["sensor_msgs/msg/PointField"](name, offset, datatype, 1)
