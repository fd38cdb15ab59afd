"""Odometry over simulated drives and recordings, ours and other packages in one run.

    OMP_NUM_THREADS=1 python benchmarks/odometry_sequences.py --out docs/results/odometry_sequences.json

One sequence takes minutes: with `--out`, sequences whose results stand in the file already are kept, so a run that
was stopped is continued, and `--sequences` measures some of them again. All methods of a sequence run one after
another in one process, so that their times can be compared.

Peers run with two voxel sizes; the row shows the one with the smaller RPE. Packages differ in which instant of a sweep
their pose belongs to: each is compared with the ground truth at the start, the middle or the end, whichever fits it
best; so is ours where the points have no times. `--street` names a folder of scans at 10 Hz without ground truth: there
the ends of the paths are compared with that of KISS-ICP over all scans.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
import results_page
from odometry_data import OUTDOORS, STREET, Sequence, recording, sequences
from odometry_peers import first_threshold, peers, run_peer
from odometry_table import to_markdown

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.metrics import absolute_trajectory_error, relative_pose_error, segment_drift
from prnet_core.registration import Registration

COMMAND = "OMP_NUM_THREADS=1 python benchmarks/odometry_sequences.py --no-network --scans 100"
SEGMENTS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)  # metres of path for the drift
USED = ("first", "accepted", "weak", "reset")


@dataclass(frozen=True)
class Row:
    """One method on one sequence. Errors are None without ground truth.

    lost: scans without a pose. drift: percent of the path; ate, rpe in metres, degrees a scan and ten scans. end:
    metres and degrees of the whole motion. Times are CPU seconds a scan; memory: megabytes that the process grew by.
    """

    method: str
    lost: int
    drift: float | None
    ate: float | None
    rpe_1: float | None
    rpe_1_deg: float | None
    rpe_10: float | None
    rpe_10_deg: float | None
    end: float | None
    end_deg: float | None
    median: float
    p95: float
    p99: float
    memory: float


def measure(
    method: str,
    sequence: Sequence,
    poses: list[np.ndarray | None],
    seconds: np.ndarray,
    memory: float,
    instants: tuple[float, ...] = (0.0,),
    reference: np.ndarray | None = None,
) -> Row:
    """A row; scans without a pose are left out of the errors. reference: the motion from first to last scan."""
    used = np.array([i for i, pose in enumerate(poses) if pose is not None])
    estimate = np.array([poses[i] for i in used])
    times = [float(np.quantile(seconds, q)) for q in (0.5, 0.95, 0.99)]
    errors: list[float | None] = [None] * 6
    if sequence.ground_truth is not None and len(used) > 1:
        ground_truths = [sequence.ground_truth_at(share)[used] for share in instants]
        ground_truth = min(ground_truths, key=lambda poses: absolute_trajectory_error(estimate, poses))
        one = relative_pose_error(estimate, ground_truth, 1)
        ten = relative_pose_error(estimate, ground_truth, min(10, len(ground_truth) - 1))
        drift = segment_drift(estimate, ground_truth, SEGMENTS)
        errors = [
            None if drift is None else 100.0 * drift[0],
            absolute_trajectory_error(estimate, ground_truth),
            one.translation_rmse,
            one.rotation_rmse_deg,
            ten.translation_rmse,
            ten.rotation_rmse_deg,
        ]
        reference = se3.invert(ground_truth[0]) @ ground_truth[-1]
    end = end_deg = None
    if reference is not None:
        difference = se3.invert(reference) @ se3.invert(estimate[0]) @ estimate[-1]
        end = float(np.linalg.norm(difference[:3, 3]))
        end_deg = float(np.degrees(se3.rotation_angle(difference[:3, :3])))
    return Row(method, len(poses) - len(used), *errors, end, end_deg, *times, memory)


def run_ours(
    sequence: Sequence, registration: Registration, config: OdometryConfig
) -> tuple[list[np.ndarray | None], np.ndarray]:
    """Poses at the stamps, None for a scan without one, and CPU seconds (N,)."""
    odometry = ScanOdometry(registration, config)
    poses, seconds = [], []
    for i, points in enumerate(sequence.scans):
        times = None if sequence.times is None else sequence.times[i]
        began = time.process_time()
        update = odometry.register_scan(points, float(sequence.stamps[i]), times)
        seconds.append(time.process_time() - began)
        poses.append(update.T_odom_sensor if update.status in USED else None)
    return poses, np.array(seconds)


def resident_megabytes() -> float:
    """Memory of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


@cache
def street_poses(street: Path) -> tuple[np.ndarray, np.ndarray]:
    """Stamps (N,) of all scans of a street recording, and their poses (N, 4, 4) by KISS-ICP."""
    sequence = recording(STREET, street, OUTDOORS, 1)
    return sequence.stamps, run_peer("KISS-ICP", sequence, OUTDOORS[0])[0]


def street_motion(sequence: Sequence, street: Path) -> np.ndarray:
    """The relative pose (4, 4) of the first and the last scan of a street recording, or of some of its scans."""
    stamps, poses = street_poses(street)
    return se3.invert(poses[0]) @ poses[np.abs(stamps - sequence.stamps[-1]).argmin()]


def rows_of(
    sequence: Sequence, registrations: dict[str, Registration], config: OdometryConfig, reference: np.ndarray | None
) -> list[Row]:
    """All methods on one sequence. reference: the motion from first to last scan, where there is no ground truth."""
    rows = []
    for name in peers():
        found = []
        for voxel in sequence.voxels:
            before = resident_megabytes()
            poses, seconds = run_peer(name, sequence, voxel)
            grown = resident_megabytes() - before
            label = f"{name}, voxel {voxel} m, first threshold {first_threshold(sequence):.0f} m"
            instants = (0.0, 0.5, 1.0) if sequence.sweep else (0.0,)
            found.append(measure(label, sequence, list(poses), seconds, grown, instants, reference))
        rows.append(min(found, key=lambda row: row.rpe_10 if row.rpe_10 is not None else row.end))
    for name, registration in registrations.items():
        before = resident_megabytes()
        poses, seconds = run_ours(sequence, registration, config)
        grown = resident_megabytes() - before
        instants = (0.0, 0.5, 1.0) if sequence.times is None and sequence.sweep else (0.0,)
        rows.append(measure(name, sequence, poses, seconds, grown, instants, reference))
    return rows


def registrations_of(weights: str | None, with_network: bool) -> dict[str, Registration]:
    """Ours, with and without the network."""
    found = {"prnet_ros, no network": Registration(None)}
    if with_network:
        import torch

        from prnet_core.model import load_network

        torch.set_num_threads(1)
        found["prnet_ros"] = Registration(load_network(weights, "cpu").eval())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON here, the tables as Markdown beside it")
    parser.add_argument("--weights", help="weights file; the packaged one when left out")
    parser.add_argument("--sequences", default="", help="only sequences whose name contains this")
    parser.add_argument("--scans", type=int, default=200, help="scans of each simulated drive")
    parser.add_argument("--street", type=Path, help="folder of scans at 10 Hz without ground truth")
    parser.add_argument("--max-scan-time", type=float, help="seconds for one scan; by the stamps when left out")
    parser.add_argument("--no-network", action="store_true", help="leave out the rows with the network")
    parser.add_argument("--again", action="store_true", help="measure again what the results hold already")
    args = parser.parse_args()
    config = OdometryConfig(max_scan_time=args.max_scan_time)
    registrations = registrations_of(args.weights, not args.no_network)
    results = read_results(args.out)
    for name, make in sequences(args.scans, args.street):
        if args.sequences not in name or (name in results and not args.again):
            continue
        sequence = make()
        reference = street_motion(sequence, args.street) if name.startswith(STREET) else None
        rows = rows_of(sequence, registrations, config, reference)
        for row in rows:
            print(f"{name}: {row}", flush=True)
        results[name] = {"measured": measured_here(), "rows": [asdict(row) for row in rows]}
        if args.out:
            write_ordered(args.out, results, [name for name, _ in sequences(args.scans, args.street)])


def read_results(path: Path | None) -> dict[str, dict]:
    """Results by the name of the sequence; none where there is no file, or one of another form."""
    if path is None or not path.exists():
        return {}
    found = json.loads(path.read_text()).get("sequences", {})
    return found if all("rows" in result for result in found.values()) else {}


def write_ordered(path: Path, results: dict[str, dict], order: list[str]) -> None:
    """JSON, and the page beside it, in the order of the sequences; others, measured with other options, at the end."""
    names = [name for name in order if name in results] + [name for name in results if name not in order]
    ordered = {name: results[name] for name in names}
    results_page.write_results(path, {"sequences": ordered}, to_markdown(ordered, COMMAND))


if __name__ == "__main__":
    main()
