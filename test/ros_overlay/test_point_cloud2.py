"""sensor_msgs_py.point_cloud2: clouds to numpy and back."""

import numpy as np
import pytest

pytest.importorskip("rclpy")
point_cloud2 = pytest.importorskip("sensor_msgs_py.point_cloud2")

from sensor_msgs.msg import PointCloud2, PointField  # noqa: E402
from std_msgs.msg import Header  # noqa: E402


def field(name: str, offset: int, datatype: int) -> PointField:
    return PointField(name=name, offset=offset, datatype=datatype, count=1)


XYZ_AND_RING = [
    field("x", 0, PointField.FLOAT32),
    field("y", 4, PointField.FLOAT32),
    field("z", 8, PointField.FLOAT32),
    field("ring", 16, PointField.UINT16),
]


def padded_cloud(height: int = 1, width: int = 6) -> tuple[PointCloud2, np.ndarray]:
    """A cloud whose points are longer than their fields."""
    layout = np.dtype(
        {
            "names": ["x", "y", "z", "ring"],
            "formats": ["<f4"] * 3 + ["<u2"],
            "offsets": [0, 4, 8, 16],
            "itemsize": 32,
        }
    )
    points = np.zeros(height * width, dtype=layout)
    points["x"], points["y"], points["z"] = np.arange(3 * len(points), dtype=np.float32).reshape(3, -1)
    points["ring"] = np.arange(len(points))
    cloud = PointCloud2(height=height, width=width, fields=XYZ_AND_RING, point_step=32, row_step=32 * width)
    cloud.data = points.tobytes()
    return cloud, points


def test_padding_between_points_is_skipped():
    cloud, points = padded_cloud()
    read = point_cloud2.read_points(cloud)
    for name in ("x", "y", "z", "ring"):
        np.testing.assert_array_equal(read[name], points[name])


def test_only_the_requested_fields_are_read_as_numbers():
    cloud = point_cloud2.create_cloud_xyz32(Header(), [[1, 2, 3], [4, 5, 6]])
    read = point_cloud2.read_points_numpy(cloud, field_names=["z", "x"])
    np.testing.assert_array_equal(read, [[3, 1], [6, 4]])


def test_a_missing_field_is_named():
    cloud, _ = padded_cloud()
    with pytest.raises(AssertionError):
        point_cloud2.read_points(cloud, field_names=["x", "intensity"])


def test_xyz_goes_there_and_back():
    points = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    cloud = point_cloud2.create_cloud_xyz32(Header(frame_id="lidar"), points)
    assert (cloud.header.frame_id, cloud.width, cloud.height) == ("lidar", 100, 1)
    assert (cloud.point_step, cloud.row_step, len(cloud.data)) == (12, 1200, 1200)
    np.testing.assert_array_equal(point_cloud2.read_points_numpy(cloud), points)


def test_an_empty_cloud_goes_there_and_back():
    cloud = point_cloud2.create_cloud_xyz32(Header(), np.zeros((0, 3)))
    assert cloud.width == 0
    assert point_cloud2.read_points_numpy(cloud).shape == (0, 3)


def test_points_with_nan_are_left_out_when_asked():
    cloud = point_cloud2.create_cloud_xyz32(Header(), [[1, 2, 3], [np.nan, 0, 0], [4, 5, 6]])
    assert len(point_cloud2.read_points(cloud)) == 3
    np.testing.assert_array_equal(point_cloud2.read_points_numpy(cloud, skip_nans=True), [[1, 2, 3], [4, 5, 6]])


def test_an_organised_cloud_keeps_its_rows():
    cloud, points = padded_cloud(height=2, width=3)
    read = point_cloud2.read_points(cloud, field_names=["ring"], reshape_organized_cloud=True)
    np.testing.assert_array_equal(read["ring"], points["ring"].reshape(2, 3))
