"""sensor_msgs_py.point_cloud2: PointCloud2 messages to numpy and back."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured, unstructured_to_structured
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

DUMMY_FIELD_PREFIX = "unnamed_field"
_DATATYPES = {
    PointField.INT8: np.dtype(np.int8),
    PointField.UINT8: np.dtype(np.uint8),
    PointField.INT16: np.dtype(np.int16),
    PointField.UINT16: np.dtype(np.uint16),
    PointField.INT32: np.dtype(np.int32),
    PointField.UINT32: np.dtype(np.uint32),
    PointField.FLOAT32: np.dtype(np.float32),
    PointField.FLOAT64: np.dtype(np.float64),
}


def dtype_from_fields(
    fields: Iterable[PointField], point_step: int | None = None, is_bigendian: bool = False
) -> np.dtype:
    """The structured dtype of one point: fields at their offsets, `point_step` bytes in all."""
    order = ">" if is_bigendian else "<"
    names, formats, offsets = [], [], []
    for index, field in enumerate(fields):
        base = _DATATYPES[field.datatype].newbyteorder(order)
        names.append(field.name or f"{DUMMY_FIELD_PREFIX}_{index}")
        formats.append((base, (field.count,)) if field.count > 1 else base)
        offsets.append(field.offset)
    layout = {"names": names, "formats": formats, "offsets": offsets}
    if point_step is not None:
        layout["itemsize"] = point_step
    return np.dtype(layout)


def read_points(
    cloud: PointCloud2,
    field_names: list[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | np.ndarray | None = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """The points as a structured array (N,), a view of the message where nothing is filtered.

    uvs: row-major indices to keep. reshape_organized_cloud: (height, width) where height > 1.
    Raises AssertionError for a field that the cloud has not; TypeError or ValueError for too little data.
    """
    dtype = dtype_from_fields(cloud.fields, cloud.point_step, cloud.is_bigendian)
    points = np.ndarray(shape=(cloud.width * cloud.height,), dtype=dtype, buffer=cloud.data)
    if field_names is not None:
        missing = [name for name in field_names if name not in dtype.names]
        assert not missing, f"Requested fields {missing} are not among the fields {list(dtype.names)} of the cloud."
        points = points[list(field_names)]
    if skip_nans:
        kept = np.ones(len(points), dtype=bool)
        for name in points.dtype.names:
            values = points[name].reshape(len(points), -1)
            if values.dtype.kind == "f":
                kept &= ~np.isnan(values).any(axis=1)
        points = points[kept]
    if uvs is not None:
        points = points[np.asarray(uvs if isinstance(uvs, np.ndarray) else list(uvs))]
    if reshape_organized_cloud and cloud.height > 1:
        points = points.reshape(cloud.height, cloud.width)
    return points


def read_points_numpy(
    cloud: PointCloud2,
    field_names: list[str] | None = None,
    skip_nans: bool = False,
    uvs: Iterable[int] | np.ndarray | None = None,
    reshape_organized_cloud: bool = False,
) -> np.ndarray:
    """The points as an array (N, fields); all fields of the cloud have one type (AssertionError otherwise)."""
    assert len({field.datatype for field in cloud.fields}) <= 1, (
        "All fields need to have the same datatype. Use `read_points()` otherwise."
    )
    return structured_to_unstructured(read_points(cloud, field_names, skip_nans, uvs, reshape_organized_cloud))


def create_cloud(header: Header, fields: list[PointField], points: Iterable) -> PointCloud2:
    """A cloud of the points: a structured array with the fields' layout, or rows of values in the fields' order.

    points: (N,) structured, (N, fields), or (height, width, fields) for an organised cloud.
    """
    points = np.asarray(points)
    if points.dtype.names is None:
        if points.size == 0:
            points = points.reshape(0, len(fields))
        points = unstructured_to_structured(points, dtype=dtype_from_fields(fields))
    height, width = points.shape if points.ndim == 2 else (1, len(points))
    point_step = points.dtype.itemsize
    return PointCloud2(
        header=header,
        height=height,
        width=width,
        is_dense=False,
        is_bigendian=False,
        fields=fields,
        point_step=point_step,
        row_step=point_step * width,
        data=array("B", points.tobytes()),
    )


def create_cloud_xyz32(header: Header, points: Iterable) -> PointCloud2:
    """A cloud of points (N, 3), stored as float32."""
    fields = [
        PointField(name=name, offset=4 * index, datatype=PointField.FLOAT32, count=1)
        for index, name in enumerate("xyz")
    ]
    return create_cloud(header, fields, points)
