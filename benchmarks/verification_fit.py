"""Fits the constants of prnet_core/registration/calibration.py to labelled candidates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from verification_candidates import Row

from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.verify import confidence_features, object_features

FILE = Path(__file__).resolve().parents[1] / "prnet_core" / "registration" / "calibration.py"
__all__ = ["confidence_features", "fit_logistic", "object_features", "write_calibration"]


def fit_logistic(
    groups: dict[str, list[Row]], features: Callable[[AlignmentQuality], list[float]], ridge: float = 1e-3
) -> np.ndarray:
    """Coefficients of a logistic regression; each group weighs the same, its correct and incorrect ones alike."""
    values, correct, weights = [], [], []
    for rows in groups.values():
        for right in (True, False):
            chosen = [row for row in rows if row.is_correct == right and row.quality.num_inliers >= 10]
            values += [features(row.quality) for row in chosen]
            correct += [right] * len(chosen)
            weights += [1.0 / max(1, len(chosen))] * len(chosen)
    values, correct, weights = np.array(values), np.array(correct), np.array(weights)
    for right in (True, False):
        weights[correct == right] /= weights[correct == right].sum()

    def loss(coefficients: np.ndarray) -> float:
        odds = values @ coefficients
        return float(
            weights @ np.logaddexp(0.0, np.where(correct, -odds, odds))
            + ridge * coefficients[1:] @ coefficients[1:]
        )

    return minimize(loss, np.zeros(values.shape[1])).x


def write_calibration(groups: dict[str, list[Row]]) -> None:
    """Fit both confidences to all groups and write the module."""
    scans = {
        name: [row for row in rows if row.quality.violation is not None] for name, rows in groups.items()
    }
    by_free_space = fit_logistic(scans, confidence_features)
    by_overlap = fit_logistic(groups, object_features)
    count = sum(map(len, groups.values()))
    text = [
        '"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""',
        "",
        f"# {count} candidates of {len(groups)} groups",
        f"FREE_SPACE_CONFIDENCE = {tuple(round(float(value), 2) for value in by_free_space)}",
        f"OVERLAP_CONFIDENCE = {tuple(round(float(value), 2) for value in by_overlap)}",
    ]
    FILE.write_text("\n".join(text) + "\n")
    print(FILE.read_text())
