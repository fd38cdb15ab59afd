"""Pairs of real scans with their ground truth pose, and pairs of different places, for the registration benchmarks.

The scans lie beside the checkout in ../shared/data/scans and are not part of the repository.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.io.scan_folders import ScanFolder

SCANS = Path(__file__).resolve().parents[2] / "shared" / "data" / "scans"
BUNNY_TOLERANCE = (5.0, 0.01)
ROOM_TOLERANCE = (2.0, 0.3)


@dataclass(frozen=True)
class Pair:
    """T_target_source: (4, 4), or None for clouds of different places. tolerance: degrees and metres.

    is_scan: each cloud is one scan in its sensor's frame, not an object or several scans fused.
    """

    name: str
    source: np.ndarray
    target: np.ndarray
    T_target_source: np.ndarray | None
    tolerance: tuple[float, float]
    is_scan: bool = False

    def errors(self, estimate: np.ndarray) -> tuple[float, float]:
        """Rotation error in degrees, and the distance of the centre of the source from its true place, in metres."""
        error = se3.invert(self.T_target_source) @ estimate
        centre = self.source.mean(axis=0)
        distance = np.linalg.norm(se3.apply(error, centre[None])[0] - centre)
        return float(np.degrees(se3.rotation_angle(error[:3, :3]))), float(distance)

    def is_correct(self, estimate: np.ndarray) -> bool:
        """Within the tolerance; never for a pair of different places."""
        if self.T_target_source is None:
            return False
        degrees, metres = self.errors(estimate)
        return degrees < self.tolerance[0] and metres < self.tolerance[1]


def pairs_of(
    folder: str, indices: list[tuple[int, int]], tolerance: tuple[float, float], is_scan: bool = True
) -> Iterator[Pair]:
    """Pairs (target, source) of a folder's scans by index."""
    scans = ScanFolder(SCANS / folder)
    for target, source in indices:
        T_target_source = se3.invert(scans.poses[target]) @ scans.poses[source]
        name = f"{folder} {scans.files[target].stem} <- {scans.files[source].stem}"
        yield Pair(name, scans[source], scans[target], T_target_source, tolerance, is_scan)


def bunny_pairs(min_overlap: float = 0.3, max_overlap: float = 1.0) -> Iterator[Pair]:
    """The Stanford range scans whose overlap is within the limits in both directions."""
    names = [file.stem for file in ScanFolder(SCANS / "bunny").files]
    with open(SCANS / "bunny" / "pairs.csv", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file)]
    wanted = [
        (names.index(row["target"]), names.index(row["source"]))
        for row in rows
        if min_overlap < min(float(row["ov_ba"]), float(row["ov_ab"])) <= max_overlap
    ]
    return pairs_of("bunny", wanted, BUNNY_TOLERANCE, is_scan=False)


def lidar_pairs(apart: int, stride: int = 6, first: int = 0) -> Iterator[Pair]:
    """Scans of the handheld LiDAR `apart` from each other, every `stride`-th."""
    count = len(ScanFolder(SCANS / "lidar_hilti" / "part_a"))
    indices = [(i, i + apart) for i in range(first, count - apart, stride)]
    return pairs_of("lidar_hilti/part_a", indices, ROOM_TOLERANCE)


def rotated(pairs: Iterator[Pair], max_degrees: float, seed: int = 0) -> Iterator[Pair]:
    """The pairs with each source rotated about its centre: a random axis, an angle uniform up to max_degrees."""
    rng = np.random.default_rng(seed)
    for pair in pairs:
        axis = rng.normal(size=3)
        angle = rng.uniform(0.0, np.radians(max_degrees))
        rotation = se3.rotation_exp(axis / np.linalg.norm(axis) * angle)
        centre = pair.source.mean(axis=0)
        about_centre = se3.make_transform(rotation, centre - rotation @ centre)
        yield Pair(
            f"{pair.name} rotated {np.degrees(angle):.0f} deg",
            se3.apply(about_centre, pair.source),
            pair.target,
            pair.T_target_source @ se3.invert(about_centre),
            pair.tolerance,
        )


def other_scan_pairs() -> Iterator[Pair]:
    """Street, car, room and depth camera pairs."""
    yield from pairs_of("driving/kitti_odom07", [(0, 1), (1, 2), (0, 2)], ROOM_TOLERANCE)
    yield from pairs_of("libpointmatcher/icp_tutorial_0_1", [(0, 1)], ROOM_TOLERANCE)
    yield from pairs_of("libpointmatcher/pointmatcher_car_400_401", [(0, 1)], ROOM_TOLERANCE)
    yield from pairs_of("libpointmatcher/pointmatcher_cloud_0_2", [(0, 1), (1, 2), (0, 2)], ROOM_TOLERANCE)
    kinect = [(i, i + step) for step in (1, 5, 10, 20) for i in range(0, 49 - step, 12)]
    yield from pairs_of("rgbd/kinect_50", kinect, (2.0, 0.1))


def single_scans() -> dict[str, np.ndarray]:
    """One scan of each place."""
    lidar = ScanFolder(SCANS / "lidar_hilti" / "part_a")
    kinect = ScanFolder(SCANS / "rgbd" / "kinect_50")
    raw = SCANS / "multibrand_single"
    return {
        "lidar_room": lidar[0],
        "kinect_room": kinect[0],
        "kitti": ScanFolder(SCANS / "driving" / "kitti_odom07")[0],
        "tutorial_room": ScanFolder(SCANS / "libpointmatcher" / "icp_tutorial_0_1")[0],
        "car": ScanFolder(SCANS / "libpointmatcher" / "pointmatcher_car_400_401")[0],
        "bunny": ScanFolder(SCANS / "bunny")[0],
        "hesai": read_cloud_file(raw / "hesai_xt32m.pcd"),
        "velodyne": read_cloud_file(raw / "velodyne_vlp16.pcd"),
        "parked": read_cloud_file(raw / "pjlab_static_468.pcd"),
    }


def different_places() -> Iterator[Pair]:
    """Every two scans of different places, as they are and scaled to one size (which is harder to distinguish)."""
    scans = single_scans()
    for source_name, source in scans.items():
        for target_name, target in scans.items():
            if source_name == target_name:
                continue
            yield Pair(f"{source_name} on {target_name}", source, target, None, ROOM_TOLERANCE)
            scale = size(target) / size(source)
            yield Pair(f"{source_name} on {target_name}, one size", source * scale, target, None, ROOM_TOLERANCE)


def size(points: np.ndarray) -> float:
    """Median distance from the median point."""
    points = points[np.isfinite(points).all(axis=1)]
    return float(np.median(np.linalg.norm(points - np.median(points, axis=0), axis=1)))


def shape_views(num_pairs: int, seed: int = 0) -> Iterator[Pair]:
    """Partial views of two different objects of ../shared/data/shapes, in one size: no transform is correct."""
    file = SCANS.parent / "shapes" / "modelnet40.npz"
    with np.load(file, allow_pickle=False) as archive:
        points, classes = archive["points"], archive["classes"]
    rng = np.random.default_rng(seed)
    for number in range(num_pairs):
        first, second = rng.choice(len(points), 2, replace=False)
        while classes[first] == classes[second]:
            second = rng.integers(len(points))
        views = []
        for index in (first, second):
            cloud = points[index].astype(np.float64) @ se3.rotation_exp(rng.normal(size=3)).T
            views.append(cloud[np.argsort(cloud @ rng.normal(size=3))[: len(cloud) * 3 // 4]])
        yield Pair(f"shapes {number}", *views, None, ROOM_TOLERANCE)
