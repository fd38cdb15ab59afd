"""Odometry over real sequences, ours and KISS-ICP in one run, with dropped scans and a standing sensor.

    OMP_NUM_THREADS=1 python benchmarks/odometry_sequences.py --out docs/results/odometry_sequences.json

The scans lie beside the checkout in ../shared/data/scans. KISS-ICP runs with its default adaptive threshold and with
the voxel size that does best of two (range / 100 is its own default). Scan to scan GICP is ours with the target
'previous' and neither network nor other starts than the prediction.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from registration_data import SCANS

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.io.trajectories import Trajectory
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.metrics import absolute_trajectory_error, match_stamps, relative_pose_error
from prnet_core.odometry.offline import open_scans
from prnet_core.registration import Registration, RegistrationConfig

KISS_VOXELS = {"lidar": (0.5, 1.0), "kinect": (0.05, 0.1), "bag": (0.5, 1.0)}


@dataclass(frozen=True)
class Sequence:
    """Scans of a recording, every `every`-th of them, and the true trajectory."""

    name: str
    kind: str
    stamps: np.ndarray
    scans: list[np.ndarray]
    truth: Trajectory


@dataclass(frozen=True)
class Row:
    """One method on one sequence. lost: scans without a pose; times are CPU seconds of one thread."""

    method: str
    lost: int
    ate: float
    rpe_1: float
    rpe_1_deg: float
    rpe_10: float
    rpe_10_deg: float
    cpu_seconds: float


def load(name: str, kind: str, path: str, every: int = 1) -> Sequence:
    """Read all scans of a folder or bag into memory."""
    recorded = open_scans(SCANS / path)
    scans = [(stamp, points) for stamp, points, _ in recorded][::every]
    return Sequence(name, kind, np.array([s for s, _ in scans]), [p for _, p in scans], recorded.truth)


def sequences(part: str) -> Iterator[Sequence]:
    """Those whose name contains `part`."""
    lidar, kinect = "lidar_hilti/part_a", "rgbd/kinect_50"
    for name, kind, path, every in (
        ("handheld lidar, 78 scans at 2 Hz", "lidar", lidar, 1),
        ("handheld lidar, every 2nd", "lidar", lidar, 2),
        ("handheld lidar, every 3rd", "lidar", lidar, 3),
        ("depth camera, 50 frames", "kinect", kinect, 1),
        ("depth camera, every 5th", "kinect", kinect, 5),
        ("bag, 15 scans", "bag", "rosbag/balm_15_mcap", 1),
    ):
        if part in name:
            yield load(name, kind, path, every)


def measure(method: str, sequence: Sequence, poses: list[np.ndarray | None], seconds: float) -> Row:
    """Errors of the poses; a scan without one counts as lost and is left out of the errors."""
    used = [i for i, pose in enumerate(poses) if pose is not None]
    estimate = Trajectory(sequence.stamps[used], np.array([poses[i] for i in used]))
    ours, theirs = match_stamps(estimate, sequence.truth)
    one = relative_pose_error(ours, theirs, 1)
    ten = relative_pose_error(ours, theirs, min(10, len(ours) - 1))
    return Row(
        method,
        len(poses) - len(used),
        absolute_trajectory_error(ours, theirs),
        one.translation_rmse,
        one.rotation_rmse_deg,
        ten.translation_rmse,
        ten.rotation_rmse_deg,
        seconds / len(poses),
    )


def run_ours(method: str, sequence: Sequence, registration: Registration, config: OdometryConfig) -> Row:
    odometry, poses = ScanOdometry(registration, config), []
    began = time.process_time()
    for stamp, points in zip(sequence.stamps, sequence.scans, strict=True):
        update = odometry.register_scan(points, float(stamp))
        poses.append(None if update.status == "rejected" else update.T_odom_sensor)
    return measure(method, sequence, poses, time.process_time() - began)


def run_kiss_icp(sequence: Sequence, voxel: float) -> Row:
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP

    config = KISSConfig()
    config.data.deskew = False
    config.registration.max_num_threads = 1
    config.mapping.voxel_size = voxel
    kiss, poses = KissICP(config), []
    began = time.process_time()
    for points in sequence.scans:
        kiss.register_frame(points, np.zeros(0))
        poses.append(kiss.last_pose.copy())
    return measure(f"KISS-ICP, voxel {voxel} m", sequence, poses, time.process_time() - began)


def only_the_guess() -> RegistrationConfig:
    """Every guess is strong enough: no other start is ever tried, nothing is rejected."""
    return replace(
        RegistrationConfig(),
        strong_score=-1e9,
        min_confidence_weak=0.0,
        min_confidence_accepted=0.0,
        min_inliers=0,
    )


def methods(weights: str | None) -> dict[str, Callable[[Sequence], Row]]:
    import torch

    from prnet_core.model import load_network

    torch.set_num_threads(1)
    network = load_network(weights, "cpu").eval()
    table: dict[str, Callable[[Sequence], Row]] = {
        "GICP, scan to scan": lambda s: run_ours(
            "GICP, scan to scan", s, Registration(None, only_the_guess()), OdometryConfig(target="previous")
        )
    }
    for target in ("previous", "keyframe", "map"):
        name = f"prnet_ros, target {target}"
        table[name] = lambda s, n=name, t=target: run_ours(
            n, s, Registration(network), OdometryConfig(target=t)
        )
    name = "prnet_ros, no network, target keyframe"
    table[name] = lambda s: run_ours(name, s, Registration(None), OdometryConfig())
    return table


def best_kiss_icp(sequence: Sequence) -> Row:
    return min(
        (run_kiss_icp(sequence, voxel) for voxel in KISS_VOXELS[sequence.kind]), key=lambda row: row.rpe_10
    )


def standing_still(registration: Registration) -> dict[str, float]:
    """A parked car's two scans, 10 frames apart: any motion found is an error."""
    clouds = [read_cloud_file(SCANS / "multibrand_single" / f"pjlab_static_{i}.pcd") for i in (468, 568)]
    result = registration.register(*clouds)
    moved = result.T_target_source
    return {
        "millimetres": float(1e3 * np.linalg.norm(moved[:3, 3])),
        "degrees": float(np.degrees(se3.rotation_angle(moved[:3, :3]))),
    }


def equivariance(registration: Registration) -> dict[str, float]:
    """The same pair in millimetres and 1e6 m away: relative difference of the motion to that in metres."""
    scans = open_scans(SCANS / "lidar_hilti" / "part_a")
    source, target = [points for _, points, _ in scans][40:42]
    metres = registration.register(source, target).T_target_source
    millimetres = registration.register(1e3 * source, 1e3 * target).T_target_source
    offset = np.array([1e6, -1e6, 1e3])
    far = registration.register(source + offset, target + offset).T_target_source
    shift = se3.make_transform(np.eye(3), offset)
    near = se3.invert(shift) @ far @ shift
    size = np.linalg.norm(metres[:3, 3])

    def difference(other: np.ndarray, unit: float) -> float:
        rotation = se3.rotation_angle(metres[:3, :3].T @ other[:3, :3])
        translation = np.linalg.norm(other[:3, 3] / unit - metres[:3, 3]) / size
        return float(max(rotation / se3.rotation_angle(metres[:3, :3]), translation))

    return {"millimetres": difference(millimetres, 1e3), "offset of 1e6 m": difference(near, 1.0)}


def to_markdown(results: dict[str, list[Row]], still: dict, equal: dict, command: str) -> str:
    lines = [
        "# Odometry over real sequences",
        "",
        f"`{command}`",
        "",
        measured_here(),
        "",
        "ATE after rigid alignment; RPE root mean square over 1 and 10 scans (9 where there are only 10). CPU",
        "seconds a scan of one thread. The truth of the lidar is LiDAR-inertial odometry, good to about 1 cm and 0.13",
        "degrees a step. KISS-ICP: the best by RPE over 10 of two voxel sizes.",
    ]
    for name, rows in results.items():
        lines += ["", f"## {name}", ""]
        lines += [
            "| method | lost | ATE m | RPE 1 m | RPE 1 deg | RPE 10 m | RPE 10 deg | CPU s |",
            "|---|" + "---|" * 7,
        ]
        lines += [
            f"| {r.method} | {r.lost} | {r.ate:.3f} | {r.rpe_1:.4f} | {r.rpe_1_deg:.3f} | {r.rpe_10:.4f} "
            f"| {r.rpe_10_deg:.3f} | {r.cpu_seconds:.3f} |"
            for r in rows
        ]
    lines += [
        "",
        "## Standing still",
        "",
        f"{still['millimetres']:.2f} mm, {still['degrees']:.4f} degrees.",
        "",
    ]
    lines += ["## The same pair in another unit and place", ""]
    lines += [f"- {name}: relative difference of the motion {value:.1e}" for name, value in equal.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="JSON here, the tables as Markdown beside it")
    parser.add_argument("--weights", help="weights file; the packaged one when left out")
    parser.add_argument("--sequences", default="", help="only sequences whose name contains this")
    args = parser.parse_args()
    table, results = methods(args.weights), {}
    for sequence in sequences(args.sequences):
        results[sequence.name] = rows = [best_kiss_icp(sequence)] + [run(sequence) for run in table.values()]
        for row in rows:
            print(f"{sequence.name}: {row}", flush=True)
    still, equal = standing_still(Registration(None)), equivariance(Registration(None))
    command = "python benchmarks/odometry_sequences.py " + " ".join(sys.argv[1:])
    text = to_markdown(results, still, equal, command)
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        rows = {name: [asdict(row) for row in result] for name, result in results.items()}
        summary = {"command": command, "sequences": rows, "standing_still": still, "equivariance": equal}
        args.out.write_text(json.dumps(summary, indent=1))
        args.out.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
