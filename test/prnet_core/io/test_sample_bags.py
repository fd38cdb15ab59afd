"""The sample bags are what their README says, and their script makes them again."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import ground_truth, root_frame, static_transforms
from prnet_core.io.bags import POINT_CLOUD, open_bag

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "test" / "data"

pytest.importorskip("rosbags", reason="rosbags is not installed")


def test_all_is_small():
    assert sum(file.stat().st_size for file in DATA.rglob("*")) < 8e6


@pytest.mark.parametrize("name, number", [("lidar_walk", 64), ("depth_walk", 16)])
def test_simulated_bag_has_ground_truth_and_extrinsics_for_every_scan(name, number):
    with open_bag(DATA / name) as bag:
        scans = list(bag.scans())
        frame = scans[0].frame_id
        true_poses = ground_truth(bag, frame)
        assert root_frame(static_transforms(bag), frame) == "base_link"
    assert len(scans) == number
    np.testing.assert_allclose([scan.stamp for scan in scans], true_poses.stamps, atol=1e-6)


def test_lidar_points_lie_on_the_floor_once_the_motion_is_undone():
    """Ground truth, extrinsics and point times agree: the floor is where z = 0, to the noise, over the whole sweep."""
    heights = []
    with open_bag(DATA / "lidar_walk") as bag:
        true_poses = ground_truth(bag, "lidar")
        for index, scan in enumerate(list(bag.scans())[:-1]):
            pose, following = true_poses.poses[index : index + 2]
            twist = se3.log(se3.invert(pose) @ following) / (true_poses.stamps[index + 1] - true_poses.stamps[index])
            assert scan.cloud.times.min() >= 0.0 and 0.09 < scan.cloud.times.max() < 0.1
            late = scan.cloud.times > 0.08
            placed = np.array([
                se3.apply(pose @ se3.exp(twist * time), point[None])[0]
                for time, point in zip(scan.cloud.times[late][::40], scan.cloud.points[late][::40], strict=True)
            ])  # fmt: skip
            heights.append(placed[placed[:, 2] < 0.12, 2])
    heights = np.concatenate(heights)
    assert len(heights) > 200
    assert abs(np.median(heights)) < 0.01
    assert np.percentile(np.abs(heights), 90) < 0.05


@pytest.mark.parametrize("name, number, shape", [("depth_walk", 16, (120, 160)), ("kinect", 3, (240, 320))])
def test_depth_frames_are_organised_with_nan(name, number, shape):
    with open_bag(DATA / name) as bag:
        clouds = [bag.decode(message) for message in bag.raw_messages() if message.msgtype == POINT_CLOUD]
        scans = list(bag.scans())
    assert len(clouds) == number
    assert all((cloud.height, cloud.width) == shape and not cloud.is_dense for cloud in clouds)
    assert all(scan.cloud.num_dropped > 0.05 * shape[0] * shape[1] for scan in scans)
    assert all(len(scan.cloud.points) > 0.4 * shape[0] * shape[1] for scan in scans)


def test_script_makes_the_same_bags_again(tmp_path, monkeypatch):
    pytest.importorskip("open3d", reason="open3d is not installed")
    monkeypatch.setattr(sys, "path", [str(ROOT / "test" / "sample_data"), *sys.path])
    import make_sample_data

    make_sample_data.make_lidar_walk(tmp_path / "lidar_walk", num_scans=2)
    make_sample_data.make_depth_walk(tmp_path / "depth_walk", num_frames=2)
    for name in ("lidar_walk", "depth_walk"):
        with open_bag(tmp_path / name) as made, open_bag(DATA / name) as kept:
            for again, before in zip(made.scans(), kept.scans(), strict=False):
                assert again.stamp == before.stamp
                # To the last bit on one machine; ray casting on another kind of CPU may round a few points otherwise.
                distances, _ = cKDTree(before.cloud.points).query(again.cloud.points)
                assert np.mean(distances > 0.002) < 0.01
