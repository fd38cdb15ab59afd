"""What the network alone finds on real scans, by overlap and by the number of points: no guess, and no refinement but
the alignment of its hypotheses on the network's own points.

    python benchmarks/scan_basin.py [--weights NAME] [--points 384 768 1536] [--passes N] [--as-is] [--json FILE]

Each source is rotated at random unless --as-is; scans come with their sensor's position, fragments and the bunny's
without. The last columns count a registration whose only hypotheses are the network's, refined and verified: no guess
and no features. A pair counts as found within its set's tolerance. Nothing of these scans is in the training data.
Seconds are CPU time of one thread a pair, from the prepared clouds to the transform.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from hard_pairs import camera_pairs, fragment_pairs, lidar_pairs_by_overlap, rotated_at_random, street_pairs
from registration_data import Pair, bunny_pairs
from results_page import command_line

from prnet_core.evaluation.table import Column, Table
from prnet_core.model import PRNet, load_network
from prnet_core.model.weights import FOR_SCANS
from prnet_core.registration import Registration
from prnet_core.registration.network_hypotheses import network_transforms
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.registration import from_voxels

SETS: dict[str, Callable[[], Iterator[Pair]]] = {
    "fragments, overlap > 0.3": lambda: fragment_pairs(0.3),
    "fragments, overlap 0.1-0.3": lambda: fragment_pairs(0.1, 0.3),
    "handheld LiDAR, overlap 0.4-0.6": lambda: lidar_pairs_by_overlap(0.4, 0.6),
    "handheld LiDAR, overlap 0.2-0.4": lambda: lidar_pairs_by_overlap(0.2, 0.4),
    "car's LiDAR, 10 m apart": street_pairs,
    "depth camera, overlap > 0.5": camera_pairs,
    "bunny, overlap > 0.3": bunny_pairs,
}


def measure(network: PRNet, pairs: list[Pair], num_points: int, passes: int) -> dict:
    """How many pairs are found, the median rotation error, and the mean CPU seconds a pair."""
    registration, errors, found, seconds = Registration(None), [], 0, 0.0
    for pair in pairs:
        source, target = prepared(registration, pair)
        began = time.process_time()
        transforms = network_transforms(network, source, target, num_points, passes, range(1))
        seconds += time.process_time() - began
        estimate = from_voxels(transforms[0], source, target) if transforms else np.eye(4)
        errors.append(pair.errors(estimate)[0])
        found += pair.is_correct(estimate)
    return {"found": found, "median_deg": float(np.median(errors)), "seconds": seconds / len(pairs)}


def measure_verified(network: PRNet, pairs: list[Pair]) -> dict:
    """Pairs found by the network's hypotheses, refined and verified; accepted ones; mean CPU seconds."""
    registration, counts, seconds = Registration(network), {"found": 0, "accepted": 0, "incorrect": 0}, 0.0
    for pair in pairs:
        source, target = prepared(registration, pair)
        began = time.process_time()
        result = registration.register_prepared(source, target, hypotheses="network", deadline=60.0)
        seconds += time.process_time() - began
        correct, accepted = pair.is_correct(result.T_target_source), result.status == "accepted"
        counts["found"] += correct
        counts["accepted"] += correct and accepted
        counts["incorrect"] += accepted and not correct
    return {f"verified_{key}": value for key, value in {**counts, "seconds": seconds / len(pairs)}.items()}


def prepared(registration: Registration, pair: Pair) -> tuple[PreparedCloud, PreparedCloud]:
    """Both clouds of a pair with one voxel size, scans with their sensor's position."""
    voxel_size = max(registration.voxel_size_for(cloud[:, :3]) for cloud in (pair.source, pair.target))
    origin = np.zeros(3) if pair.is_scan else None
    source, target = (registration.prepare(cloud, voxel_size, origin) for cloud in (pair.source, pair.target))
    return source, target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default=FOR_SCANS, help="weights file, or the name of packaged weights")
    parser.add_argument("--points", type=int, nargs="+", default=[384, 768, 1536])
    parser.add_argument("--passes", type=int, help="default: as the weights say")
    parser.add_argument("--as-is", action="store_true", help="do not rotate the sources")
    parser.add_argument("--sets", help="only sets whose name holds this")
    parser.add_argument("--json", type=Path, help="write the table here, and as Markdown beside it")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    network = load_network(arguments.weights, "cpu")
    passes = arguments.passes or network.config.num_passes
    rows = []
    for name, make in SETS.items():
        if arguments.sets and arguments.sets not in name:
            continue
        pairs = list(make() if arguments.as_is else rotated_at_random(make()))
        row = {"method": name, "pairs": len(pairs)}
        for points in arguments.points:
            row |= {f"{key}_{points}": value for key, value in measure(network, pairs, points, passes).items()}
        row |= measure_verified(network, pairs)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    columns = [Column("pairs", "pairs", "{}")]
    for points in arguments.points:
        columns += [
            Column(f"found_{points}", f"found with {points} points", "{}"),
            Column(f"median_deg_{points}", "median error, deg", "{:.2f}"),
            Column(f"seconds_{points}", "s a pair", "{:.3f}"),
        ]
    columns += [
        Column("verified_found", "found, verified", "{}"),
        Column("verified_accepted", "accepted", "{}"),
        Column("verified_incorrect", "incorrect accepted", "{}"),
        Column("verified_seconds", "s a pair", "{:.3f}"),
    ]
    table = Table(
        title="Real scans, the network alone",
        command=command_line(),
        rows=rows,
        columns=tuple(columns),
        settings={"weights": Path(arguments.weights).name, "passes": passes},
        notes=(
            "Found: 15 deg and 0.3 m (fragments), 5 deg and 1 m (handheld LiDAR), 5 deg and 2 m (car), "
            "2 deg and 0.1 m (depth camera), 5 deg and 1 cm (bunny).",
            "Verified: a registration whose only hypotheses are the network's, with refinement and verification.",
        ),
        first_heading="pairs of",
    )
    if arguments.json:
        table.write(arguments.json)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
