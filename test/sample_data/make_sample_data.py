"""Make the sample bags of test/data again: a simulated LiDAR walk, a simulated depth camera, real Kinect frames.

    python test/sample_data/make_sample_data.py --pcl pcl_1.15.0+dfsg.orig.tar.xz

The simulated bags come out the same every time (fixed seeds). The Kinect frames are those of the source package
`pcl` of Debian; without --pcl that bag is left as it is. test/data/README.md says how to get the package.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(Path(__file__).parent)]

from kinect_frames import kinect_frames, license_text  # noqa: E402
from sample_bag import SampleBag  # noqa: E402
from sample_room import sample_room  # noqa: E402

from prnet_core.geometry.se3 import make_transform  # noqa: E402
from prnet_core.simulation.depth_camera import DepthCamera  # noqa: E402
from prnet_core.simulation.lidar import SpinningLidar  # noqa: E402
from prnet_core.simulation.trajectories import PathTrajectory, sensor_trajectory, steady  # noqa: E402

START_NS = 1_760_000_000 * 10**9
SCAN_RATE = 5.0
OUT = ROOT / "test" / "data"


# A LiDAR on a mast, rotated by 90 degrees and tilted a little: an ignored or inverted extrinsic shows.
T_BASE_LIDAR = make_transform(Rotation.from_euler("ZYX", [90.0, 3.0, 0.0], degrees=True).as_matrix(), [0.15, 0.0, 1.10])
# The optical frame looks along the robot's x, 10 degrees down.
T_BASE_CAMERA = make_transform(
    Rotation.from_euler("Y", 10.0, degrees=True).as_matrix() @ np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]]),
    [0.20, 0.05, 1.00],
)

LIDAR_WALK = PathTrajectory(
    [(3.6, 1.7), (2.6, 1.2), (1.4, 0.9), (0.6, 0.1), (0.3, -1.0), (-0.7, -1.8), (-2.3, -1.9), (-3.4, -1.2),
     (-3.6, 0.2), (-3.3, 1.6), (-2.3, 2.5), (-0.9, 2.7), (0.4, 2.6)],
    steady(1.0),
)  # fmt: skip
CAMERA_WALK = PathTrajectory([(-4.0, -0.9), (-3.0, -1.3), (-1.8, -1.6), (-0.4, -1.0), (0.4, 0.4)], steady(0.7))


def make_lidar_walk(path: Path, num_scans: int = 64) -> None:
    """Every second sweep of a LiDAR that spins at 10 Hz, distorted by the motion, with a time for every point."""
    trajectory = sensor_trajectory(LIDAR_WALK, T_BASE_LIDAR)
    room, lidar, random = sample_room(), SpinningLidar(), np.random.default_rng(1)
    with SampleBag(path) as bag:
        bag.add_static(START_NS, "lidar", T_BASE_LIDAR)
        for index in range(num_scans):
            start = index / SCAN_RATE
            stamp_ns = START_NS + round(start * 1e9)
            points, times = lidar.scan(room, trajectory, start, random)
            bag.add_scan(stamp_ns, "lidar", points, times)
            bag.add_ground_truth(stamp_ns, "lidar", trajectory(start))


def make_depth_walk(path: Path, num_frames: int = 16) -> None:
    """A depth camera at 5 Hz, organised clouds with NaN."""
    room, camera, random = sample_room(), DepthCamera(), np.random.default_rng(2)
    frame = "camera_depth_optical_frame"
    with SampleBag(path) as bag:
        bag.add_static(START_NS, frame, T_BASE_CAMERA)
        for index in range(num_frames):
            time = 1.0 + index / SCAN_RATE
            stamp_ns = START_NS + round(time * 1e9)
            T_map_camera = CAMERA_WALK(time) @ T_BASE_CAMERA
            bag.add_depth_frame(stamp_ns, frame, camera.frame(room, T_map_camera, random))
            bag.add_ground_truth(stamp_ns, frame, T_map_camera)


def make_kinect(path: Path, tarball: Path) -> None:
    """The real frames, every second pixel of every second row: 320 x 240, still organised, values untouched."""
    with SampleBag(path, with_poses=False) as bag:
        for stamp_ns, points in kinect_frames(tarball):
            bag.add_depth_frame(stamp_ns, "camera_depth_optical_frame", points[::2, ::2])
    (path / "LICENSE.txt").write_bytes(license_text(tarball))


def main() -> None:
    """Parse the command line and make the bags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pcl", type=Path, help="source tarball of Debian's package pcl, for the Kinect frames")
    parser.add_argument("--out", type=Path, default=OUT, help="folder the bags go to (default: test/data)")
    arguments = parser.parse_args()
    bags = {"lidar_walk": make_lidar_walk, "depth_walk": make_depth_walk}
    if arguments.pcl:
        bags["kinect"] = lambda path: make_kinect(path, arguments.pcl)
    for name, make in bags.items():
        path = arguments.out / name
        shutil.rmtree(path, ignore_errors=True)
        make(path)
        print(f"{path}: {sum(file.stat().st_size for file in path.iterdir()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
