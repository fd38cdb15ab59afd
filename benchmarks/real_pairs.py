"""Labelled pairs of real scans for the verification benchmark, and of the sample bags of test/data."""

import csv
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
from labelled_pair import ORIGIN, Pair
from registration_data import SCANS
from scipy.spatial.transform import Rotation, Slerp

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import ground_truth
from prnet_core.io.bags import open_bag
from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.io.scan_folders import ScanFolder

SAMPLES = Path(__file__).resolve().parents[1] / "test" / "data"


def real_scans() -> list[tuple[str, str, np.ndarray]]:
    """One scan of each real place."""
    raw = SCANS / "multibrand_single"
    names = {
        "hesai": raw / "hesai_xt32m.pcd",
        "velodyne": raw / "velodyne_vlp16.pcd",
        "parked": raw / "pjlab_static_468.pcd",
    }
    folders = (
        "lidar_hilti/part_a",
        "rgbd/kinect_50",
        "driving/kitti_odom07",
        "libpointmatcher/icp_tutorial_0_1",
    )
    scans = [(name, name, read_cloud_file(file)) for name, file in names.items()]
    scans += [(folder, folder, ScanFolder(SCANS / folder)[0]) for folder in folders]
    return [(group, name, points[np.isfinite(points).all(axis=1)]) for group, name, points in scans]


def _folder_pairs(
    group: str,
    folder: str,
    indices: list[tuple[int, int]],
    tolerance: tuple[float, float] = (2.0, 0.3),
    has_origin: bool = True,
) -> Iterator[Pair]:
    """Pairs (target, source) of a folder's scans."""
    scans = ScanFolder(SCANS / folder)
    origin = ORIGIN if has_origin else None
    for target, source in indices:
        relative = se3.invert(scans.poses[target]) @ scans.poses[source]
        yield Pair(group, folder, scans[source], scans[target], relative, origin, origin, tolerance)


def _listed_pairs(folder: str, min_overlap: float) -> list[tuple[int, int]]:
    """Indices (target, source) of pairs.csv with at least this overlap in both directions."""
    names = [file.stem for file in ScanFolder(SCANS / folder).files]
    with open(SCANS / folder / "pairs.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return [
        (names.index(row["target"]), names.index(row["source"]))
        for row in rows
        if min(float(row["ov_ba"]), float(row["ov_ab"])) > min_overlap
    ]


def _handheld_lidar() -> Iterator[Pair]:
    count = len(ScanFolder(SCANS / "lidar_hilti/part_a"))
    indices = [(i, i + apart) for apart in (1, 3, 6) for i in range(0, count - apart, 6)]
    return _folder_pairs("handheld LiDAR", "lidar_hilti/part_a", indices)


def _kinect() -> Iterator[Pair]:
    indices = [(i, i + apart) for apart in (1, 5, 10, 20) for i in range(0, 49 - apart, 6)]
    return _folder_pairs("Kinect", "rgbd/kinect_50", indices, (2.0, 0.1))


def _fragments() -> Iterator[Pair]:
    folder = "rgbd/fragments_00_09"
    return _folder_pairs("fragments", folder, _listed_pairs(folder, 0.3), (5.0, 0.3), has_origin=False)


def _kitti() -> Iterator[Pair]:
    yield from _folder_pairs("KITTI", "driving/kitti_odom07", [(0, 1), (1, 2), (0, 2)])
    folder = SCANS / "driving" / "kitti_10m"
    for file in sorted(folder.glob("*_T_target_source.txt")):
        name = file.name.split("_")[0]
        source, target = (np.load(folder / f"{name}_{side}.npy")[:, :3] for side in ("source", "target"))
        yield Pair("KITTI", "driving/kitti_10m", source, target, np.loadtxt(file), ORIGIN, ORIGIN, (5.0, 1.0))


def _libpointmatcher() -> Iterator[Pair]:
    folders = {"icp_tutorial_0_1": 2, "pointmatcher_car_400_401": 2, "pointmatcher_cloud_0_2": 3}
    for name, count in folders.items():
        indices = list(combinations(range(count), 2))
        yield from _folder_pairs("libpointmatcher", f"libpointmatcher/{name}", indices)


def _bunny() -> Iterator[Pair]:
    return _folder_pairs("bunny", "bunny", _listed_pairs("bunny", 0.4), (5.0, 0.01), has_origin=False)


def _sample_bag(name: str, group: str, steps: tuple[int, ...]) -> Iterator[Pair]:
    """Pairs of the bag's scans `steps` apart, deskewed with the true poses where points have times."""
    with open_bag(SAMPLES / name) as bag:
        scans = list(bag.scans())
        poses = ground_truth(bag, scans[0].frame_id)
    clouds = [
        deskewed(scan.cloud.points, scan.stamp, scan.cloud.times, poses.stamps, poses.poses) for scan in scans[:-1]
    ]
    for step in steps:
        for first in range(0, len(clouds) - step, 6 if len(clouds) > 30 else 2):
            relative = se3.invert(poses.poses[first]) @ poses.poses[first + step]
            yield Pair(group, name, clouds[first + step], clouds[first], relative, ORIGIN, ORIGIN)


def deskewed(
    points: np.ndarray, stamp: float, times: np.ndarray | None, stamps: np.ndarray, poses: np.ndarray
) -> np.ndarray:
    """Points (N, 3) brought to the sensor's frame at the stamp, by the poses (K, 4, 4) at `stamps` (K,)."""
    if times is None:
        return points
    rotations = Slerp(stamps, Rotation.from_matrix(poses[:, :3, :3]))
    moments = np.clip(stamp + times, stamps[0], stamps[-1])
    place = np.stack([np.interp(moments, stamps, poses[:, axis, 3]) for axis in range(3)], axis=1)
    at_stamp = poses[np.searchsorted(stamps, stamp - 1e-6)]
    return se3.apply(se3.invert(at_stamp), rotations(moments).apply(points) + place)


REAL_PAIRS = {
    "handheld LiDAR": _handheld_lidar,
    "Kinect": _kinect,
    "fragments": _fragments,
    "KITTI": _kitti,
    "libpointmatcher": _libpointmatcher,
    "bunny": _bunny,
    "sample LiDAR": lambda: _sample_bag("lidar_walk", "sample LiDAR", (1, 4)),
    "sample camera": lambda: _sample_bag("depth_walk", "sample camera", (1, 3)),
}
