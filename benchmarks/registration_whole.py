"""The whole search: what `Registration.register` accepts of pairs without a guess, or with the identity as guess.

    OMP_NUM_THREADS=1 python benchmarks/registration_whole.py --group rooms

Groups: those of `registration_verification.py --list`, 'held out', and 'symmetric shapes': a cube and an open box,
whose pose is not unique, and a cube with a knob, whose pose is.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
from held_out_pairs import HELD_OUT, held_out_pairs
from registration_verification import SPECIAL
from verification_data import Pair, pairs

from prnet_core.geometry import se3
from prnet_core.model import load_network
from prnet_core.registration import Registration

STATUSES = ("accepted", "ambiguous", "weak", "rejected")


def symmetric_shapes() -> Iterator[Pair]:
    """20 pairs each of a cube, an open box and a cube with a knob, 5,000 points with 3 mm of noise, any rotation."""
    for number in range(20):
        for name in ("cube", "open box", "knob"):
            rng = np.random.default_rng([number, len(name)])
            ground_truth = se3.exp(rng.normal(size=6) * (1.0, 1.0, 1.0, 2.0, 2.0, 2.0))
            source, target = se3.apply(se3.invert(ground_truth), shape(name, rng)), shape(name, rng)
            yield Pair(name, name, source, target, ground_truth, tolerance=(3.0, 0.03))


def shape(name: str, rng: np.random.Generator, count: int = 5000) -> np.ndarray:
    """Points (N, 3) on a shape of about 1 m."""
    face = rng.integers(0, 5 if name == "open box" else 6, count)
    points = rng.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), face // 2] = np.where(face % 2, 0.5, -0.5)
    if name == "open box":
        points *= (1.3, 1.0, 0.7)
    if name == "knob":
        ball = rng.normal(size=(count // 12, 3))
        ball = 0.12 * ball / np.linalg.norm(ball, axis=1, keepdims=True) + (0.3, 0.25, 0.52)
        points = np.vstack([points[len(ball) :], ball])
    return points + 0.003 * rng.normal(size=points.shape)


def register(registration: Registration, pair: Pair, guess: np.ndarray | None) -> tuple[str, bool, float]:
    """Status, whether the transform is correct, and CPU seconds."""
    began = time.process_time()
    result = registration.register(
        pair.source_points,
        pair.target_points,
        guess,
        source_origin=pair.source_origin,
        target_origin=pair.target_origin,
    )
    return result.status, pair.is_correct(result.T_target_source), time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", required=True)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("FIRST", "EVERY"))
    parser.add_argument("--with-identity", action="store_true", help="the same with the identity as guess, too")
    parser.add_argument("--weights", help="with a network: weights file, or the name of packaged weights")
    arguments = parser.parse_args()
    special = {
        **SPECIAL,
        "held out": lambda: (pair for name in HELD_OUT for pair in held_out_pairs(name)),
        "symmetric shapes": symmetric_shapes,
    }
    found = special.get(arguments.group, lambda: pairs(arguments.group))()
    network = load_network(arguments.weights, "cpu") if arguments.weights else None
    registration, rows = Registration(network), []
    for pair in islice(found, arguments.part[0], None, arguments.part[1]):
        guesses = (None, np.eye(4)) if arguments.with_identity else (None,)
        for guess in guesses:
            name = pair.group + ("" if guess is None else ", identity as guess")
            rows.append((name, *register(registration, pair, guess)))
    print("| pairs | number | " + " | ".join(f"{s}: correct, incorrect" for s in STATUSES) + " | CPU s |")
    print("|" + "---|" * (len(STATUSES) + 3))
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        cells = []
        for status in STATUSES:
            correct = [row[2] for row in mine if row[1] == status]
            cells.append(f"{sum(correct)}, {len(correct) - sum(correct)}")
        seconds = np.mean([row[3] for row in mine])
        print(f"| {name} | {len(mine)} | " + " | ".join(cells) + f" | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
