"""Real pairs with little overlap or far apart: fragments, handheld LiDAR by overlap, a car's LiDAR, a depth camera.

The scans lie beside the checkout in ../shared/data/scans and are for measuring only: nothing is trained on them.
"""

import csv
from collections.abc import Iterator

import numpy as np
from registration_data import SCANS, Pair, pairs_of

from prnet_core.geometry import se3
from prnet_core.geometry.overlap import mutual_overlap
from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.io.scan_folders import ScanFolder

FRAGMENTS, LIDAR, CAMERA = "rgbd/fragments_00_09", "lidar_hilti/part_a", "rgbd/kinect_50"
FRAGMENT_TOLERANCE, LIDAR_TOLERANCE = (15.0, 0.3), (5.0, 1.0)
STREET_TOLERANCE, CAMERA_TOLERANCE = (5.0, 2.0), (2.0, 0.1)
LIDAR_STEPS, CAMERA_STEPS = (4, 7, 10, 14, 18, 24, 30, 40), (5, 10, 15, 20, 25, 30)
MOST_PAIRS = 24


def fragment_pairs(min_overlap: float, max_overlap: float = 1.0) -> Iterator[Pair]:
    """Pairs of the fragments whose smaller overlap lies in (min_overlap, max_overlap]."""
    names = [file.stem for file in ScanFolder(SCANS / FRAGMENTS).files]
    with open(SCANS / FRAGMENTS / "pairs.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    wanted = [
        (names.index(row["target"]), names.index(row["source"]))
        for row in rows
        if min_overlap < min(float(row["ov_ba"]), float(row["ov_ab"])) <= max_overlap
    ]
    return pairs_of(FRAGMENTS, wanted, FRAGMENT_TOLERANCE, is_scan=False)


def lidar_pairs_by_overlap(min_overlap: float, max_overlap: float) -> Iterator[Pair]:
    """At most 24 pairs of the handheld LiDAR, 4 to 40 scans apart, spread over the walk."""
    return _by_overlap(LIDAR, LIDAR_STEPS, 0.2, min_overlap, max_overlap, LIDAR_TOLERANCE)


def camera_pairs(min_overlap: float = 0.5, max_overlap: float = 1.0) -> Iterator[Pair]:
    """At most 24 pairs of the table-top depth camera's single frames, 5 to 30 frames apart."""
    return _by_overlap(CAMERA, CAMERA_STEPS, 0.03, min_overlap, max_overlap, CAMERA_TOLERANCE)


def street_pairs() -> Iterator[Pair]:
    """A car's LiDAR 10 m apart."""
    folder = SCANS / "driving" / "kitti_10m"
    for file in sorted(folder.glob("*_source.npy")):
        number = file.name.split("_")[0]
        T = np.loadtxt(folder / f"{number}_T_target_source.txt").reshape(-1, 4)
        T = np.vstack([T[:3], [0.0, 0.0, 0.0, 1.0]])
        clouds = [np.load(folder / f"{number}_{side}.npy")[:, :3] for side in ("source", "target")]
        yield Pair(f"kitti_10m {number}", *clouds, T, STREET_TOLERANCE, is_scan=True)


def rotated_at_random(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """The pairs with each source rotated about its frame's origin, uniformly over all rotations."""
    for number, pair in enumerate(pairs):
        turn = np.eye(4)
        turn[:3, :3] = any_rotation(np.random.default_rng(number))
        source = se3.apply(turn, pair.source[:, :3].astype(np.float64))
        ground_truth = pair.T_target_source @ se3.invert(turn)
        yield Pair(f"{pair.name} rotated", source, pair.target, ground_truth, pair.tolerance, pair.is_scan)


def _by_overlap(
    folder: str, steps: tuple[int, ...], voxel: float, low: float, high: float, tolerance: tuple[float, float]
) -> Iterator[Pair]:
    scans, by_index = ScanFolder(SCANS / folder), {}

    def downsampled(index: int) -> np.ndarray:
        if index not in by_index:
            points = scans[index][:, :3]
            by_index[index] = voxel_centroids(points[np.isfinite(points).all(axis=1)].astype(np.float64), voxel)
        return by_index[index]

    candidates = [(i, i + step) for i in range(0, len(scans), 3) for step in steps if i + step < len(scans)]
    order, chosen = np.random.default_rng(0).permutation(len(candidates)), []
    for target, source in (candidates[i] for i in order):
        ground_truth = se3.invert(scans.poses[target]) @ scans.poses[source]
        clouds = se3.apply(ground_truth, downsampled(source)), downsampled(target)
        if low < mutual_overlap(*clouds, 1.5 * voxel) <= high:
            chosen.append((target, source))
        if len(chosen) == MOST_PAIRS:
            break
    return pairs_of(folder, chosen, tolerance)
