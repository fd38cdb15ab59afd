"""Registration of real pairs of scans without a guess, ours and peers in one run.

    OMP_NUM_THREADS=1 python benchmarks/registration_pairs.py --out docs/results/registration_pairs.json

Ours runs without a network, with each of the packaged networks, and with each of its refinements (GICP when none is
named); scans are given with their sensor's position. `--methods` and `--sets` narrow the run. Times are CPU seconds of
one thread, the median over the pairs, everything from raw points included.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import results_page
from hard_pairs import camera_pairs, fragment_pairs, lidar_pairs_by_overlap, rotated_at_random, street_pairs
from registration_data import Pair, bunny_pairs, lidar_pairs, other_scan_pairs, rotated
from registration_peers import PEERS

from prnet_core.registration import Registration
from prnet_core.registration.result import RegistrationResult

SETS: dict[str, Callable[[], Iterator[Pair]]] = {
    "bunny": bunny_pairs,
    "bunny, rotated up to 45 deg": lambda: rotated(bunny_pairs(), 45.0),
    "bunny, rotated up to 90 deg": lambda: rotated(bunny_pairs(), 90.0),
    "bunny, rotated up to 180 deg": lambda: rotated(bunny_pairs(), 180.0),
    "lidar, 1 apart": lambda: lidar_pairs(1),
    "lidar, 3 apart": lambda: lidar_pairs(3),
    "lidar, 6 apart": lambda: lidar_pairs(6),
    "lidar, 10 apart": lambda: lidar_pairs(10),
    "street, car, room, depth camera": other_scan_pairs,
    "fragments, overlap > 0.3": lambda: rotated_at_random(fragment_pairs(0.3)),
    "fragments, overlap 0.1-0.3": lambda: rotated_at_random(fragment_pairs(0.1, 0.3)),
    "lidar, overlap 0.2-0.4": lambda: rotated_at_random(lidar_pairs_by_overlap(0.2, 0.4)),
    "car's lidar, 10 m apart": lambda: rotated_at_random(street_pairs()),
    "depth camera, overlap > 0.5": lambda: rotated_at_random(camera_pairs()),
}
OURS, OURS_CLASSICAL = "prnet_ros", "prnet_ros, no network"


def load_methods(weights: str | None) -> dict[str, Callable[[Pair], object]]:
    """All methods by name: each takes a pair and gives T_target_source, ours a result.

    weights: a file that replaces the default network.
    """
    import torch

    from prnet_core.model import load_network
    from prnet_core.model.weights import FOR_SCANS, PACKAGED_BY_NAME

    torch.set_num_threads(1)
    others = [name for name in PACKAGED_BY_NAME if name != FOR_SCANS]
    networks = {f"{OURS}, network {name}": load_network(name, "cpu") for name in others}
    default = load_network(weights or FOR_SCANS, "cpu")
    return {
        **{name: peer(method) for name, method in PEERS.items()},
        OURS_CLASSICAL: ours(Registration(None)),
        OURS: ours(Registration(default)),
        **{name: ours(Registration(network)) for name, network in networks.items()},
    }


def peer(method: Callable) -> Callable[[Pair], np.ndarray]:
    """A method of source and target as one of a pair."""
    return lambda pair: method(pair.source, pair.target)


def ours(registration: Registration) -> Callable[[Pair], RegistrationResult]:
    """Registers a pair; scans with their sensor's position."""

    def register(pair: Pair) -> RegistrationResult:
        origin = np.zeros(3) if pair.is_scan else None
        return registration.register(pair.source, pair.target, source_origin=origin, target_origin=origin)

    return register


def run_set(pairs: list[Pair], method: Callable[[Pair], object]) -> dict:
    """Counts, errors, statuses and CPU seconds of one method over the pairs."""
    rows = []
    for pair in pairs:
        began = time.process_time()
        answer = method(pair)
        seconds = time.process_time() - began
        estimate = getattr(answer, "T_target_source", answer)
        degrees, metres = pair.errors(estimate)
        row = {"pair": pair.name, "correct": pair.is_correct(estimate), "degrees": degrees, "metres": metres}
        row["cpu_seconds"] = seconds
        if estimate is not answer:
            row |= {"status": answer.status, "hypothesis": answer.hypothesis, "inlier_ratio": answer.inlier_ratio}
        rows.append(row)
    correct = [row for row in rows if row["correct"]]
    return {
        "correct": len(correct),
        "of": len(rows),
        "incorrect_accepted": sum(row.get("status") == "accepted" and not row["correct"] for row in rows),
        "cpu_seconds": float(np.median([row["cpu_seconds"] for row in rows])),
        "median_degrees_of_correct": float(np.median([row["degrees"] for row in correct])) if correct else None,
        "median_metres_of_correct": float(np.median([row["metres"] for row in correct])) if correct else None,
        "pairs": rows,
    }


def to_markdown(results: dict) -> str:
    """One table: correct pairs of all, and CPU seconds a pair."""
    methods = next(iter(results.values()))
    about = [
        "Correct pairs, incorrect ones that were accepted (ours), and the median CPU seconds of a pair: one thread,",
        "from raw points. Correct: within 5 degrees and 1 cm for the bunny, 15 degrees and 0.3 m for fragments,",
        "5 degrees and 1 m for the lidar at little overlap, 5 degrees and 2 m for the car at 10 m, 2 degrees and 0.3 m",
        "else (0.1 m for the depth camera). Errors are those of the source's centre.",
    ]
    rows = [[method, *(cell(result[method]) for result in results.values())] for method in methods]
    hypotheses = []
    for set_name, result in results.items():
        if OURS in result:
            names = [row["hypothesis"] for row in result[OURS]["pairs"]]
            hypotheses.append([set_name, ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))])
    return results_page.page(
        "Registration of real pairs without a guess",
        about,
        results_page.table(["method", *results], rows),
        ["Hypothesis of the result, ours with the network:"],
        results_page.table(["set", "hypotheses"], hypotheses),
    )


def cell(result: dict) -> str:
    """Of one method and set, for the table."""
    incorrect = f", {result['incorrect_accepted']} incorrect accepted" if result["incorrect_accepted"] else ""
    return f"{result['correct']}/{result['of']}{incorrect}, {result['cpu_seconds']:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="JSON here, the table as Markdown beside it")
    parser.add_argument("--weights", help="weights file; the packaged one for scans when left out")
    parser.add_argument("--methods", nargs="*", help="only methods whose name contains one of these")
    parser.add_argument("--sets", nargs="*", help="only sets whose name contains one of these")
    parser.add_argument("--every", type=int, default=1, help="only every N-th pair of a set")
    args = parser.parse_args()
    methods = {
        name: method
        for name, method in load_methods(args.weights).items()
        if not args.methods or any(part in name for part in args.methods)
    }
    first = next(lidar_pairs(1))
    for method in methods.values():  # imports and first calls are not timed
        method(first)
    results: dict[str, dict] = {}
    for set_name, make in SETS.items():
        if args.sets and not any(part in set_name for part in args.sets):
            continue
        pairs = list(make())[:: args.every]
        results[set_name] = {}
        for name, method in methods.items():
            results[set_name][name] = result = run_set(pairs, method)
            print(f"{set_name}: {name}: {cell(result)}", flush=True)
    text = to_markdown(results)
    if args.out:
        results_page.write_results(args.out, {"command": results_page.command_line(), "results": results}, text)
    print(text)


if __name__ == "__main__":
    main()
