"""Simulate a drive with exact ground truth and write it as a bag or as a folder of scans.

    python scripts/make_drives.py street --sensor lidar64 --scans 1000 --out data/drives
    python scripts/make_drives.py office --sensor lidar32 --lost 0.2 --jitter 0.005 --format folder

Places: street, park, office, stairs, garage, building, closet, crowd, table. Sensors: lidar16, lidar32, lidar64,
lidar128, livox (with point times), kinect, stereo (depth cameras). The bag has PointCloud2 with point times on /points
and the exact pose of the sensor at each scan's true start on /ground_truth/tf. The folder has scans/NAME.npy, float32
rows x y z t (seconds after the stamp), times.txt, poses.txt (12 numbers per row, sensor -> world) and scene.txt; point
times are read from the bag only.
"""

import argparse
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sample_bag import SampleBag
from tqdm import tqdm

from prnet_core.io.trajectories import write_kitti
from prnet_core.simulation.drives import PLACES, SENSORS, Drive, DriveScan, make_drive

START_NS = 1_760_000_000 * 10**9
FRAME = "sensor"


def write_bag(path: Path, drive: Drive) -> None:
    """A ROS 2 bag (mcap)."""
    with SampleBag(path, level=3) as bag:
        bag.add_static(START_NS, FRAME, np.eye(4))
        for scan in _with_progress(drive):
            stamp_ns = START_NS + round(scan.stamp * 1e9)
            bag.add_scan(stamp_ns, FRAME, scan.points, scan.point_times)
            bag.add_ground_truth(stamp_ns, FRAME, scan.T_world_sensor)


def write_folder(path: Path, drive: Drive) -> None:
    """A folder of scans, as `prnet_core.io.scan_folders.ScanFolder` reads it."""
    (path / "scans").mkdir(parents=True)
    stamps, poses = [], []
    for scan in _with_progress(drive):
        rows = np.column_stack([scan.points, scan.point_times]).astype(np.float32)
        np.save(path / "scans" / f"{scan.index:06d}.npy", rows)
        stamps.append(scan.stamp)
        poses.append(scan.T_world_sensor)
    np.savetxt(path / "times.txt", stamps, fmt="%.9f")
    write_kitti(path / "poses.txt", np.array(poses))
    (path / "scene.txt").write_text(f"{drive.place.name}\n", encoding="utf-8")


def _with_progress(drive: Drive) -> Iterable[DriveScan]:
    return tqdm(drive, total=drive.num_scans, unit="scan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", choices=list(PLACES))
    parser.add_argument("--sensor", choices=list(SENSORS), default="lidar64")
    parser.add_argument("--scans", type=int, default=1000, help="including lost ones (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="chooses the place and the noise")
    parser.add_argument("--rate", type=float, help="scans per second (default: 10 for LiDARs, 30 for cameras)")
    parser.add_argument("--lost", type=float, default=0.0, help="share of lost scans")
    parser.add_argument("--jitter", type=float, default=0.0, help="standard deviation of the stamps in seconds")
    parser.add_argument("--bumps", type=int, default=0, help="speed bumps on the path")
    parser.add_argument("--stops", action="store_true", help="stop and go every 20 s")
    parser.add_argument("--still", action="store_true", help="without moving people and cars")
    parser.add_argument("--format", choices=("bag", "folder"), default="bag")
    parser.add_argument("--out", type=Path, default=Path("data/drives"), help="folder the drive's folder goes to")
    arguments = parser.parse_args()
    drive = make_drive(
        arguments.place,
        arguments.sensor,
        arguments.scans,
        arguments.seed,
        rate=arguments.rate,
        moving_objects=not arguments.still,
        lost_share=arguments.lost,
        stamp_jitter=arguments.jitter,
        stops=arguments.stops,
        num_bumps=arguments.bumps,
    )
    path = arguments.out / f"{arguments.place}-{arguments.sensor}-{arguments.seed}"
    shutil.rmtree(path, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write = write_bag if arguments.format == "bag" else write_folder
    write(path, drive)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    print(f"{path}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
