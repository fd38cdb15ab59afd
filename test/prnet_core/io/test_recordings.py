"""Folders with damaged items are read without them; the order is the natural one."""

import logging

import numpy as np
import pytest

from prnet_core.io.cloud_files import CloudFileError
from prnet_core.io.recordings import FolderScans, GroundTruthFile, open_scans
from prnet_core.io.scan_folders import ScanFolder

POINTS = np.arange(12.0).reshape(4, 3)


def save(folder, *names):
    """A cloud for each name, whose first coordinate is its place in `names`."""
    for index, name in enumerate(names):
        np.save(folder / f"{name}.npy", POINTS + index)
    return folder


@pytest.mark.parametrize(
    "names",
    [
        ("scan_1", "scan_2", "scan_10", "scan_100"),
        ("1", "2", "10"),
        ("a2_b9", "a2_b10", "a10_b1"),
        ("000998", "000999", "001000"),
        ("0.9", "1.5", "10.1"),
        ("scan", "scan1", "scan02"),
        ("Scan_1", "scan_2", "SCAN_3"),
        ("0.05", "0.1", "0.15", "0.2", "1.0"),  # stamps with their shortest digits
        ("1305031102.175304", "1305031102.2", "1305031103.05"),
        ("v1.9", "v1.10", "v1.11"),
    ],
)
def test_the_natural_order_of_names(tmp_path, names):
    save(tmp_path, *names)
    assert [scan[0, 0] for scan in ScanFolder(tmp_path)] == list(range(len(names)))


def test_names_in_scans_txt_by_other_editors(tmp_path):
    save(tmp_path, "my scan 2", "höhe 1", "c")
    names = ["c.npy", "höhe 1.npy", "my scan 2"]
    (tmp_path / "scans.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(names).encode() + b"\r\n")
    assert [scan[0, 0] for scan in ScanFolder(tmp_path)] == [2, 1, 0]
    (tmp_path / "scans.txt").write_text("c\nmissing\n")
    with pytest.raises(CloudFileError, match="missing"):
        ScanFolder(tmp_path)


@pytest.mark.parametrize("unit, name", [(1e-9, "nanoseconds"), (1e-6, "microseconds"), (1e-3, "milliseconds")])
def test_unix_times_in_other_units(tmp_path, caplog, unit, name):
    save(tmp_path, "1", "2", "3")
    stamps = np.array([1.7e9, 1.7e9 + 0.1, 1.7e9 + 0.2])
    rows = "".join(f"{round(stamp / unit)}\r\n" for stamp in stamps)
    (tmp_path / "times.txt").write_bytes(b"\xef\xbb\xbf" + rows.encode())
    np.testing.assert_allclose(ScanFolder(tmp_path).stamps, stamps, rtol=0, atol=1e-3)
    assert name in caplog.text
    (tmp_path / "times.txt").write_text("1 2\n3 4\n5 6\n")
    with pytest.raises(CloudFileError, match="a line has 2 numbers"):
        ScanFolder(tmp_path)


def test_hidden_files_and_folders_are_no_scans(tmp_path):
    save(tmp_path, "1", "2")
    (tmp_path / "._1.npy").write_bytes(b"resource fork")
    (tmp_path / "3.npy").mkdir()
    assert len(ScanFolder(tmp_path)) == 2


def test_one_scan_in_two_kinds_of_file_is_taken_once(tmp_path, caplog):
    save(tmp_path, "1", "2")
    (tmp_path / "1.csv").write_text("9,9,9\n")
    assert [file.name for file in ScanFolder(tmp_path).files] == ["1.npy", "2.npy"]
    assert "1 files are left out" in caplog.text


@pytest.mark.parametrize(
    "name, content",
    [
        ("2.npy", b""),
        ("2.npy", b"this is no array"),
        ("2.ply", b"ply\nformat ascii 1.0\n"),
        ("2.pcd", b""),
        ("2.las", b"LASF"),
        ("2.csv", b"range,azimuth\n1,2\n"),
    ],
)
def test_a_damaged_file_is_skipped_counted_and_named(tmp_path, caplog, name, content):
    save(tmp_path, "1", "3")
    (tmp_path / name).write_bytes(content)
    np.savetxt(tmp_path / "times.txt", [10.0, 20.0, 30.0])
    scans = open_scans(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert [scan.stamp for scan in scans] == [10.0, 30.0]
    assert dict(scans.skipped) == {"not readable": 1}
    assert str(tmp_path / name) in caplog.text
    np.testing.assert_array_equal(scans.stamps, [10.0, np.nan, 30.0])


def test_nothing_left_is_an_error_that_counts(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.npy").write_bytes(b"")
    with pytest.raises(CloudFileError, match="no scan can be read: 3 not readable"):
        list(open_scans(tmp_path))


def test_a_stamp_that_is_not_finite_costs_its_scan(tmp_path):
    save(tmp_path, "1", "2", "3")
    (tmp_path / "times.txt").write_text("1\nnan\n3\n")
    scans = FolderScans(tmp_path)
    assert [scan.stamp for scan in scans] == [1.0, 3.0]
    assert dict(scans.skipped) == {"without a finite stamp": 1}


@pytest.mark.parametrize("text", ["1 0 0\n", "words\n", "", "1 0 0 0 0 1 0 0 0 0 1 0\n" * 3])
def test_poses_that_do_not_fit_cost_only_the_comparison(tmp_path, caplog, text):
    save(tmp_path, "1", "2")
    (tmp_path / "poses.txt").write_text(text)
    scans = FolderScans(tmp_path)
    assert scans.ground_truth is None and len(list(scans)) == 2
    assert "poses.txt" in caplog.text


def test_a_pose_that_is_not_finite_is_left_out_of_the_comparison(tmp_path):
    save(tmp_path, "1", "2")
    (tmp_path / "poses.txt").write_text("1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 nan 0 1 0 0 0 0 1 0\n")
    np.testing.assert_array_equal(FolderScans(tmp_path).ground_truth.stamps, [0.0])


def test_a_damaged_depth_image_is_skipped(tmp_path):
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "depth").mkdir()
    np.savetxt(tmp_path / "intrinsics.txt", [[2.0, 0, 1], [0, 2.0, 1], [0, 0, 1]])
    for name, array in (("1", np.full((3, 3), 1000, np.uint16)), ("2", np.zeros((3, 3, 3), np.uint8))):
        image.fromarray(array).save(tmp_path / "depth" / f"{name}.png")
    (tmp_path / "depth" / "3.png").write_bytes(b"\x89PNG and no more")
    scans = FolderScans(tmp_path)
    assert len(list(scans)) == 1 and scans.skipped["not readable"] == 2
    (tmp_path / "intrinsics.txt").write_text("1 2 3\n")
    with pytest.raises(CloudFileError, match="intrinsics.txt"):
        FolderScans(tmp_path)


def test_ground_truth_lines_without_a_rotation_are_left_out(tmp_path, caplog):
    file = tmp_path / "a.tum"
    file.write_text("# t x y z qx qy qz qw\n1 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 0\n3 nan 0 0 0 0 0 1\n4 1 0 0 0 0 0 2\n")
    np.testing.assert_array_equal(GroundTruthFile(file).for_scans([]).stamps, [1.0, 4.0])
    assert "2 of 4 poses" in caplog.text
    for text in ("", "1 2 3\n", "1 0 0 0 0 0 0 0\n", "a b c d e f g h\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match="a.tum"):
            GroundTruthFile(file)


def test_kitti_rows_belong_to_the_files_also_to_a_skipped_one(tmp_path):
    save(tmp_path, "1", "2", "3")
    (tmp_path / "2.npy").write_bytes(b"")
    (tmp_path / "truth.txt").write_text("".join(f"1 0 0 {i} 0 1 0 0 0 0 1 0\n" for i in range(3)))
    scans = FolderScans(tmp_path)
    list(scans)
    true_poses = GroundTruthFile(tmp_path / "truth.txt").for_scans(scans.stamps)
    np.testing.assert_allclose(true_poses.stamps, [0.0, 0.2])
    np.testing.assert_array_equal(true_poses.poses[:, 0, 3], [0.0, 2.0])
