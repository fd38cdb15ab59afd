"""Clouds in every kind of file are read as they were written; damaged files raise an error with the reason."""

import os

import numpy as np
import pytest

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file, write_cloud_file
from prnet_core.io.pcd_files import decompress_lzf
from prnet_core.io.scan_folders import ScanFolder, depth_to_points

POINTS = np.array([[0.5, -1.25, 2.0], [6378137.123456, 4.0, -3.5], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("suffix", [".ply", ".npy", ".xyz"])
def test_written_clouds_come_back(tmp_path, suffix):
    path = tmp_path / f"cloud{suffix}"
    write_cloud_file(path, POINTS)
    np.testing.assert_allclose(read_cloud_file(path), POINTS, rtol=1e-8)


def pcd_header(data, fields="x y z intensity", size="4 4 4 4", kind="F F F F", count=3):
    ones = " ".join("1" for _ in fields.split())
    return (
        f"# .PCD v0.7\nVERSION 0.7\nFIELDS {fields}\nSIZE {size}\nTYPE {kind}\nCOUNT {ones}\nWIDTH {count}\n"
        f"HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA {data}\n"
    ).encode()


def test_pcd_ascii_with_fields_in_another_order(tmp_path):
    path = tmp_path / "a.pcd"
    rows = "\n".join(f"7 {z} {y} {x}" for x, y, z in POINTS)
    path.write_bytes(pcd_header("ascii", "intensity z y x") + rows.encode())
    np.testing.assert_allclose(read_cloud_file(path), POINTS)


def test_pcd_binary_with_mixed_types(tmp_path):
    path = tmp_path / "a.pcd"
    table = np.zeros(3, np.dtype([("ring", "<u2"), ("x", "<f8"), ("y", "<f4"), ("z", "<f4")]))
    table["x"], table["y"], table["z"] = POINTS.T
    path.write_bytes(pcd_header("binary", "ring x y z", "2 8 4 4", "U F F F") + table.tobytes())
    np.testing.assert_array_equal(read_cloud_file(path), POINTS)


def test_pcd_compressed(tmp_path):
    path = tmp_path / "a.pcd"
    raw = POINTS.astype("<f4").T.tobytes()
    literal = b"".join(bytes([len(part) - 1]) + part for part in (raw[:32], raw[32:]))
    block = np.array([len(literal), len(raw)], "<u4").tobytes() + literal
    path.write_bytes(pcd_header("binary_compressed", "x y z", "4 4 4", "F F F") + block)
    np.testing.assert_array_equal(read_cloud_file(path), POINTS.astype(np.float32))


def test_lzf_references_may_overlap_what_they_write():
    assert decompress_lzf(bytes([0, ord("a"), (7 << 5), 1, 0]), 11) == b"a" * 11
    with pytest.raises(ValueError, match="stated"):
        decompress_lzf(bytes([0, ord("a")]), 5)


@pytest.mark.parametrize("order", ["<", ">"])
def test_ply_binary_with_an_element_before_the_vertices(tmp_path, order):
    path = tmp_path / "a.ply"
    name = {"<": "little", ">": "big"}[order]
    header = (
        f"ply\nformat binary_{name}_endian 1.0\nelement camera 1\nproperty float f\nelement vertex 3\n"
        "property double x\nproperty double y\nproperty uchar red\nproperty double z\nelement face 0\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    table = np.zeros(3, np.dtype([("x", order + "f8"), ("y", order + "f8"), ("r", "u1"), ("z", order + "f8")]))
    table["x"], table["y"], table["z"] = POINTS.T
    path.write_bytes(header.encode() + np.array([1.0], order + "f4").tobytes() + table.tobytes())
    np.testing.assert_array_equal(read_cloud_file(path), POINTS)


@pytest.mark.parametrize("corners", [(3, 3, 3), (3, 4, 3), (0, 0, 0), ()])
def test_ply_binary_with_faces_before_the_vertices(tmp_path, corners):
    path = tmp_path / "a.ply"
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement face {len(corners)}\nproperty list uchar int vertex_indices\n"
        "element vertex 2\nproperty list uchar short tags\nproperty float x\nproperty float y\nproperty float z\n"
        "end_header\n"
    )
    faces = b"".join(bytes([number]) + np.arange(number, dtype="<i4").tobytes() for number in corners)
    vertices = b"\1\7\7" + np.array([1, 2, 3], "<f4").tobytes() + b"\0" + np.array([4, 5, 6], "<f4").tobytes()
    path.write_bytes(header.encode() + faces + vertices)
    assert read_cloud_file(path).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_ply_ascii(tmp_path):
    path = tmp_path / "a.ply"
    header = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
    path.write_text(header + "end_header\n1 2 3\n4 5 6\n")
    np.testing.assert_array_equal(read_cloud_file(path), [[1, 2, 3], [4, 5, 6]])


def test_kitti_bin_and_text_with_a_header(tmp_path):
    np.hstack([POINTS, np.ones((3, 1))]).astype("<f4").tofile(tmp_path / "a.bin")
    np.testing.assert_array_equal(read_cloud_file(tmp_path / "a.bin"), POINTS.astype(np.float32))
    (tmp_path / "a.csv").write_text("x,y,z,i\n1,2,3,9\n4,5,6,9\n")
    np.testing.assert_array_equal(read_cloud_file(tmp_path / "a.csv"), [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.ply", b"nothing", "no PLY header"),
        ("a.pcd", b"nothing", "no PCD header"),
        ("a.pcd", pcd_header("binary") + b"short", "need 48 bytes"),
        ("a.bin", b"12345", "rows of four float32"),
        ("a.xyz", b"hello\n", "no line with three numbers"),
        ("a.jpg", b"", "unknown kind"),
    ],
)
def test_broken_files_say_why(tmp_path, name, content, text):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CloudFileError, match=text) as caught:
        read_cloud_file(tmp_path / name)
    assert name in str(caught.value)


def test_a_folder_gives_scans_in_order_with_times_and_poses(tmp_path):
    (tmp_path / "scans").mkdir()
    for value in (1, 2):
        np.save(tmp_path / "scans" / f"s{value}.npy", np.full((4, 3), float(value)))
    (tmp_path / "scans.txt").write_text("s2\ns1\n")
    (tmp_path / "times.txt").write_text("10.0\n10.5\n")
    np.savetxt(tmp_path / "poses.txt", np.tile(np.eye(4)[:3].reshape(1, 12), (2, 1)))
    folder = ScanFolder(tmp_path)
    assert [scan[0, 0] for scan in folder] == [2.0, 1.0]
    np.testing.assert_array_equal(folder.stamps, [10.0, 10.5])
    np.testing.assert_array_equal(folder.poses[1], np.eye(4))


def test_a_folder_whose_files_disagree_says_so(tmp_path):
    with pytest.raises(CloudFileError, match="no scan"):
        ScanFolder(tmp_path)
    np.save(tmp_path / "a.npy", POINTS)
    (tmp_path / "times.txt").write_text("1\n2\n")
    with pytest.raises(CloudFileError, match="2 rows for 1 scans"):
        ScanFolder(tmp_path)


def test_depth_pixels_become_points():
    depth = np.zeros((4, 6), np.uint16)
    depth[1, 2] = 2000
    points = depth_to_points(depth, np.array([[2.0, 0, 1.0], [0, 4.0, 0.0], [0, 0, 1]]))
    np.testing.assert_allclose(points, [[1.0, 0.5, 2.0]])


def test_what_is_no_regular_file_is_refused(tmp_path):
    (tmp_path / "endless.ply").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.ply")
    for name in ("endless.ply", "pipe.ply"):
        with pytest.raises(CloudFileError, match="not a regular file"):
            read_cloud_file(tmp_path / name)
    (tmp_path / "circle.ply").symlink_to(tmp_path / "circle.ply")
    with pytest.raises(FileNotFoundError):
        read_cloud_file(tmp_path / "circle.ply")
