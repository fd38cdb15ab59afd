"""How well the registration tells right from wrong: precision and recall of its judgement on labelled motions.

    OMP_NUM_THREADS=1 python benchmarks/registration_judgement.py --out docs/results/registration_judgement.json

Motions of pairs with a known truth are right or wrong by their error; they come from the whole search and from the
refinement of starts that were turned by 25, 90 and 180 degrees, which mostly stick in a wrong place. Motions between
different places and different objects are all wrong.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from prnet_core.registration.judge import judge
from registration_data import (
    Pair,
    bunny_pairs,
    different_places,
    lidar_pairs,
    other_right_pairs,
    shape_views,
    turned,
)
from registration_peers import prepare_pair
from scipy.optimize import minimize

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.registration import from_voxels, to_voxels
from prnet_core.registration.search import Candidate, Search

CONFIG = RegistrationConfig()
STUCK_DEG = (25.0, 90.0, 180.0)
STATUSES = ("accepted", "weak", "rejected")
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.88, 0.92, 0.95, 0.98, 0.99)


def groups() -> Iterator[tuple[str, Iterator[Pair]]]:
    """Named groups of pairs; those of `different` have no right motion."""
    yield "lidar, 1 to 10 apart", (pair for k in (1, 3, 6, 10) for pair in lidar_pairs(k, 11, k))
    yield "lidar, 20 to 60 apart (small overlap)", (pair for k in (20, 40, 60) for pair in lidar_pairs(k, 11))
    yield "bunny, turned up to 180 deg", turned(bunny_pairs(), 180.0, seed=1)
    yield "bunny, overlap under 0.3", bunny_pairs(0.0, 0.3)
    yield "street, car, room, depth camera", turned(other_right_pairs(), 45.0, seed=2)
    yield "different places", different_places()
    yield "different objects", shape_views(60)


def motions(pair: Pair, rng: np.random.Generator) -> Iterator[tuple[Candidate, np.ndarray]]:
    """The search's answer and those of wrong starts, each with T_target_source."""
    source, target = prepare_pair(pair.source, pair.target)
    if min(len(source), len(target)) < CONFIG.min_points:
        return
    search = Search(source, target, None, CONFIG)
    candidates = [search.best(None, to_voxels(np.eye(4), source, target))]
    if pair.T_target_source is not None:
        truth = to_voxels(pair.T_target_source, source, target)
        for degrees in STUCK_DEG:
            axis = rng.normal(size=3)
            turn = se3.rotation_exp(axis / np.linalg.norm(axis) * np.radians(degrees))
            candidates.append(search.refine([("turned", se3.make_transform(turn, np.zeros(3)) @ truth)]))
    for candidate in candidates:
        yield candidate, from_voxels(candidate.motion, source, target)


def collect() -> list[dict]:
    """One row a motion: group, pair, right, status, quality."""
    rng, rows = np.random.default_rng(0), []
    for group, pairs in groups():
        for pair in pairs:
            for candidate, motion in motions(pair, rng):
                status, reason = judge(candidate.evidence, CONFIG)
                rows.append(
                    {
                        "group": group,
                        "pair": pair.name,
                        "start": candidate.start,
                        "right": pair.is_right(motion),
                        "status": status,
                        "reason": reason,
                        "score": candidate.evidence.score,
                        "inlier_ratio": candidate.evidence.inlier_ratio,
                        "residual": candidate.evidence.residual,
                        "overlap_source": candidate.evidence.overlap_source,
                        "overlap_target": candidate.evidence.overlap_target,
                        "errors": None if pair.T_target_source is None else pair.errors(motion),
                    }
                )
        print(group, len(rows), flush=True)
    return rows


def fit(rows: list[dict]) -> np.ndarray:
    """Logistic regression, right and wrong weighing the same: (constant, overlap, residual)."""
    values, right = parts(rows), np.array([row["right"] for row in rows])
    weight = np.where(right, 1.0 / right.sum(), 1.0 / (~right).sum())

    def loss(coefficients: np.ndarray) -> float:
        odds = values @ coefficients
        return float(
            weight @ np.logaddexp(0.0, np.where(right, -odds, odds)) + 1e-5 * coefficients @ coefficients
        )

    return minimize(loss, np.zeros(3)).x


def parts(rows: list[dict]) -> np.ndarray:
    """(N, 3): 1, geometric mean of the overlaps, residual."""
    overlap = [np.sqrt(row["overlap_source"] * row["overlap_target"]) for row in rows]
    residual = [min(row["residual"], 1.0) for row in rows]
    return np.stack([np.ones(len(rows)), overlap, residual], axis=1)


def held_out(rows: list[dict]) -> list[str]:
    """For each group the thresholds applied to it with coefficients fitted to the other groups."""
    lines = ["", "The same with the coefficients fitted to the other groups only:", ""]
    lines += [
        "| held out | constant, overlap, residual | right rejected | wrong accepted |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["group"] for row in rows):
        coefficients = fit([row for row in rows if row["group"] != name])
        chosen = [row for row in rows if row["group"] == name]
        confidence = 1.0 / (1.0 + np.exp(-parts(chosen) @ coefficients))
        right = np.array([row["right"] for row in chosen])
        rejected = f"{np.sum(right & (confidence < CONFIG.min_confidence_weak))} of {right.sum()}"
        accepted = f"{np.sum(~right & (confidence >= CONFIG.min_confidence_accepted))} of {(~right).sum()}"
        text = ", ".join(f"{value:.1f}" for value in coefficients)
        lines.append(f"| {name} | {text} | {rejected} | {accepted} |")
    return lines


def share(rows: list[dict], status: str) -> str:
    count = sum(row["status"] == status for row in rows)
    return f"{count} ({100 * count / len(rows):.1f} %)" if rows else "-"


def to_markdown(rows: list[dict], command: str) -> str:
    lines = [
        "# The judgement: right or wrong",
        "",
        f"`{command}`",
        "",
        measured_here(),
        "",
        "Each motion is right or wrong by the truth (5 degrees and 1 cm for the bunny, 2 degrees and 0.3 m else). The",
        "confidence is the logistic function of 1.7 + 11.2 overlap - 34.4 residual: the geometric mean of the overlaps",
        "both ways, the rms distance of the inliers to the target's planes in voxels; fitted to such motions.",
        f"Accepted from {CONFIG.min_confidence_accepted}, weak from {CONFIG.min_confidence_weak}, and only weak when",
        "the scene leaves a direction of motion free. Clouds that overlap by more than "
        f"{100 * CONFIG.full_overlap:.0f} % both ways within {CONFIG.full_overlap_residual} voxels are at least weak:",
        "noisy or blurred; no wrong motion here does so. The recordings are those that the confidence was fitted to.",
        "",
        "| group | right: accepted | weak | rejected | wrong: accepted | weak | rejected |",
        "|---|---|---|---|---|---|---|",
    ]
    names = list(dict.fromkeys(row["group"] for row in rows))
    for name in [*names, "all"]:
        chosen = [row for row in rows if name in (row["group"], "all")]
        parts = [[row for row in chosen if row["right"] == right] for right in (True, False)]
        cells = [share(part, status) for part in parts for status in STATUSES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "Precision and recall of a threshold on the confidence, over all motions:", ""]
    lines += ["| confidence from | precision | recall | wrong let through |", "|---|---|---|---|"]
    confidence = np.array([1.0 / (1.0 + np.exp(-row["score"])) for row in rows])
    right = np.array([row["right"] for row in rows])
    for threshold in THRESHOLDS:
        passed = confidence >= threshold
        lines.append(
            f"| {threshold} | {np.mean(right[passed]):.3f} | {np.mean(passed[right]):.3f} "
            f"| {np.mean(passed[~right]):.3f} |"
        )
    lines += held_out(rows)
    wrong = [row for row in rows if not row["right"] and row["status"] == "accepted"]
    if wrong:
        lines += ["", "Wrong and accepted:", ""]
        lines += [f"- {row['pair']} ({row['start']}): {row['reason']}" for row in wrong]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="JSON here, the tables as Markdown beside it")
    args = parser.parse_args()
    rows = collect()
    command = "python benchmarks/registration_judgement.py " + " ".join(sys.argv[1:])
    text = to_markdown(rows, command)
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps({"command": command, "motions": rows}, indent=1))
        args.out.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
