"""Verification of registrations: what is accepted of correct and incorrect candidates, the formula before and now.

    for each name of --list:  python benchmarks/registration_verification.py --collect NAME      (minutes each)
    python benchmarks/registration_verification.py --report --out docs/results/registration_verification.json
    python benchmarks/registration_verification.py --fit     writes prnet_core/registration/calibration.py

Candidates lie in data/verification_candidates (not part of the repository). The report leaves one group out at a time:
thresholds come from the other groups. `registration_whole.py` measures the whole search.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from registration_data import shape_views
from verification_candidates import Row, collect, load, measure_again
from verification_data import Pair, available_groups, different_places, pairs, twin_pairs
from verification_fit import confidence_features, fit_logistic, write_calibration

from prnet_core.evaluation.table import measured_here
from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import outstanding_factor, score, verify

CONFIG = RegistrationConfig()
VIOLATIONS = (0.005, 0.008, 0.01, 0.012, 0.015, 0.02, 0.025, 0.03, 0.04)
MOST_INCORRECT, MARGIN = 0.001, 0.8
ALIKE = ("different twins",)


NOTES = [
    "",
    "What is held out: the violation limit in *left out*, and the coefficients of the confidence in its table.",
    "The other thresholds (agreement, surfaces, alternatives) were chosen with these candidates at hand; no",
    "sensor is kept back.",
    "",
    "What is left: *table top*, a noisy stereo camera, is never accepted. The refinement leaves the tolerance",
    "even from the ground truth in two thirds of its pairs, larger voxels did not help, and its correct",
    "candidates agree no better than those that are 3 to 15 degrees off. *Depth camera*, *garage* and *stairs*:",
    "moving people close to the sensor, thin structures and wide baselines violate free space; views of a single",
    "wall are not constrained, and are left out of the percentages. Accepting those that agree 1.5 times as much",
    "as all others gained 8 pairs, but also accepted two more pairs of different places, and rooms flipped by",
    "180 degrees whose correct pose had not been found. *Crowd*: people violate free space, so that no candidate",
    "is accepted by itself; the correct one is accepted because it agrees much better than all others.",
    "*Corridors*: rotated or moved candidates are accepted by themselves; the search compares them with the",
    "correct one. *Different places*: the one accepted pair are two floors of one staircase, which look alike.",
    "*Fragments* have no sensor origin; those that overlap least are not accepted. Street, stairs, park, garage,",
    "offices, table top and depth camera were simulated before the last change of the simulator's range noise.",
]


def different_objects():
    """Half views of different objects, without an origin."""
    for pair in shape_views(60):
        yield Pair("different objects", pair.name, pair.source, pair.target, None)


SPECIAL = {
    "different places": different_places,
    "different twins": lambda: twin_pairs(0, False),
    "different objects": different_objects,
}


def accepted_before(row: Row) -> bool:
    """The formula of before: overlap and residual, with its fixed coefficients and threshold."""
    quality = row.quality
    odds = 1.7 + 11.2 * quality.overlap - 34.4 * min(quality.residual, 1.0)
    return odds >= np.log(0.88 / 0.12) and quality.num_inliers >= 50 and row.previous_information >= 0.008


def accepted_now(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    return verify(row.quality, config)[0] == "accepted"


def stands_out(row: Row, others: list[Row], config: RegistrationConfig) -> bool:
    """The search's rule for a candidate that agrees much better than all distinct ones, among those collected."""
    factor = outstanding_factor(row.quality, config)
    if factor == float("inf"):
        return False
    return all(factor * other.quality.agreement <= row.quality.agreement for other in others if is_distinct(row, other))


def is_distinct(first: Row, second: Row) -> bool:
    """Rotated by more than 5 degrees, or moved by more than 0.3 m."""
    difference = se3.invert(first.transform) @ second.transform
    moved = np.linalg.norm(difference[:3, 3]) > 0.3
    return bool(moved or se3.rotation_angle(difference[:3, :3]) > np.radians(5.0))


@dataclass(frozen=True)
class Kept:
    """The candidate of a pair that the search would keep, and whether it would be accepted."""

    row: Row
    is_accepted: bool

    @property
    def is_correct_accepted(self) -> bool:
        return self.is_accepted and self.row.is_correct

    @property
    def is_incorrect_accepted(self) -> bool:
        return self.is_accepted and not self.row.is_correct


def best_of_pairs(rows: list[Row], config: RegistrationConfig = CONFIG, without_correct: bool = False) -> list[Kept]:
    """One candidate of each pair."""
    kept = []
    for _, group in groupby(rows, key=lambda row: (row.group, row.recording, row.pair)):
        group = [row for row in group if not (without_correct and row.is_correct)]
        if group:
            best = max(group, key=lambda row: (accepted_now(row, config), score(row.quality)))
            kept.append(Kept(best, accepted_now(best, config) or stands_out(best, group, config)))
    return kept


def left_out_threshold(groups: list[list[Row]]) -> float:
    """The largest free-space violation up to which at most 0.1 % of the incorrect candidates are kept, less 20 %."""
    best = VIOLATIONS[0]
    count = sum(not row.is_correct for rows in groups for row in rows)
    for limit in VIOLATIONS:
        config = RegistrationConfig(max_violation_accepted=limit)
        incorrect = sum(kept.is_incorrect_accepted for rows in groups for kept in best_of_pairs(rows, config))
        if incorrect > MOST_INCORRECT * count:
            break
        best = limit
    return MARGIN * best


def with_origin(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.quality.violation is not None]


def report(groups: dict[str, list[Row]], command: str) -> tuple[str, dict]:
    """Markdown and what it is made of."""
    lines = [
        "# Verification of registrations",
        "",
        f"`{command}`",
        "",
        measured_here(),
        "",
        "Candidates are refined hypotheses, correct by the tolerance of their group (2 degrees and 0.3 m unless the",
        "group says otherwise). *Before*: overlap and residual. *Now*: each candidate by itself, shipped thresholds.",
        "*Best of pair*: the candidate that the search keeps, accepted by itself or because it agrees much better than",
        "all distinct ones of its pair; correct ones in percent of the pairs with a correct candidate that the scene",
        "constrains, incorrect ones in percent of all pairs. *Left out*: the same, the largest violation chosen on all",
        "other groups; the other thresholds are the shipped ones, chosen on these candidates. *Best incorrect*:",
        "accepted in its pair if the search had found no correct one; the search compares it with alternatives too.",
        "*Different twins* are scans of two rooms with equal insides: one pair of scans does not distinguish them, no",
        "threshold or confidence is fitted to them. The whole search: [registration_whole.md](registration_whole.md).",
        "",
        "| group | correct | incorrect | before: correct accepted | incorrect accepted | now: correct | incorrect | "
        "best of pair: correct | incorrect | left out: limit | correct | incorrect | best incorrect |",
        "|" + "---|" * 13,
    ]
    totals: dict[str, list[int]] = {}
    table = {}
    for name, rows in groups.items():
        others = [with_origin(found) for other, found in groups.items() if other not in (name, *ALIKE)]
        limit = left_out_threshold(others)
        config = RegistrationConfig(max_violation_accepted=limit)
        kept = best_of_pairs(rows)
        best = [item for item in kept if has_correct(item.row, rows)]
        left_out = best_of_pairs(rows, config)
        worst = best_of_pairs(rows, CONFIG, without_correct=True)
        correct, incorrect = ([row for row in rows if row.is_correct == wanted] for wanted in (True, False))
        counts = {
            "correct": len(correct),
            "incorrect": len(incorrect),
            "before_correct": sum(map(accepted_before, correct)),
            "before_incorrect": sum(map(accepted_before, incorrect)),
            "now_correct": sum(map(accepted_now, correct)),
            "now_incorrect": sum(map(accepted_now, incorrect)),
            "left_out_correct": sum(item.is_correct_accepted for item in left_out),
            "left_out_incorrect": sum(item.is_incorrect_accepted for item in left_out),
            "pairs": len(kept),
            "best": len(best),
            "best_correct": sum(item.is_correct_accepted for item in kept),
            "best_incorrect": sum(item.is_incorrect_accepted for item in kept),
            "worst": len(worst),
            "worst_accepted": sum(item.is_accepted for item in worst),
        }
        counts = {key: int(value) for key, value in counts.items()}
        table[name] = counts | {"limit": limit}
        for key, value in counts.items():
            totals[key] = totals.get(key, 0) + value
        lines.append(line(name, counts, f"{limit:g}"))
    lines.append(line("**all**", totals, ""))
    missing = [name for name in (*available_groups(), *SPECIAL) if name not in groups]
    if missing:
        lines += ["", f"Not collected in this run: {', '.join(missing)}."]
    lines += reliability(groups)
    lines += NOTES
    return "\n".join(lines) + "\n", {"groups": table, "all": totals}


def has_correct(row: Row, rows: list[Row]) -> bool:
    """Whether the row's pair has a correct candidate that the scene constrains in all directions."""
    return any(
        other.is_correct and free_direction(other.quality, CONFIG) is None
        for other in rows
        if (other.recording, other.pair) == (row.recording, row.pair)
    )


def line(name: str, counts: dict, limit: str) -> str:
    def share(key: str, of: str) -> str:
        return f"{counts[key]} ({100 * counts[key] / counts[of]:.1f} %)" if counts[of] else "-"

    cells = [str(counts["correct"]), str(counts["incorrect"])]
    cells += [share("before_correct", "correct"), share("before_incorrect", "incorrect")]
    cells += [share("now_correct", "correct"), share("now_incorrect", "incorrect")]
    cells += [share("best_correct", "best"), share("best_incorrect", "pairs"), limit]
    cells += [share("left_out_correct", "best"), share("left_out_incorrect", "pairs")]
    cells += [share("worst_accepted", "worst")]
    return f"| {name} | " + " | ".join(cells) + " |"


def reliability(groups: dict[str, list[Row]]) -> list[str]:
    """The confidence against how often it is correct, with coefficients fitted to the other groups."""
    stated, correct = [], []
    for name, rows in groups.items():
        rows = with_origin(rows)
        if name in ALIKE:
            continue
        others = {other: with_origin(found) for other, found in groups.items() if other not in (name, *ALIKE)}
        coefficients = fit_logistic(others, confidence_features)
        for row in rows:
            stated.append(1.0 / (1.0 + np.exp(-np.array(confidence_features(row.quality)) @ coefficients)))
            correct.append(row.is_correct)
    stated, correct = np.array(stated), np.array(correct)
    lines = ["", "Confidence of candidates with a sensor origin, fitted to the other groups:", ""]
    lines += ["| confidence | candidates | correct |", "|---|---|---|"]
    edges = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        inside = (stated >= low) & (stated < high if high < 1.0 else stated <= 1.0)
        if inside.any():
            lines.append(f"| {low:g} to {high:g} | {inside.sum()} | {100 * correct[inside].mean():.0f} % |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names for --collect")
    parser.add_argument("--collect", metavar="NAME")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("FIRST", "EVERY"))
    parser.add_argument("--measure-again", metavar="NAME", help="of the collected candidates, after a change")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join([*available_groups(), *SPECIAL]))
    if arguments.collect:
        name = arguments.collect
        collect(name, SPECIAL.get(name, lambda: pairs(name))(), tuple(arguments.part))
    if arguments.measure_again:
        name = arguments.measure_again
        measure_again(name, SPECIAL.get(name, lambda: pairs(name))())
    if arguments.fit:
        write_calibration({name: rows for name, rows in load().items() if name not in ALIKE})
    if arguments.report:
        text, table = report(load(), f"python {' '.join(sys.argv)}")
        print(text)
        if arguments.out is not None:
            arguments.out.write_text(json.dumps(table, indent=1) + "\n")
            arguments.out.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
