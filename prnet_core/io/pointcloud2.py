"""Read a PointCloud2 message into numpy, without importing ROS.

Works on anything with the attributes of ``sensor_msgs/PointCloud2``: the messages of rclpy, and the ones that
``rosbags`` deserialises. The message itself is never written to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from prnet_core.io.point_times import time_field, times_from_stamp

# sensor_msgs/PointField: INT8 = 1 ... FLOAT64 = 8
_DATATYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


class CloudError(ValueError):
    """A message that holds no usable points.

    ``kind`` is one of ``empty`` (no point, or no bytes), ``not_finite`` (every point is NaN, infinite or the origin),
    ``no_xyz`` (x, y or z is missing or of an unknown type), ``layout`` (sizes that contradict each other) and
    ``short_data`` (fewer bytes than the header states): few and fixed, so that they can be counted.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Cloud:
    """Points of one scan, in the sensor's frame.

    points: (N, 3) float64, metres, all finite, N >= 1, row-major order of an organised cloud.
    times: (N,) float64, seconds relative to the header's stamp (may be negative), or None when the message has
        no usable time field.
    num_dropped: how many points were left out because a coordinate was NaN or infinite, or all three were 0.
    no_times_reason: why times is None, else ''.
    rows: (N,) which points of the message these are, or None: all of them.
    """

    points: np.ndarray
    times: np.ndarray | None
    num_dropped: int
    no_times_reason: str = ""
    rows: np.ndarray | None = None


def read_cloud(message: Any) -> Cloud:
    """Finite points, and their times when there are any, of a PointCloud2 message.

    ``is_dense`` is not used: some drivers set it although there are NaN. Others write (0, 0, 0) for a ray without a
    return. Raises CloudError.
    """
    layout = _Layout.of(message)
    fields = {field.name: field for field in reversed(message.fields)}
    fields |= {axis: fields[axis.upper()] for axis in "xyz" if axis not in fields and axis.upper() in fields}
    points = _read_xyz(layout, fields)

    (x, y, z), (finite_x, finite_y, finite_z) = points.T, np.isfinite(points).T  # by columns: four times as fast
    usable = finite_x & finite_y & finite_z & ((x != 0.0) | (y != 0.0) | (z != 0.0))
    keep = None
    if not usable.all():
        keep = np.flatnonzero(usable)
        if keep.size == 0:
            raise CloudError("not_finite", f"all {len(points)} points are NaN, infinite or (0, 0, 0)")
    times, reason = _read_times(layout, fields, seconds(message.header.stamp), keep)
    num_points = len(points)
    if keep is not None:
        points = points.take(keep, axis=0)
    return Cloud(points, times, num_points - len(points), reason, keep)


def replace_points(message: Any, rows: np.ndarray, points: np.ndarray) -> bytes | None:
    """The bytes of the message's points `rows` (M,) with x, y, z of `points` (M, 3), the other fields unchanged.

    M points of message.point_step bytes each. None where x, y or z is no floating-point field: it cannot hold the
    values. The message must be one that `read_cloud` reads.
    """
    layout = _Layout.of(message)
    fields = {field.name: field for field in reversed(message.fields)}
    if any(_DATATYPES[fields[name].datatype] not in ("f4", "f8") for name in "xyz"):
        return None
    whole = np.dtype((np.void, layout.point_step))
    shape, strides = (layout.height, layout.width), (layout.row_step, layout.point_step)
    chosen = np.ndarray(shape, whole, layout.data, 0, strides).reshape(-1).take(rows).tobytes()
    copy = bytearray(chosen)
    columns = replace(layout, data=memoryview(copy), height=1, width=len(rows), row_step=len(copy))
    for axis, name in enumerate("xyz"):
        columns.column(fields[name])[0] = points[:, axis]
    return bytes(copy)


@dataclass(frozen=True)
class _Layout:
    """Layout of the bytes of a field: rows of ``row_step`` bytes, points of ``point_step`` bytes."""

    data: memoryview
    height: int
    width: int
    row_step: int
    point_step: int
    byte_order: str

    @classmethod
    def of(cls, message: Any) -> _Layout:
        height, width, point_step = int(message.height), int(message.width), int(message.point_step)
        data = memoryview(message.data).cast("B")
        if height == 0 or width == 0 or len(data) == 0:
            raise CloudError("empty", f"no points: width {width}, height {height}, {len(data)} bytes")
        if point_step == 0:
            raise CloudError("layout", f"{width} x {height} points of 0 bytes")
        packed = width * point_step
        row_step = int(message.row_step)
        # Rows are packed where drivers leave row_step at 0, and where the bytes are just enough for it.
        if height == 1 or row_step < packed or len(data) == height * packed:
            row_step = packed
        needed = (height - 1) * row_step + packed
        if len(data) < needed:
            raise CloudError(
                "short_data", f"{len(data)} bytes where {width} x {height} points of {point_step} bytes need {needed}"
            )
        return cls(data, height, width, row_step, point_step, ">" if message.is_bigendian else "<")

    def column(self, field: Any) -> np.ndarray:
        """Values of a field as a strided (height, width) view of the message's bytes, in the field's type."""
        dtype = np.dtype(self.byte_order + _DATATYPES[field.datatype])
        if field.offset + dtype.itemsize > self.point_step:
            raise CloudError(
                "layout",
                f"field '{field.name}' ends at byte {field.offset + dtype.itemsize} "
                f"of points of {self.point_step} bytes",
            )
        shape, strides = (self.height, self.width), (self.row_step, self.point_step)
        return np.ndarray(shape, dtype, self.data, field.offset, strides)


def _read_xyz(layout: _Layout, fields: dict[str, Any]) -> np.ndarray:
    """(height * width, 3) float64."""
    missing = [name for name in "xyz" if name not in fields or fields[name].datatype not in _DATATYPES]
    if missing:
        present = ", ".join(fields) or "none"
        raise CloudError("no_xyz", f"no numeric field {', '.join(missing)}; the fields are: {present}")
    points = np.empty((layout.height, layout.width, 3))
    with np.errstate(invalid="ignore"):  # signalling NaN
        for axis, name in enumerate("xyz"):
            points[..., axis] = layout.column(fields[name])
    return points.reshape(-1, 3)


def _read_times(
    layout: _Layout, fields: dict[str, Any], stamp: float, keep: np.ndarray | None
) -> tuple[np.ndarray | None, str]:
    """(N,) seconds after the stamp and '', of the first usable time field; or None and the reason.

    An invalid time field costs the times, not the points.
    """
    known = {name: time_field(name) for name in fields}
    names = sorted((name for name in fields if known[name]), key=lambda name: known[name][0])
    reason = "no time field"
    for name in names:
        if fields[name].datatype not in _DATATYPES:
            continue
        try:
            column = layout.column(fields[name])
        except CloudError:
            continue
        values = column.astype(np.float64).reshape(-1)
        if keep is not None:
            values = values[keep]
        times, problem = times_from_stamp(values, stamp, column.dtype.kind in "iu", known[name][1])
        if times is not None:
            return times, ""
        reason = f"field '{name}': {problem}"
    return None, reason


def seconds(stamp: Any) -> float:
    """A builtin_interfaces/Time in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9
