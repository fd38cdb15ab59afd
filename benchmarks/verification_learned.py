"""Learned verifiers beside the formula: what each accepts of the pairs of every group, fitted to all other groups.

    OMP_NUM_THREADS=1 python benchmarks/verification_learned.py      (needs scikit-learn: pip install prnet_ros[svm])

Both see what the formula sees: violations, agreements, information, inliers, detail, and how much more a candidate
agrees than the others of its pair. Candidates with a sensor origin; the formula has its shipped thresholds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from registration_verification import is_chosen_on
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from verification_candidates import Row, load
from verification_rules import CONFIG
from verification_thresholds import Table, make_table

THRESHOLDS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)
MODELS: dict[str, Callable] = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "trees": lambda: HistGradientBoostingClassifier(max_iter=80, max_leaf_nodes=8, l2_regularization=1.0),
}


def features(table: Table, rows: list[Row]) -> np.ndarray:
    """(N, 13) of candidates with a sensor origin; 0 of the others."""
    qualities = [row.quality for row in rows]
    static = np.array([np.nan if q.static_violation is None else q.static_violation for q in qualities])
    shares = [table.violation, static, table.agreement + 0.02, table.surface + 0.02]
    values = [np.log(share) for share in shares]
    values += [np.log(table.information + 1e-4), np.log([quality.num_inliers + 1 for quality in qualities])]
    values += [np.log([min(quality.seen_agreement, 1.0) for quality in qualities])]
    values += [np.log(np.clip(table.agrees_more, 1e-3, 20.0)), table.across, np.minimum(table.detail, 0.2)]
    values += [table.detail_agreement, [quality.overlap for quality in qualities]]
    values += [[min(quality.residual, 2.0) for quality in qualities]]
    return np.nan_to_num(np.stack(values, axis=1))


def main() -> None:
    groups = {name: rows for name, rows in load().items() if is_chosen_on(name)}
    table = make_table(groups)
    rows = [row for found in groups.values() for row in found]
    values, group = features(table, rows), table.group
    is_scan = np.isfinite(table.violation)
    possible = is_scan & table.enough & ~table.is_free & table.distinctive(CONFIG)
    kept, accepted = table.kept(CONFIG)
    print("| verifier | threshold | correct pairs | incorrect pairs |\n|---|---|---|---|")
    print_row("formula", "shipped", table, kept, accepted & is_scan[kept])
    for name, make in MODELS.items():
        score = np.full(len(group), -1.0)
        for own in np.unique(group[is_scan]):
            fitted, tested = possible & (group != own), possible & (group == own)
            if tested.any():
                model = make().fit(values[fitted], table.is_correct[fitted])
                score[tested] = model.predict_proba(values[tested])[:, 1]
        order = np.lexsort((score, table.pair))
        kept = order[np.append(np.diff(table.pair[order]) > 0, True)]
        for threshold in THRESHOLDS:
            print_row(name, f"{threshold:g}", table, kept, score[kept] >= threshold)


def print_row(name: str, threshold: str, table: Table, kept: np.ndarray, accepted: np.ndarray) -> None:
    correct = table.is_correct[kept]
    print(f"| {name} | {threshold} | {(accepted & correct).sum()} | {(accepted & ~correct).sum()} |", flush=True)


if __name__ == "__main__":
    main()
