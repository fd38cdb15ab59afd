"""Odometry over a street recording without ground truth, against direct registration of scans 10, 20 and 30 m apart.

    OMP_NUM_THREADS=1 python benchmarks/street_reference.py FOLDER --out docs/results/street_reference.json

An odometry has drifted over that distance; Open3D's point-to-plane ICP of the two scans with all their points has not.
A spinning LiDAR distorts each scan. The reference is made three times: of the scans as they are, and of scans that
were deskewed as turns of 0.1 s, clockwise and counter-clockwise, with the seam behind the car, about the middle of the
turn. The residuals show which one the recording is. Velocities and initial guesses are KISS-ICP's. A pair counts
where our poses as the initial guess lead to the same result.

KISS-ICP and GenZ-ICP run on the scans as they are, and with the point times of the clockwise turn, which they deskew
by; ours without and with `deskew`, and with these times. Each is compared at the start, the middle or the end of the
turn, whichever fits best.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import open3d as o3d
import results_page
from odometry_data import OUTDOORS, Sequence, poses_later, recording
from odometry_peers import peers, run_peer
from odometry_sequences import run_ours

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.spin import Spin
from prnet_core.registration import Registration

COMMAND = "OMP_NUM_THREADS=1 python benchmarks/street_reference.py FOLDER --out docs/results/street_reference.json"
TURN = 0.1  # seconds
CLOCKWISE = Spin(-TURN, np.pi)
SPINS = {
    "as they are": None,
    "deskewed as clockwise turns": CLOCKWISE,
    "deskewed as counter-clockwise turns": Spin(TURN, np.pi),
}
DISTANCES = (10.0, 20.0, 30.0)  # metres of path between the scans of a pair
EVERY = 15  # scans between the first scans of the pairs
VOXEL, NORMAL_RADIUS, NORMAL_NEIGHBORS = 0.15, 0.8, 20  # of the reference, metres
STAGES = ((1.0, 0.5), (0.5, 0.2), (0.3, 0.1))  # largest distance and scale of the Tukey loss, metres
MIN_FITNESS = 0.3  # share of the points with a nearest point at the end
SAME = 0.01  # metres between the results of two initial guesses
INSTANTS = (-0.5, 0.0, 0.5)  # of a turn after its middle


@dataclass(frozen=True)
class Pair:
    """Two scans. T_first_second: (4, 4). residual: root mean square in metres of the overlapping points."""

    first: int
    second: int
    path: float
    T_first_second: np.ndarray
    residual: float


@dataclass(frozen=True)
class Row:
    """Errors of a method: percent of the path and degrees, means over the pairs, and the largest."""

    method: str
    mean: float
    largest: float
    mean_deg: float


class Reference:
    """Direct registration of the scans of a sequence, deskewed as turns of `spin` by the velocities of `poses`."""

    def __init__(self, sequence: Sequence, poses: np.ndarray, spin: Spin | None):
        self._sequence, self._poses, self._spin = sequence, poses, spin
        self._clouds: dict[int, o3d.geometry.PointCloud] = {}

    def register(self, first: int, second: int, guess: np.ndarray) -> tuple[np.ndarray, float, float]:
        """T_first_second (4, 4), the fitness and the residual in metres."""
        source, target, pose = self._cloud(second), self._cloud(first), guess
        for distance, scale in STAGES:
            estimation = o3d.pipelines.registration.TransformationEstimationPointToPlane(
                o3d.pipelines.registration.TukeyLoss(scale)
            )
            criteria = o3d.pipelines.registration.ICPConvergenceCriteria(1e-6, 1e-6, 40)
            found = o3d.pipelines.registration.registration_icp(source, target, distance, pose, estimation, criteria)
            pose = found.transformation
        return np.array(pose), found.fitness, found.inlier_rmse

    def _cloud(self, index: int) -> o3d.geometry.PointCloud:
        if index not in self._clouds:
            points = self._sequence.scans[index]
            points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
            if self._spin is not None:
                points = deskew(points, self._spin.times(points), self._twist(index))
            cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points)).voxel_down_sample(VOXEL)
            cloud.estimate_normals(o3d.geometry.KDTreeSearchParamHybrid(NORMAL_RADIUS, NORMAL_NEIGHBORS))
            self._clouds[index] = cloud
        return self._clouds[index]

    def _twist(self, index: int) -> np.ndarray:
        before, after = max(index - 1, 0), min(index + 1, len(self._poses) - 1)
        seconds = self._sequence.stamps[after] - self._sequence.stamps[before]
        return se3.log(relative(self._poses, before, after)) / seconds


def candidates(poses: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """First and second scan of each pair, and the metres of path between them."""
    path = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1))]
    for first in range(0, len(poses), EVERY):
        for distance in DISTANCES:
            second = int(np.searchsorted(path, path[first] + distance))
            if second < len(path):
                yield first, second, float(path[second] - path[first])


def relative(poses: np.ndarray, first: int, second: int) -> np.ndarray:
    """T_first_second (4, 4)."""
    return se3.invert(poses[first]) @ poses[second]


def reference_pairs(sequence: Sequence, peer: np.ndarray, ours: np.ndarray, spin: Spin | None) -> list[Pair]:
    """The pairs that overlap enough and whose result does not depend on the initial guess."""
    reference, pairs = Reference(sequence, peer, spin), []
    for first, second, path in candidates(peer):
        pose, fitness, residual = reference.register(first, second, relative(peer, first, second))
        other, _, _ = reference.register(first, second, relative(ours, first, second))
        if fitness > MIN_FITNESS and se3.difference(pose, other)[0] < SAME:
            pairs.append(Pair(first, second, path, pose, residual))
    return pairs


def errors(method: str, poses: np.ndarray, stamps: np.ndarray, pairs: list[Pair]) -> Row:
    """Of a method, at the instant of a turn where they are smallest."""
    rows = []
    for share in INSTANTS:
        moved = poses_later(poses, stamps, share * TURN)
        found = [se3.difference(p.T_first_second, relative(moved, p.first, p.second)) for p in pairs]
        percent = np.array([100.0 * d / p.path for (d, _), p in zip(found, pairs, strict=True)])
        degrees = np.degrees([angle for _, angle in found])
        rows.append(Row(method, float(percent.mean()), float(percent.max()), float(degrees.mean())))
    return min(rows, key=lambda row: row.mean)


def trajectories(sequence: Sequence) -> dict[str, np.ndarray]:
    """Poses (N, 4, 4) of each method, KISS-ICP with its default voxel size first."""
    times = [CLOCKWISE.times(np.asarray(points)) for points in sequence.scans]
    timed, found = replace(sequence, times=times), {}
    for name in peers():
        for voxel in sequence.voxels:
            found[f"{name}, voxel {voxel} m"] = run_peer(name, sequence, voxel)[0]
            found[f"{name}, voxel {voxel} m, with times"] = run_peer(name, timed, voxel)[0]
    for label, scans, is_deskewed in (
        ("prnet_ros", sequence, True),
        ("prnet_ros, deskew off", sequence, False),
        ("prnet_ros, with times", timed, True),
    ):
        poses, _ = run_ours(scans, Registration(None), OdometryConfig(max_scan_time=1e3, deskew=is_deskewed))
        lost = sum(pose is None for pose in poses)
        if lost:
            raise ValueError(f"{label} lost {lost} scans: their pairs have no error")
        found[label] = np.array(poses)
    return found


def to_markdown(results: dict[str, dict], measured: str) -> str:
    """The page: a table of each reference, that with the smallest residual first."""
    blocks = [
        [
            "The street recording of the [odometry page](odometry_sequences.md) has no ground truth. Reference:",
            "Open3D's point-to-plane ICP of scans 10, 20 and 30 m apart with all their points: of the scans as they",
            f"are, and deskewed as turns of {TURN} s. Residual: root mean square distance of the reference's matches;",
            "the smallest shows how the LiDAR turns. Errors: percent of the path between both scans, and degrees.",
            "With times: the points have those of the clockwise turn; else none, and only ours estimates them.",
        ]
    ]
    for name, result in sorted(results.items(), key=lambda item: item[1]["residual"]):
        rows = [[r["method"], *(f"{r[key]:.2f}" for key in ("mean", "largest", "mean_deg"))] for r in result["rows"]]
        text = f"{result['pairs']} pairs, residual {1e3 * result['residual']:.1f} mm."
        blocks.append([f"## Scans {name}", "", text, ""])
        blocks[-1] += results_page.table(["method", "mean %", "largest %", "mean deg"], rows)
    title = "Odometry of a street recording beside direct registration"
    return results_page.page(title, *blocks, command=COMMAND, measured=measured)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("street", type=Path, help="folder of scans at 10 Hz")
    parser.add_argument("--out", type=Path, help="JSON here, the tables as Markdown beside it")
    args = parser.parse_args()
    sequence = recording("street", args.street, OUTDOORS, 1)
    found = trajectories(sequence)
    peer, ours = found[next(iter(found))], found["prnet_ros"]
    results = {}
    for name, spin in SPINS.items():
        pairs = reference_pairs(sequence, peer, ours, spin)
        rows = [asdict(errors(method, poses, sequence.stamps, pairs)) for method, poses in found.items()]
        results[name] = {"pairs": len(pairs), "residual": float(np.mean([p.residual for p in pairs])), "rows": rows}
        print(name, json.dumps(results[name], indent=1), flush=True)
    if args.out:
        measured = measured_here()
        values = {"measured": measured, "references": results}
        results_page.write_results(args.out, values, to_markdown(results, measured))


if __name__ == "__main__":
    main()
