"""Registration of real pairs of scans without a guess, ours and peers in one run.

    OMP_NUM_THREADS=1 python benchmarks/registration_pairs.py --out docs/results/registration_pairs.json

Ours is asked with the network and without, and with each of its refinements (GICP when none is named); `--methods` and
`--sets` narrow the run. Times are CPU seconds of one thread, the mean over the pairs, everything from raw points
included.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import numpy as np
from registration_data import Pair, bunny_pairs, lidar_pairs, other_right_pairs, turned
from registration_peers import PEERS

from prnet_core.evaluation.table import measured_here
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.config import Refinement

SETS: dict[str, Callable[[], Iterator[Pair]]] = {
    "bunny": bunny_pairs,
    "bunny, turned up to 45 deg": lambda: turned(bunny_pairs(), 45.0),
    "bunny, turned up to 90 deg": lambda: turned(bunny_pairs(), 90.0),
    "bunny, turned up to 180 deg": lambda: turned(bunny_pairs(), 180.0),
    "lidar, 1 apart": lambda: lidar_pairs(1),
    "lidar, 3 apart": lambda: lidar_pairs(3),
    "lidar, 6 apart": lambda: lidar_pairs(6),
    "lidar, 10 apart": lambda: lidar_pairs(10),
    "street, car, room, depth camera": other_right_pairs,
}
OURS, OURS_CLASSICAL = "prnet_ros", "prnet_ros, no network"


def load_methods(weights: str | None) -> dict[str, Callable]:
    """All methods by name: each takes source and target and gives T_target_source, ours a result."""
    import torch

    from prnet_core.model import load_network

    torch.set_num_threads(1)
    network = load_network(weights, "cpu").eval()
    return {
        **PEERS,
        OURS_CLASSICAL: Registration(None).register,
        OURS: Registration(network).register,
        **{
            f"{OURS}, {name}": Registration(network, RegistrationConfig(refinement=name)).register
            for name in get_args(Refinement)[1:]
        },
    }


def run_set(pairs: list[Pair], method: Callable) -> dict:
    """Counts, errors, statuses and CPU seconds of one method over the pairs."""
    rows, seconds = [], 0.0
    for pair in pairs:
        began = time.process_time()
        answer = method(pair.source, pair.target)
        seconds += time.process_time() - began
        estimate = getattr(answer, "T_target_source", answer)
        degrees, metres = pair.errors(estimate)
        row = {"pair": pair.name, "right": pair.is_right(estimate), "degrees": degrees, "metres": metres}
        if estimate is not answer:
            row |= {"status": answer.status, "hypothesis": answer.hypothesis, "inlier_ratio": answer.inlier_ratio}
        rows.append(row)
    right = [row for row in rows if row["right"]]
    return {
        "right": len(right),
        "of": len(rows),
        "cpu_seconds": seconds / len(rows),
        "median_degrees_of_right": float(np.median([row["degrees"] for row in right])) if right else None,
        "median_metres_of_right": float(np.median([row["metres"] for row in right])) if right else None,
        "pairs": rows,
    }


def to_markdown(results: dict, command: str) -> str:
    """One table: right pairs of all, and CPU seconds a pair."""
    methods = list(next(iter(results.values())))
    lines = [
        "# Registration of real pairs without a guess",
        "",
        f"`{command}`",
        "",
        measured_here(),
        "",
        "Right pairs, and CPU seconds a pair (one thread, points to transform). Right: within 5 degrees and 1 cm for",
        "the bunny, 2 degrees and 0.3 m else (0.1 m for the depth camera). Errors are those of the source's centre.",
        "",
        "| method | " + " | ".join(results) + " |",
        "|---|" + "---|" * len(results),
    ]
    for method in methods:
        cells = [
            f"{result[method]['right']}/{result[method]['of']}, {result[method]['cpu_seconds']:.2f} s"
            for result in results.values()
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines += ["", "Which hypothesis won, ours with the network:", "", "| set | hypotheses |", "|---|---|"]
    for name, result in results.items():
        if OURS in result:
            starts = [row["hypothesis"] for row in result[OURS]["pairs"]]
            counts = ", ".join(f"{start} {starts.count(start)}" for start in dict.fromkeys(starts))
            lines.append(f"| {name} | {counts} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON here, the table as Markdown beside it")
    parser.add_argument("--weights", help="weights file; the packaged one when left out")
    parser.add_argument("--methods", nargs="*", help="only methods whose name contains one of these")
    parser.add_argument("--sets", nargs="*", help="only sets whose name contains one of these")
    args = parser.parse_args()
    methods = {
        name: method
        for name, method in load_methods(args.weights).items()
        if not args.methods or any(part in name for part in args.methods)
    }
    first = next(lidar_pairs(1))
    for method in methods.values():  # imports and first calls are not timed
        method(first.source, first.target)
    results: dict[str, dict] = {}
    for set_name, make in SETS.items():
        if args.sets and not any(part in set_name for part in args.sets):
            continue
        pairs = list(make())
        results[set_name] = {}
        for name, method in methods.items():
            results[set_name][name] = result = run_set(pairs, method)
            print(
                f"{set_name}: {name}: {result['right']}/{result['of']}, {result['cpu_seconds']:.2f} s",
                flush=True,
            )
    command = "python benchmarks/registration_pairs.py " + " ".join(sys.argv[1:])
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps({"command": command, "results": results}, indent=1))
        args.out.with_suffix(".md").write_text(to_markdown(results, command))
    print(to_markdown(results, command))


if __name__ == "__main__":
    main()
