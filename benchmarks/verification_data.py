"""Labelled pairs of scans for the verification benchmark: several groups, each of several recordings.

Simulated groups are generated on the fly, the same for the same seed. Real scans lie in ../shared/data/scans; a group
whose scans are not there is left out. `pairs()` yields pairs of one place with their relative pose, and
`different_places()` pairs without a correct answer.
"""

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from registration_data import SCANS
from scipy.spatial.transform import Rotation, Slerp
from simulated_pairs import (
    SURVEYS,
    corridor_pairs,
    room_pairs,
    room_scan,
    single_scans,
    survey_pairs,
    twin_rooms,
)

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import ground_truth
from prnet_core.io.bags import open_bag
from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.simulation.two_scans import room_pair

SAMPLES = Path(__file__).resolve().parents[1] / "test" / "data"
ORIGIN = np.zeros(3)
SIMULATED = ("rooms", "corridors", "twins", *SURVEYS)
REAL = (
    "handheld LiDAR",
    "Kinect",
    "fragments",
    "KITTI",
    "libpointmatcher",
    "bunny",
    "sample LiDAR",
    "sample camera",
)


@dataclass(frozen=True)
class Pair:
    """Two scans (N, 3), (M, 3) in metres.

    T_target_source (4, 4) takes the source into the target's frame; None for different places. The origins (3,) are the
    sensors' in their clouds' frames, None where there is no single one. `group` is the kind of place and sensor;
    scans of one `recording` share a place, a day and a sensor. tolerance: degrees and metres of a correct answer.
    """

    group: str
    recording: str
    source_points: np.ndarray
    target_points: np.ndarray
    T_target_source: np.ndarray | None
    source_origin: np.ndarray | None = None
    target_origin: np.ndarray | None = None
    tolerance: tuple[float, float] = (2.0, 0.3)

    def errors(self, estimate: np.ndarray) -> tuple[float, float]:
        """Rotation error in degrees, and how far off the centre of the source lands, in metres; infinite for different
        places."""
        if self.T_target_source is None:
            return np.inf, np.inf
        error = se3.invert(self.T_target_source) @ estimate
        centre = self.source_points.mean(axis=0)
        distance = np.linalg.norm(se3.apply(error, centre[None])[0] - centre)
        return float(np.degrees(se3.rotation_angle(error[:3, :3]))), float(distance)

    def is_correct(self, estimate: np.ndarray) -> bool:
        """Within the tolerance; never for different places."""
        degrees, metres = self.errors(estimate)
        return degrees < self.tolerance[0] and metres < self.tolerance[1]


def available_groups() -> list[str]:
    """Names of the groups whose data are here."""
    return [*SIMULATED, *(group for group in REAL if group.startswith("sample") or SCANS.is_dir())]


def pairs(group: str, seed: int = 0) -> Iterator[Pair]:
    """The pairs of one place of a group. Raises KeyError for an unknown group."""
    if group == "twins":
        return twin_pairs(seed)
    if group in SIMULATED:
        made = {"rooms": room_pairs, "corridors": corridor_pairs}
        scans = made[group](seed) if group in made else survey_pairs(group, seed)
        tolerance = (3.0, 0.05) if group == "table top" else (2.0, 0.3)
        return (
            Pair(group, s.scene, s.source, s.target, s.T_target_source, ORIGIN, ORIGIN, tolerance)
            for s in scans
        )
    return _REAL_PAIRS[group]()


def twin_pairs(seed: int = 0, same_room: bool = True) -> Iterator[Pair]:
    """Scans of the eight equal rooms of a building: two of the same room (16 pairs), or of two of them (28 pairs).

    The latter have no correct answer though the rooms' insides agree: only what is seen through the doors differs.
    """
    scene, twins, _ = twin_rooms(seed)
    rng = np.random.default_rng([seed, 50])
    rooms = [(i, i) for i in range(len(twins)) for _ in range(2)]
    for first, second in rooms if same_room else combinations(range(len(twins)), 2):
        target, T_world_target = room_scan(scene, twins[first], rng)
        source, T_world_source = room_scan(scene, twins[second], rng)
        relative = se3.invert(T_world_target) @ T_world_source if same_room else None
        yield Pair("twins", f"twins {seed}", source, target, relative, ORIGIN, ORIGIN)


def different_places(seed: int = 0, simulated_only: bool = False) -> Iterator[Pair]:
    """Pairs of different places, at least 300: within a recording, across recordings of a group, across groups.

    Twin rooms are not among them (see `twin_pairs`).
    """
    rng = np.random.default_rng([seed, 51])
    everything: list[tuple[str, str, np.ndarray]] = []
    for group in SURVEYS:
        recordings = list(single_scans(group, 2, seed))
        everything += [(group, name, scan) for name, scans in recordings for scan in scans]
        if group not in (
            "table top",
            "depth camera",
        ):  # one table; cameras of an office may see the same corridor
            for name, scans in recordings:
                yield _different(group, name, scans[0], scans[1])
        for (name, scans), (other, others) in combinations(recordings, 2):
            if rng.random() < 0.4:
                yield _different(group, f"{name}, {other}", scans[0], others[1])
    rooms = [room_pair(number, 135.0, seed) for number in range(12)]
    everything += [("rooms", room.scene, room.source) for room in rooms]
    for first, second in combinations(rooms, 2):
        yield _different("rooms", f"{first.scene}, {second.scene}", first.source, second.target)
    scene, twins, others = twin_rooms(seed)
    scans = [room_scan(scene, middle, rng)[0] for middle in (*others[:12], twins[0])]
    for first, second in combinations(range(len(scans)), 2):
        yield _different("rooms of a building", f"building {seed}", scans[first], scans[second])
    if not simulated_only and SCANS.is_dir():
        everything += _real_scans()
    for _ in range(120):
        first, second = rng.choice(len(everything), 2, replace=False)
        if everything[first][0] != everything[second][0]:
            names = f"{everything[first][1]}, {everything[second][1]}"
            yield _different("other groups", names, everything[first][2], everything[second][2])


def _different(group: str, recording: str, source: np.ndarray, target: np.ndarray) -> Pair:
    return Pair(group, recording, source, target, None, ORIGIN, ORIGIN)


def _real_scans() -> list[tuple[str, str, np.ndarray]]:
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
    """Indices (target, source) of pairs.csv with at least this overlap both ways."""
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
        deskewed(scan.cloud.points, scan.stamp, scan.cloud.times, poses.stamps, poses.T_parent_frame)
        for scan in scans[:-1]
    ]
    for step in steps:
        for first in range(0, len(clouds) - step, 6 if len(clouds) > 30 else 2):
            relative = se3.invert(poses.T_parent_frame[first]) @ poses.T_parent_frame[first + step]
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


_REAL_PAIRS = {
    "handheld LiDAR": _handheld_lidar,
    "Kinect": _kinect,
    "fragments": _fragments,
    "KITTI": _kitti,
    "libpointmatcher": _libpointmatcher,
    "bunny": _bunny,
    "sample LiDAR": lambda: _sample_bag("lidar_walk", "sample LiDAR", (1, 4)),
    "sample camera": lambda: _sample_bag("depth_walk", "sample camera", (1, 3)),
}


def main() -> None:
    """List the groups: pairs, recordings, points, seconds to make."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    print("| group | pairs | recordings | points a scan | seconds |\n|---|---|---|---|---|")
    for group in [*available_groups(), "different places", "different twins"]:
        start = time.perf_counter()
        makers = {"different places": different_places, "different twins": lambda s: twin_pairs(s, False)}
        found = list(makers[group](seed) if group in makers else pairs(group, seed))
        points = np.median([len(pair.source_points) for pair in found])
        recordings = len({pair.recording for pair in found})
        print(f"| {group} | {len(found)} | {recordings} | {points:.0f} | {time.perf_counter() - start:.1f} |")


if __name__ == "__main__":
    main()
