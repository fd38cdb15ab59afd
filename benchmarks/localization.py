"""Localisation of single scans in a map, loop closures, and what is accepted where there is nothing to find.

    python benchmarks/localization.py walk       handheld LiDAR (../shared), scans that are not in the map, also rotated
    python benchmarks/localization.py cropped    the same, map cropped to 12 m around the query
    python benchmarks/localization.py building   40 rooms on two floors, eight of them equal
    python benchmarks/localization.py foreign    scans of other places in both maps
    python benchmarks/localization.py loop       odometry with drift around a block of 500 m
    python benchmarks/map_memory.py              memory over 20,000 scans
    --out docs/results/localization.json adds the row to that file and renews its page

Correct: within 3 degrees and 0.5 m. Peer: KISS-Matcher of the scan to the whole map, refined by our GICP.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np
from registration_data import SCANS
from results_page import table, write_results
from scipy.spatial.transform import Rotation

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.mapping import KeyframeMap, Localizer, MapKeyframe
from prnet_core.mapping.builder import MapBuilder
from prnet_core.model import load_network
from prnet_core.registration import Registration
from prnet_core.simulation.buildings import building
from prnet_core.simulation.drives import make_drive
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.outdoors import street
from prnet_core.simulation.trajectories import PathTrajectory, steady
from prnet_core.simulation.two_scans import room_pair, scan_from, sensor_pose

LIMIT_DEG, LIMIT_M = 3.0, 0.5
CROP_RADIUS = 12.0


def errors(estimate: np.ndarray, ground_truth: np.ndarray) -> tuple[float, float]:
    """Degrees and metres between two poses (4, 4)."""
    difference = se3.invert(ground_truth) @ estimate
    degrees = float(np.degrees(se3.rotation_angle(difference[:3, :3])))
    return degrees, float(np.linalg.norm(difference[:3, 3]))


def is_correct(estimate: np.ndarray, ground_truth: np.ndarray) -> bool:
    degrees, metres = errors(estimate, ground_truth)
    return degrees < LIMIT_DEG and metres < LIMIT_M


def map_of(scans, poses) -> KeyframeMap:
    """A map of scans (N, 3) with exact poses (4, 4)."""
    keyframe_map = KeyframeMap()
    for index, (points, pose) in enumerate(zip(scans, poses, strict=True)):
        keyframe_map.add(MapKeyframe(np.asarray(points, dtype=np.float32), float(index)), pose)
    return keyframe_map


def random_rotation(seed: int) -> np.ndarray:
    return se3.make_transform(Rotation.random(random_state=seed).as_matrix(), np.zeros(3))


def walk_scans() -> tuple[list[np.ndarray], np.ndarray]:
    folder = ScanFolder(SCANS / "lidar_hilti" / "part_a")
    return [np.asarray(scan)[:, :3] for scan in folder], folder.poses


def count(results, ground_truths, places=None) -> dict:
    """Shares and seconds of LocalizationResults beside the true poses (None: nowhere)."""
    outcome = Counter()
    for result, ground_truth in zip(results, ground_truths, strict=True):
        correct = ground_truth is not None and is_correct(result.T_map_sensor, ground_truth)
        outcome[f"{result.status} {'correct' if correct else 'incorrect'}"] += 1
        if ground_truth is not None and not correct:
            outcome["true pose among the alternatives"] += any(is_correct(T, ground_truth) for T in result.alternatives)
    seconds = [result.seconds for result in results]
    return {
        "queries": len(results),
        "accepted and correct": outcome["accepted correct"],
        "accepted and incorrect": outcome["accepted incorrect"],
        "ambiguous": outcome["ambiguous correct"] + outcome["ambiguous incorrect"],
        "of these with the true pose": outcome["ambiguous correct"] + outcome["true pose among the alternatives"],
        "rejected": outcome["rejected incorrect"],
        "median s": round(float(np.median(seconds)), 3),
        "p95 s": round(float(np.quantile(seconds, 0.95)), 3),
    }


def walk(registration: Registration, number: int) -> dict[str, dict]:
    """Every second scan is in the map; the others are localised, as recorded and rotated at random."""
    scans, poses = walk_scans()
    localizer = Localizer(map_of(scans[::2], poses[::2]), registration)
    queries = range(1, len(scans), max(2, 2 * (len(scans) // 2 // number)))
    rows = {}
    for name, rotate in (("as they are", False), ("rotated at random", True)):
        turns = [random_rotation(i) if rotate else np.eye(4) for i in queries]
        clouds = [se3.apply(turn, scans[i]) for turn, i in zip(turns, queries, strict=True)]
        ground_truths = [poses[i] @ se3.invert(turn) for turn, i in zip(turns, queries, strict=True)]
        rows[f"handheld LiDAR, {name}"] = count([localizer.localize(cloud) for cloud in clouds], ground_truths)
        rows[f"KISS-Matcher and GICP, {name}"] = kiss_matcher(localizer, clouds, ground_truths)
    return rows


def kiss_matcher(localizer: Localizer, clouds: list[np.ndarray], ground_truths: list[np.ndarray]) -> dict:
    """KISS-Matcher of each scan to the whole map; every answer counts as accepted."""
    import kiss_matcher
    import small_gicp

    whole = localizer.map.fused_points(localizer.voxel_size)
    matcher = kiss_matcher.KISSMatcher(kiss_matcher.KISSMatcherConfig(localizer.voxel_size))
    correct, seconds = 0, []
    for cloud, ground_truth in zip(clouds, ground_truths, strict=True):
        began = time.perf_counter()
        found = matcher.estimate(np.asarray(cloud, np.float32), np.asarray(whole, np.float32))
        guess = se3.make_transform(np.asarray(found.rotation), np.asarray(found.translation))
        refined = small_gicp.align(
            whole, cloud, init_T_target_source=guess, downsampling_resolution=localizer.voxel_size
        )
        seconds.append(time.perf_counter() - began)
        correct += is_correct(refined.T_target_source, ground_truth)
    return {
        "queries": len(clouds),
        "accepted and correct": correct,
        "accepted and incorrect": len(clouds) - correct,
        "median s": round(float(np.median(seconds)), 3),
        "p95 s": round(float(np.quantile(seconds, 0.95)), 3),
    }


def cropped(registration: Registration, number: int) -> dict[str, dict]:
    """The map of the other scans, only what lies within 12 m of the query's true position."""
    scans, poses = walk_scans()
    results, ground_truths = [], []
    for i in range(1, len(scans), max(2, 2 * (len(scans) // 2 // number))):
        others = [k for k in range(0, len(scans), 2)]
        centre = poses[i][:3, 3]
        keep = [np.linalg.norm(se3.apply(poses[k], scans[k]) - centre, axis=1) < CROP_RADIUS for k in others]
        near = [k for k, mask in zip(others, keep, strict=True) if mask.sum() > 1000]
        parts = [scans[k][mask] for k, mask in zip(others, keep, strict=True) if mask.sum() > 1000]
        localizer = Localizer(map_of(parts, [poses[k] for k in near]), registration)
        results.append(localizer.localize(scans[i]))
        ground_truths.append(poses[i])
    return {"handheld LiDAR, map cropped to 12 m": count(results, ground_truths)}


def building_map() -> tuple[Localizer | None, object, object, KeyframeMap]:
    place = building(0)
    scene, sensor = place.scene(moving=False), SpinningLidar(channels=32)
    trajectory = make_drive("building", "lidar32", 1, moving_objects=False).trajectory
    seconds = PathTrajectory(place.path, steady(place.speed), closed=True).length / place.speed
    rng = np.random.default_rng(0)
    poses = [trajectory(np.float64(t)) for t in np.arange(0.0, seconds, 1.6)]
    return place, scene, sensor, map_of([scan_from(sensor, scene, pose, rng) for pose in poses], poses)


def building_rooms(registration: Registration, number: int) -> dict[str, dict]:
    """Scans in random rooms, where the map's keyframes come from a walk of another height and direction."""
    place, scene, sensor, keyframe_map = building_map()
    localizer = Localizer(keyframe_map, registration)
    rng = np.random.default_rng(1)
    found: dict[bool, tuple[list, list]] = {False: ([], []), True: ([], [])}
    for _ in range(number):
        room = int(rng.integers(len(place.rooms)))
        position = place.rooms[room] + np.r_[rng.uniform(-0.8, 0.8, 2), 1.3]
        pose = sensor_pose(position, rng.uniform(0.0, 360.0), tuple(rng.uniform(-3.0, 3.0, 2)))
        results, ground_truths = found[room in place.twins]
        results.append(localizer.localize(scan_from(sensor, scene, pose, rng)))
        ground_truths.append(pose)
    return {
        f"building of 40 rooms, {len(keyframe_map)} keyframes": count(*found[False]),
        "the same, the eight equal rooms": count(*found[True]),
    }


def foreign(registration: Registration, number: int) -> dict[str, dict]:
    """Scans of other places and sensors: none may be accepted."""
    scans, poses = walk_scans()
    maps = {
        "walk": Localizer(map_of(scans[::2], poses[::2]), registration),
        "building": Localizer(building_map()[3], registration),
    }
    rows = {}
    for name, localizer in maps.items():
        queries = foreign_scans(name, number)
        rows[f"foreign scans in the map of the {name}"] = count(
            [localizer.localize(cloud) for cloud in queries], [None] * len(queries)
        )
    return rows


def foreign_scans(name: str, number: int) -> list[np.ndarray]:
    clouds = [room_pair(k, 135.0, seed).source for seed in range(1 + number // 20) for k in range(12)]
    for place, sensor in (("street", "lidar32"), ("park", "lidar64"), ("garage", "livox"), ("office", "lidar16")):
        drive = make_drive(place, sensor, 10 * (1 + number // 10), seed=5)
        clouds += [scan.points for index, scan in enumerate(drive) if index % 10 == 0]
    if name == "building":
        clouds += walk_scans()[0][::6]
    chosen = np.random.default_rng(3).permutation(len(clouds))[:number]
    return [clouds[i] for i in chosen]


def loop(registration: Registration, number: int) -> dict[str, dict]:
    """Around a block of 500 m with a yaw bias and noise; end error before and after the closures."""
    rows = {}
    for seed in range(max(1, number // 20)):
        place = street(seed)
        sensor, scene = SpinningLidar(channels=32, max_range=80.0), place.scene(moving=False)
        trajectory = make_drive("street", "lidar32", 1, seed=seed, moving_objects=False).trajectory
        length = PathTrajectory(place.path, steady(place.speed), closed=True).length
        rng = np.random.default_rng(seed)
        bias, odom, last, ground_truths = rng.normal(0.0, 0.0015), np.eye(4), None, []
        builder = MapBuilder(registration)
        for t in np.arange(0.0, 1.08 * length / place.speed, 2.0 / place.speed):
            pose = trajectory(np.float64(t))
            if last is not None:
                noise = np.r_[rng.normal(0.0, 0.01, 3), rng.normal(0.0, 6e-4, 2), bias + rng.normal(0.0, 0.002)]
                odom = odom @ se3.invert(last) @ pose @ se3.exp(noise)
            last = pose
            if builder.add_scan(scan_from(sensor, scene, pose, rng), odom, float(t), np.diag([4e-4] * 3 + [9e-6] * 3)):
                ground_truths.append(se3.invert(trajectory(np.float64(0.0))) @ pose)
        end = ground_truths[-1][:3, 3]
        false = sum(
            errors(se3.invert(ground_truths[c.first]) @ ground_truths[c.second], c.T_first_second)[1] > LIMIT_M
            for c in builder.map.closures
        )
        rows[f"loop of {length:.0f} m, seed {seed}"] = {
            "keyframes": len(builder.map),
            "closures": len(builder.map.closures),
            "false closures": false,
            "end error before, m": round(float(np.linalg.norm(builder.odometry_poses[-1][:3, 3] - end)), 3),
            "end error after, m": round(float(np.linalg.norm(builder.map.poses[-1][:3, 3] - end)), 3),
        }
    return rows


PARTS = {"walk": walk, "cropped": cropped, "building": building_rooms, "foreign": foreign, "loop": loop}


def write_page(path: Path, rows: dict[str, dict]) -> None:
    """Add the rows to the JSON file and write the Markdown page beside it: a table for rows with the same columns."""
    kept = json.loads(path.read_text()) if path.exists() else {"rows": {}, "measured": {}}
    kept["rows"] |= rows
    kept["measured"] |= dict.fromkeys(rows, measured_here())
    tables: dict[str, list[str]] = {}
    for name, row in kept["rows"].items():
        tables.setdefault(next(iter(row)), []).append(name)
    lines = ["# Localisation and loop closures", "", *__doc__.strip().splitlines(), ""]
    for names in tables.values():
        columns = list(dict.fromkeys(column for name in names for column in kept["rows"][name]))
        lines += table(["", *columns], ([name, *(kept["rows"][name].get(c, "") for c in columns)] for name in names))
        lines += ["", *dict.fromkeys(kept["measured"][name] for name in names), ""]
    write_results(path, kept, "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--number", type=int, default=40, help="queries (loop: a loop for every 20)")
    parser.add_argument("--network", action="store_true", help="with the packaged network")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    registration = Registration(load_network().eval() if arguments.network else None)
    rows = PARTS[arguments.part](registration, arguments.number)
    for name, row in rows.items():
        print(name, row, flush=True)
    if arguments.out:
        write_page(arguments.out, rows)


if __name__ == "__main__":
    main()
