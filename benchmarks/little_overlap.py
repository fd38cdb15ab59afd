"""The whole registration on simulated pairs with little overlap, without a guess: with the network and without it.

    OMP_NUM_THREADS=1 python benchmarks/little_overlap.py [--first 0] [--places 30] [--json FILE]

Kinds: fused fragments of cluttered rooms (without a sensor position), scans of simulated LiDARs and single frames of
noisy depth cameras (with it), each source rotated at random. The places are those of the training simulator with other
seeds; --first and --places choose them. At most four pairs of a place and range of overlap.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from labelled_pair import ORIGIN, Pair
from results_page import command_line

from prnet_core.evaluation.table import Column, Table
from prnet_core.geometry import se3
from prnet_core.geometry.overlap import mutual_overlap
from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.model import load_network
from prnet_core.model.weights import FOR_SCANS
from prnet_core.registration import Registration
from prnet_core.training.surface_pair_data import PLACES

OVERLAPS = ((0.1, 0.3), (0.3, 0.5))
TOLERANCES = {"fragments": (15.0, 0.3), "lidar": (5.0, 1.0), "depth": (5.0, 0.2)}
PAIRS_A_PLACE, SEED = 4, 9_100_000
COUNTS = {"correct": "correct", "accepted": "of these accepted", "incorrect": "incorrect accepted"}


def simulated_pairs(kind: str, overlap: tuple[float, float], places: range) -> Iterator[Pair]:
    """Pairs of views of each place whose smaller overlap lies within the limits."""
    make, voxel = PLACES[kind]
    for place in places:
        rng = np.random.default_rng([SEED, place])
        views = make(rng)
        clouds = [voxel_centroids(view.points, voxel) for view in views]
        chosen = [
            (i, j)
            for i, j in combinations(range(len(views)), 2)
            if overlap[0] < mutual_overlap(clouds[i], clouds[j], 1.5 * voxel) <= overlap[1]
        ]
        for i, j in chosen[:PAIRS_A_PLACE]:
            rotation = se3.make_transform(any_rotation(rng), np.zeros(3))
            own, target = (se3.apply(se3.invert(view.T_world_sensor), view.points) for view in (views[i], views[j]))
            relative = se3.invert(views[j].T_world_sensor) @ views[i].T_world_sensor @ se3.invert(rotation)
            origin = None if kind == "fragments" else ORIGIN
            source = se3.apply(rotation, own)
            yield Pair(kind, f"place {place}", source, target, relative, origin, origin, TOLERANCES[kind])


def measure(registration: Registration, pairs: list[Pair]) -> dict:
    """Correct transforms, those that are accepted, incorrect accepted ones, and the median CPU seconds of a pair."""
    correct = accepted = incorrect = 0
    seconds = []
    for pair in pairs:
        clouds, origins = (pair.source_points, pair.target_points), (pair.source_origin, pair.target_origin)
        began = time.process_time()
        result = registration.register(*clouds, source_origin=origins[0], target_origin=origins[1])
        seconds.append(time.process_time() - began)
        is_correct, is_accepted = pair.is_correct(result.T_target_source), result.status == "accepted"
        correct += is_correct
        accepted += is_correct and is_accepted
        incorrect += is_accepted and not is_correct
    return {"correct": correct, "accepted": accepted, "incorrect": incorrect, "seconds": statistics.median(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="number of the first place")
    parser.add_argument("--places", type=int, default=30)
    parser.add_argument("--weights", default=FOR_SCANS, help="weights file, or the name of packaged weights")
    parser.add_argument("--json", type=Path, help="write the table here, and as Markdown beside it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    places, rows = range(arguments.first, arguments.first + arguments.places), []
    methods = {"without": Registration(None), "with": Registration(load_network(arguments.weights, "cpu"))}
    for kind in TOLERANCES:
        for overlap in OVERLAPS:
            pairs = list(simulated_pairs(kind, overlap, places))
            row = {"method": f"{kind}, overlap {overlap[0]}-{overlap[1]}", "pairs": len(pairs)}
            for name, registration in methods.items():
                row |= {f"{name}_{key}": value for key, value in measure(registration, pairs).items()}
            print(row, flush=True)
            rows.append(row)
    columns = [Column("pairs", "pairs", "{}")]
    for name in methods:
        said = f"{name} the network" if name == "with" else "without"
        columns += [Column(f"{name}_{key}", f"{said}: {text}", "{}") for key, text in COUNTS.items()]
        columns.append(Column(f"{name}_seconds", f"{said}: median CPU s", "{:.2f}"))
    table = Table(
        title="Pairs with little overlap, the whole registration without a guess",
        command=command_line(),
        rows=rows,
        columns=tuple(columns),
        settings={name: getattr(arguments, name) for name in ("weights", "first", "places")},
        notes=("Correct: 15 deg and 0.3 m (fragments), 5 deg and 1 m (lidar), 5 deg and 0.2 m (depth).",),
        first_heading="pairs of",
    )
    if arguments.json:
        table.write(arguments.json)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
