"""Verification of registrations: what is accepted of correct and incorrect candidates, the formula before and now.

    for each name of --list:  python benchmarks/registration_verification.py --collect NAME      (minutes each)
    python benchmarks/registration_verification.py --report --out docs/results/registration_verification.json
    python benchmarks/registration_verification.py --report --held-out | --without-origin  --out FILE
    python benchmarks/registration_verification.py --fit     writes prnet_core/registration/calibration.py

Candidates lie in data/verification_candidates (not part of the repository). The coefficients
of the confidence and the thresholds come from the other groups: `verification_thresholds.py`.
`--held-out` reports the scans that nothing was chosen on, `--without-origin` the clouds without a sensor origin, whose
thresholds are those of the scans. `registration_whole.py` measures the whole search.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from held_out_pairs import HELD_OUT, held_out_pairs, held_out_places
from origin_free_pairs import HELD_OUT_ROOMS, different_fused, fused_pairs, object_pairs
from registration_data import shape_views
from results_page import page, write_results
from verification_candidates import Row, collect, load, measure_again
from verification_data import (
    PLACES,
    SIMULATED,
    Pair,
    available_groups,
    different_places,
    later_places,
    narrow_places,
    pairs,
    twin_pairs,
)
from verification_fit import draw_reliability, left_out_confidence, reliability, write_calibration
from verification_notes import HELD_OUT_NOTES, NOTES, WITHOUT_ORIGIN_NOTES
from verification_odometry import odometry_rows
from verification_rules import (
    CONFIG,
    accepted_before,
    accepted_now,
    best_of_pairs,
    has_correct,
    has_detail,
    is_verified,
)
from verification_thresholds import GRIDS, Table, choose, leave_one_group_out, make_table

from prnet_core.registration import RegistrationConfig

ALIKE = ("different twins",)
WITHOUT_ORIGIN = ("bunny", "fragments", "object views", "different objects", "fused rooms", "different fused rooms")
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "results" / "figures" / "verification_reliability.png"


def different_objects():
    """Half views of different objects, without an origin."""
    for pair in shape_views(60):
        yield Pair("different objects", pair.name, pair.source, pair.target, None)


SPECIAL = {
    **{name: partial(held_out_pairs, name) for name in HELD_OUT},
    "held out different places": held_out_places,
    "different places": different_places,
    "later different places": later_places,
    **PLACES,
    "narrow places": narrow_places,
    "different twins": lambda: twin_pairs(0, False),
    "different objects": different_objects,
    "object views": object_pairs,
    **{
        f"{prefix}{name}": partial(make, f"{prefix}{name}", first)
        for prefix, first in (("", 0), ("held out ", HELD_OUT_ROOMS))
        for name, make in (("fused rooms", fused_pairs), ("different fused rooms", different_fused))
    },
}


def left_out_configs(groups: dict[str, list[Row]]) -> tuple[dict[str, RegistrationConfig], list[str]]:
    """Thresholds of each group, chosen without it; and all of them, as text."""
    groups = {name: rows for name, rows in groups.items() if name not in ALIKE}
    table = make_table(groups)
    check_table(table, [row for rows in groups.values() for row in rows])
    configs = dict(zip(groups, leave_one_group_out(table), strict=True))
    lines = ["", f"Thresholds chosen without one of {len(configs)} groups, 5 % to 95 %, beside the shipped:", ""]
    lines += ["| threshold | chosen | shipped |", "|---|---|---|"]
    for name in GRIDS:
        low, high = np.quantile([getattr(config, name) for config in configs.values()], [0.05, 0.95])
        chosen = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        lines.append(f"| {name} | {chosen} | {getattr(CONFIG, name):g} |")
    return configs, lines


def check_table(table: Table, rows: list[Row]) -> None:
    """The table's rules are those of the library. Raises RuntimeError where they differ."""
    measured = [row.detail is not None for row in rows]
    if not np.array_equal(table.distinctive(CONFIG)[measured], np.array([has_detail(row) for row in rows])[measured]):
        raise RuntimeError("verification_thresholds.py and detail.py differ")
    if not np.array_equal(table.accepted(CONFIG), [is_verified(row) for row in rows]):
        raise RuntimeError("verification_thresholds.py and verify.py accept different candidates")


def report(groups: dict[str, list[Row]], part: str, notes: list[str] | None = None) -> tuple[str, dict]:
    """Markdown and what it is made of. part: of the benchmark, as text; the whole development without notes."""
    title = f"Verification of registrations{part}"
    lines = [
        "Candidates are refined hypotheses, correct by the tolerance of their group (2 degrees and 0.3 m unless the",
        "group says otherwise). *Before*: overlap and residual. *Now*: what the library gives if its search has found",
        "this candidate alone: it compares it with rotations of it and moves along the least constrained axis, and may",
        "choose one of those; shipped thresholds. *Pair*: the same with all candidates of a pair; correct ones in",
        "percent of the pairs with a correct candidate that the scene constrains and distinguishes, incorrect ones in",
        "percent of all pairs. *Planes alone*: pairs whose correct candidates agree on their three largest planes and",
        "little else, as many places would; they are weak, and not among the percentages. *Left out*: pairs, and",
        "candidates alone, with all thresholds chosen by `verification_thresholds.py` on all other groups. *None",
        "correct*: accepted of a pair if its search had found no correct one. *Different twins* are scans of two rooms",
        "with equal insides: one pair of scans does not distinguish them, no threshold and no confidence is fitted to",
        "them. The whole search:",
        "[registration_whole.md](registration_whole.md).",
        "",
        "| group | correct | incorrect | planes alone | before: correct accepted | incorrect accepted | now: correct | "
        "incorrect | pair: correct | incorrect | left out: correct | incorrect | incorrect candidates | none correct |",
        "|" + "---|" * 14,
    ]
    configs, thresholds = left_out_configs(groups) if notes is None else ({}, [])
    totals: dict[str, int] = {}
    sources: dict[str, list[int]] = {}
    table = {}
    for name, rows in groups.items():
        kept = best_of_pairs(rows)
        constrained = [item for item in kept if has_correct(item.rows)]
        best = [item for item in constrained if has_correct(item.rows, has_detail)]
        worst = best_of_pairs(rows, CONFIG, without_correct=True)
        left_out = best_of_pairs(rows, configs[name]) if name in configs else []
        correct, incorrect = ([row for row in rows if row.is_correct == wanted] for wanted in (True, False))
        counts = {
            "correct": len(correct),
            "incorrect": len(incorrect),
            "before_correct": sum(map(accepted_before, correct)),
            "before_incorrect": sum(map(accepted_before, incorrect)),
            "now_correct": sum(map(accepted_now, correct)),
            "now_incorrect": sum(map(accepted_now, incorrect)),
            "left_out_correct": sum(i.is_correct_accepted for i in left_out if has_correct(i.rows, has_detail)),
            "left_out_incorrect": sum(item.is_incorrect_accepted for item in left_out),
            "left_out_candidates": sum(map(partial(accepted_now, config=configs[name]), incorrect)) if left_out else 0,
            "pairs": len(kept),
            "constrained": len(constrained),
            "best": len(best),
            "best_correct": sum(item.is_correct_accepted for item in best),
            "best_incorrect": sum(item.is_incorrect_accepted for item in kept),
            "worst": len(worst),
            "worst_accepted": sum(item.is_incorrect_accepted for item in worst),
        }
        counts = {key: int(value) for key, value in counts.items()}
        table[name] = counts
        for key, value in counts.items():
            totals[key] = totals.get(key, 0) + value
        for item, other in zip(kept, left_out, strict=False):
            if has_correct(item.rows, has_detail):
                source = sources.setdefault(source_of(name, item.rows[0]), [0, 0, 0])
                for i, value in enumerate((True, item.is_correct_accepted, other.is_correct_accepted)):
                    source[i] += value
        lines.append(line(name, counts, name in configs))
    lines.append(line("**all**", totals, bool(configs)))
    if notes is not None:
        return page(title, lines + notes), {"groups": table, "all": totals}
    names = [name for name in (*available_groups(), *SPECIAL) if is_scan_chosen_on(name) or name in ALIKE]
    missing = [name for name in names if name not in groups]
    if missing:
        lines += ["", f"Not collected in this run: {', '.join(missing)}."]
    confidences = left_out_confidence({name: rows for name, rows in groups.items() if name not in ALIKE})
    draw_reliability(*confidences, PICTURE)
    lines += ["", "Pairs by kind of place; recordings by their names:", ""]
    lines += ["| source | pairs | correct accepted | left out |", "|---|---|---|---|"]
    for name, (count, now, other) in sorted(sources.items()):
        lines.append(
            f"| {name} | {count} | {now} ({100 * now / count:.1f} %) | {other} ({100 * other / count:.1f} %) |"
        )
    lines += [*reliability(*confidences), "", f"![Reliability of the confidence](figures/{PICTURE.name})"]
    lines += thresholds + odometry_rows() + NOTES
    return page(title, lines), {"groups": table, "all": totals}


def source_of(group: str, row: Row) -> str:
    """The kind of place of a simulated group, which its recordings are named after, or the group."""
    return row.recording.split()[0] if group in SIMULATED else group


def is_held_out(group: str) -> bool:
    return group.startswith("held out")


def has_origin(group: str) -> bool:
    return group.removeprefix("held out ") not in WITHOUT_ORIGIN


def is_scan_chosen_on(group: str) -> bool:
    """Whether thresholds may be fitted to a group."""
    return group not in ALIKE and has_origin(group) and not is_held_out(group)


def line(name: str, counts: dict, is_left_out: bool) -> str:
    def share(key: str, of: str) -> str:
        return f"{counts[key]} ({100 * counts[key] / counts[of]:.1f} %)" if counts[of] else "-"

    cells = [str(counts["correct"]), str(counts["incorrect"])]
    cells += [str(counts["constrained"] - counts["best"])]
    cells += [share("before_correct", "correct"), share("before_incorrect", "incorrect")]
    cells += [share("now_correct", "correct"), share("now_incorrect", "incorrect")]
    cells += [share("best_correct", "best"), share("best_incorrect", "pairs")]
    left_out = ("left_out_correct", "best"), ("left_out_incorrect", "pairs"), ("left_out_candidates", "incorrect")
    cells += [share(*keys) if is_left_out else "-" for keys in left_out]
    cells += [share("worst_accepted", "worst")]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names for --collect")
    parser.add_argument("--collect", metavar="NAME")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("FIRST", "EVERY"))
    parser.add_argument("--measure-again", metavar="NAME", help="of the collected candidates, after a change")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--held-out", action="store_true", help="with --report: the scans that nothing was chosen on")
    parser.add_argument("--without-origin", action="store_true", help="with --report: clouds without a sensor origin")
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
        groups = {name: rows for name, rows in load().items() if name not in ALIKE and not is_held_out(name)}
        write_calibration(groups)
        chosen = choose(make_table({name: rows for name, rows in groups.items() if has_origin(name)}))
        print("\n".join(f"{name}: {getattr(chosen, name):g}, shipped {getattr(CONFIG, name):g}" for name in GRIDS))
    if arguments.report:
        part, notes = "", None
        if arguments.held_out:
            part, notes = ": held-out sensors and places", HELD_OUT_NOTES
        if arguments.without_origin:
            part, notes = ": clouds without a sensor origin", WITHOUT_ORIGIN_NOTES
        groups = {name: rows for name, rows in load().items() if has_origin(name) != arguments.without_origin}
        if not arguments.without_origin:
            groups = {name: rows for name, rows in groups.items() if is_held_out(name) == arguments.held_out}
        text, table = report(groups, part, notes)
        print(text)
        if arguments.out is not None:
            write_results(arguments.out, table, text)


if __name__ == "__main__":
    main()
