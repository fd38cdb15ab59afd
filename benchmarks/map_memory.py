"""Memory of the map process over 20,000 scans: while a map is built at its limit of keyframes, and while localising.

    python benchmarks/map_memory.py [--scans 20000] [--out docs/results/localization.json]

On the level of the library: OdometryMapper with checkpoints, and MapTracker, as the map process runs them. A robot
drives around a room again and again, with exact odometry; small scans, so that 20,000 take minutes. The limit of
keyframes is 60 in place of 2,000, so that it is reached in the first tenth.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from localization import write_page

from prnet_core.mapping import KeyframeMap, Localizer, MapKeyframe
from prnet_core.mapping.builder import MapBuilder
from prnet_core.mapping.checkpoint import MapCheckpoint
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.from_odometry import OdometryMapper
from prnet_core.mapping.tracker import MapTracker, OdometryScan
from prnet_core.registration import Registration
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.rooms import furnished_room
from prnet_core.simulation.two_scans import scan_from, sensor_pose

SCANS_A_LAP = 200
LIMIT = 60  # keyframes
SENSOR = SpinningLidar(channels=16, columns=120)


def lap() -> list[tuple[np.ndarray, np.ndarray]]:
    """Scans (N, 3) and poses (4, 4) once around a room."""
    scene = RayScene.from_solids(furnished_room(np.random.default_rng(2), (10.0, 8.0)))
    angles = np.linspace(0.0, 2.0 * np.pi, SCANS_A_LAP, endpoint=False)
    poses = [sensor_pose((2.5 * np.cos(a), 1.8 * np.sin(a), 1.2), np.degrees(a) + 90.0) for a in angles]
    return [(scan_from(SENSOR, scene, pose, np.random.default_rng(k)), pose) for k, pose in enumerate(poses)]


def resident() -> float:
    """Megabytes of this process's resident set."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def run(name: str, add, number: int) -> dict:
    """Feed `number` scans to add(points, stamp, pose); memory at every hundredth of them."""
    scans, samples, began = lap(), [], time.process_time()
    noise = np.random.default_rng(1)
    for index in range(number):
        points, pose = scans[index % SCANS_A_LAP]
        add(points + noise.normal(0.0, 0.005, points.shape), 0.1 * index, pose)
        if index % max(1, number // 100) == 0:
            samples.append(resident())
    tenth, last = samples[len(samples) // 10], samples[-1]
    row = {
        "scans": number,
        "MB after a tenth": round(tenth, 1),
        "MB at the end": round(last, 1),
        "largest MB since the tenth": round(max(samples[len(samples) // 10 :]), 1),
        "growth since the tenth, %": round(100.0 * (max(samples[len(samples) // 10 :]) / tenth - 1.0), 1),
        "processor s": round(time.process_time() - began),
    }
    print(name, row, flush=True)
    return row


def building(number: int) -> dict:
    config = MappingConfig(keyframe_distance=0.08, closure_gap=20, max_keyframes=LIMIT, closures_per_keyframe=1)
    mapper = OdometryMapper(MapBuilder(Registration(None), config))
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = MapCheckpoint(folder)

        def add(points: np.ndarray, stamp: float, pose: np.ndarray) -> None:
            if mapper.add_scan(points, pose, stamp, np.eye(6) * 1e-6):
                checkpoint.write(mapper, 0)

        row = run("building", add, number)
    built = mapper.builder
    return row | {"keyframes": len(built.map), "dropped": built.num_dropped, "closures": len(built.map.closures)}


def localizing(number: int) -> dict:
    keyframe_map = KeyframeMap()
    for index, (points, pose) in enumerate(lap()[::16]):
        keyframe_map.add(MapKeyframe(points.astype(np.float32), float(index)), pose)
    tracker = MapTracker(Localizer(keyframe_map, Registration(None)))
    states: dict[str, int] = {}

    def add(points: np.ndarray, stamp: float, pose: np.ndarray) -> None:
        if int(stamp * 10) % 2000 == 1999:
            tracker.forget()  # it is lost now and then, and searches the whole map
        state = tracker.add_scan(OdometryScan(points, stamp, pose)).state
        states[state] = states.get(state, 0) + 1

    return run("localizing", add, number) | {"keyframes": len(keyframe_map), "localized scans": states["localized"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scans", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = {
        "memory, map of 60 keyframes built": building(arguments.scans),
        "memory, localising": localizing(arguments.scans),
    }
    if arguments.out:
        write_page(arguments.out, rows)


if __name__ == "__main__":
    main()
