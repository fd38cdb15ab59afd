"""Drives written by the script are read back with their stamps, point times and poses."""

import sys
from pathlib import Path

import numpy as np
import pytest

from prnet_core.io.bag_poses import ground_truth
from prnet_core.io.bags import open_bag
from prnet_core.io.scan_folders import ScanFolder

SCRIPTS = str(Path(__file__).resolve().parents[2] / "scripts")

pytest.importorskip("open3d", reason="open3d is not installed")
pytest.importorskip("rosbags", reason="rosbags is not installed")


def make(monkeypatch, out, *options):
    monkeypatch.setattr(sys, "path", [SCRIPTS, *sys.path])
    arguments = ["garage", "--sensor", "lidar16", "--scans", "3", "--out", str(out), *options]
    monkeypatch.setattr(sys, "argv", ["make_drives.py", *arguments])
    import make_drives

    make_drives.main()
    return out / "garage-lidar16-0", make_drives.make_drive("garage", "lidar16", 3)


def test_a_bag_holds_points_times_and_the_true_pose_of_each_scan(tmp_path, monkeypatch):
    path, drive = make(monkeypatch, tmp_path)
    with open_bag(path) as bag:
        scans, true_poses = list(bag.scans()), ground_truth(bag, "sensor")
    for scan, pose, expected in zip(scans, true_poses.poses, drive, strict=True):
        assert scan.stamp - scans[0].stamp == pytest.approx(expected.stamp, abs=1e-6)
        np.testing.assert_allclose(scan.cloud.points, expected.points)
        np.testing.assert_allclose(scan.cloud.times, expected.point_times, atol=1e-8)
        np.testing.assert_allclose(pose, expected.T_world_sensor, atol=1e-9)


def test_a_folder_is_read_as_a_scan_folder(tmp_path, monkeypatch):
    path, drive = make(monkeypatch, tmp_path, "--format", "folder")
    folder = ScanFolder(path)
    for index, expected in enumerate(drive):
        np.testing.assert_allclose(folder[index], expected.points)
        np.testing.assert_allclose(folder.poses[index], expected.T_world_sensor, atol=1e-8)
        assert folder.stamps[index] == pytest.approx(expected.stamp)
    assert (path / "scene.txt").read_text().strip() == "garage 0"
