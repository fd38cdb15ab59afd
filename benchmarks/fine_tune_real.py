"""Fine-tuning on real scans, before and after: the paper's real-data experiment, and a walk with a LiDAR.

    python benchmarks/fine_tune_real.py bunny --out docs/results/fine_tune_bunny.json
    python benchmarks/fine_tune_real.py lidar --out docs/results/fine_tune_lidar.json

bunny: tuned on the ten Stanford range scans, each with copies of itself (random transforms and crops) and, unless
--copies-only, with the neighbours that our registration registers to it, without ground truth. Validated on the real
pairs of different scans that overlap by more than 30 %; pairs of such neighbours and other pairs are listed separately.

lidar: tuned on the first third of lidar_hilti/part_a and the transforms that our odometry accepted between these scans;
validated on pairs of the last third.

The network gets the pairs as in registration, without a guess. "refined" counts the pairs for which GICP converges from
its result. Also writes OUT.md and, for the bunny, the figure OUT.png.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from fine_tune_figure import draw_pairs
from registration_data import SCANS, Pair, bunny_pairs, lidar_pairs
from results_page import command_line

from prnet_core.evaluation.table import Column, Table
from prnet_core.fine_tuning import FineTuneConfig, ScanTransform, fine_tune
from prnet_core.fine_tuning.held_out import BASIN_DEG, BASIN_UNIT, CAP_DEG, in_basin
from prnet_core.fine_tuning.recent_scans import RecentScan
from prnet_core.fine_tuning.run import split_scans
from prnet_core.fine_tuning.scan_transforms import register_neighbours, transforms_between
from prnet_core.geometry import se3
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.model import PRNet, load_network
from prnet_core.odometry import ScanOdometry
from prnet_core.pairs.normalise import PairNormalisation, downsample_pair, normalise_pair
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import clean_points
from prnet_core.registration.registration import from_voxels, to_voxels
from prnet_core.registration.search import Search

SAMPLES = 4
"""Each pair is shown so often, each time with other points."""
CONFIG = RegistrationConfig()
COLUMNS = (
    Column("median_error_deg", "median error deg", "{:.2f}"),
    Column("mean_error_deg", f"mean, capped at {CAP_DEG:.0f}", "{:.2f}"),
    Column("share_within_5_deg", "within 5 deg", "{:.0%}"),
    Column("share_in_basin", f"in the basin ({BASIN_DEG:.0f} deg, {BASIN_UNIT})", "{:.0%}"),
    Column("share_refined", "correct after refinement", "{:.0%}"),
    Column("num_trials", "trials", "{}"),
)


@dataclass(frozen=True)
class Answer:
    """The network's result for a pair, without refinement. Errors in degrees and units of the network."""

    pair: Pair
    T_target_source: np.ndarray
    rotation_deg: float
    translation: float
    is_refined_right: bool


def run_network(network: PRNet, pairs: list[Pair]) -> list[Answer]:
    """SAMPLES answers to each pair."""
    answers = []
    for index, pair in enumerate(pairs):
        search = _search(pair)
        source, target = search.source, search.target
        shown: list[tuple[np.ndarray, np.ndarray, PairNormalisation]] = []
        for sample in range(SAMPLES):
            rng = np.random.default_rng([index, sample])
            shown.append(normalise_pair(*downsample_pair(source.points, target.points, CONFIG.network_points, rng)[:2]))
        clouds = (torch.from_numpy(np.stack([one[side] for one in shown])) for side in (0, 1))
        T_true = to_voxels(pair.T_target_source, source, target)
        for transform, (_, _, scaling) in zip(network.register(*clouds).double().numpy(), shown, strict=True):
            transform = se3.make_transform(se3.nearest_rotation(transform[:3, :3]), transform[:3, 3])
            true, estimate = scaling.to_unit(T_true), scaling.to_metric(transform)
            refined = search.refine([("network", estimate)])[0].transform
            answers.append(
                Answer(
                    pair,
                    from_voxels(estimate, source, target),
                    float(np.degrees(se3.rotation_angle(true[:3, :3].T @ transform[:3, :3]))),
                    float(np.linalg.norm(transform[:3, 3] - true[:3, 3])),
                    pair.is_correct(from_voxels(refined, source, target)),
                )
            )
    return answers


def _search(pair: Pair) -> Search:
    registration = Registration(None, CONFIG)
    clouds = [clean_points(cloud, CONFIG) for cloud in (pair.source, pair.target)]
    voxel = max(map(registration.voxel_size_for, clouds))
    return Search(*(registration.prepare(cloud, voxel) for cloud in clouds), None, CONFIG)


def row(name: str, answers: list[Answer]) -> dict:
    """A line of the table."""
    rotation = np.array([answer.rotation_deg for answer in answers])
    translation = np.array([answer.translation for answer in answers])
    return {
        "method": name,
        "median_error_deg": float(np.median(rotation)),
        "mean_error_deg": float(np.minimum(rotation, CAP_DEG).mean()),
        "share_within_5_deg": float((rotation < 5.0).mean()),
        "share_in_basin": float(in_basin(rotation, translation).mean()),
        "share_refined": float(np.mean([answer.is_refined_right for answer in answers])),
        "num_trials": len(answers),
        "errors_deg": [round(float(value), 2) for value in rotation],
    }


def in_both_directions(pairs: list[Pair]) -> list[Pair]:
    """The pairs, and the same with source and target exchanged."""
    return pairs + [
        Pair(f"{p.name}, exchanged", p.target, p.source, se3.invert(p.T_target_source), p.tolerance) for p in pairs
    ]


def bunny(network: PRNet, copies_only: bool) -> tuple[list[np.ndarray], list[ScanTransform], dict[str, list[Pair]]]:
    """Scans to tune on, transforms between them, and pairs for validation, by name."""
    folder = ScanFolder(SCANS / "bunny")
    scans = list(folder)
    transforms = [] if copies_only else register_neighbours(scans, Registration(network))
    tuned, _ = split_scans(scans, transforms, FineTuneConfig())
    names = [file.stem for file in folder.files]
    shown = {f"bunny {names[m.target]} <- {names[m.source]}" for some in tuned.transforms_of.values() for m in some}
    pairs = list(bunny_pairs())
    groups = {
        "bunny, pairs tuned on": [pair for pair in pairs if pair.name in shown],
        "bunny, other pairs": [pair for pair in pairs if pair.name not in shown],
    }
    return scans, transforms, {name: in_both_directions(some) for name, some in groups.items() if some}


def lidar(network: PRNet) -> tuple[list[np.ndarray], list[ScanTransform], dict[str, list[Pair]]]:
    """As `bunny`; the transforms are those that the odometry accepts, not the true ones."""
    folder = ScanFolder(SCANS / "lidar_hilti" / "part_a")
    third = len(folder) // 3
    odometry = ScanOdometry(Registration(network))
    recent = []
    for index in range(third):
        update = odometry.register_scan(folder[index], folder.stamps[index])
        pose = update.T_odom_sensor if update.status in ("first", "accepted") else None
        recent.append(RecentScan(folder[index], pose, update.stamp))
    pairs = {f"lidar, {apart} apart": list(lidar_pairs(apart, 2, 2 * third)) for apart in (1, 3, 6, 10)}
    return [scan.points for scan in recent], transforms_between(recent), pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("bunny", "lidar"))
    parser.add_argument("--copies-only", action="store_true", help="bunny: as the paper does, without neighbours")
    parser.add_argument("--weights", type=Path, help="default: the packaged ones")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--max-minutes", type=float, default=5.0)
    parser.add_argument("--epochs", type=int, default=FineTuneConfig.epochs)
    parser.add_argument("--examples", type=int, default=FineTuneConfig.examples_per_scan)
    parser.add_argument("--learning-rate", type=float, default=FineTuneConfig.learning_rate)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    network = load_network(arguments.weights, "cpu")
    if arguments.experiment == "bunny":
        scans, transforms, pairs = bunny(network, arguments.copies_only)
    else:
        scans, transforms, pairs = lidar(network)
    before = {name: run_network(network, some) for name, some in pairs.items()}
    config = FineTuneConfig(
        max_seconds=60.0 * arguments.max_minutes,
        epochs=arguments.epochs,
        examples_per_scan=arguments.examples,
        learning_rate=arguments.learning_rate,
    )
    began = time.process_time()
    report = fine_tune(network, scans, config, progress=_say, transforms=transforms)
    cpu_seconds = time.process_time() - began
    print("\n" + report.summary(), flush=True)
    after = {name: run_network(report.network, some) for name, some in pairs.items()}

    groups = {name: (before[name], after[name]) for name in pairs}
    if len(pairs) > 1 and arguments.experiment == "bunny":
        groups = {"bunny, all pairs": (sum(before.values(), []), sum(after.values(), [])), **groups}
    rows = []
    for name, (some_before, some_after) in groups.items():
        rows += [row(f"{name}, before", some_before), row(f"{name}, after", some_after)]
    table = Table(
        title=f"Fine-tuning on real scans: {arguments.experiment}, the network alone on pairs of different scans",
        command=command_line(),
        rows=rows,
        columns=COLUMNS,
        settings={"threads": arguments.threads, "cpu_seconds": round(cpu_seconds), "report": report.to_dict()},
        notes=(
            f"The run itself, validated on held-out scans: {report.summary()}. It took {cpu_seconds:.0f} s of CPU "
            f"time with {arguments.threads} threads.",
        ),
        first_heading="pairs",
    )
    table.write(arguments.out)
    print(table.to_markdown())
    if arguments.experiment == "bunny":
        shown = [
            (b.pair, b.T_target_source, a.T_target_source)
            for b, a in zip(sum(before.values(), []), sum(after.values(), []), strict=True)
            if not b.pair.name.endswith("exchanged")
        ]
        draw_pairs(shown[::SAMPLES], arguments.out.with_suffix(".png"))


def _say(progress) -> None:
    if progress.step % 10 == 0:
        print(f"\r{progress.step} {progress.loss:.2f} {progress.error_best_deg:.2f} {progress.seconds:.0f} s", end="")


if __name__ == "__main__":
    main()
