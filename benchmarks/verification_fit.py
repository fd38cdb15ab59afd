"""Fits the constants of prnet_core/registration/calibration.py to labelled candidates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from verification_candidates import Row

from prnet_core.registration import RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.calibration import FREE_SPACE_CONFIDENCE, OBJECT_CONFIDENCE
from prnet_core.registration.detail import is_distinctive
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import confidence_features, object_features

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
FILE = Path(__file__).resolve().parents[1] / "prnet_core" / "registration" / "calibration.py"


def fit_logistic(
    groups: dict[str, list[Row]], features: Callable[[AlignmentQuality], list[float]], ridge: float = 1e-3
) -> np.ndarray:
    """Coefficients of a logistic regression; each group weighs the same, its candidates alike."""
    values, correct, weights = [], [], []
    for rows in groups.values():
        chosen = [row for row in rows if row.quality.num_inliers >= 10]
        values += [features(row.quality) for row in chosen]
        correct += [row.is_correct for row in chosen]
        weights += [1.0 / max(1, len(chosen))] * len(chosen)
    values, correct, weights = np.array(values), np.array(correct), np.array(weights) / len(groups)

    def loss(coefficients: np.ndarray) -> float:
        odds = values @ coefficients
        return float(
            weights @ np.logaddexp(0.0, np.where(correct, -odds, odds)) + ridge * coefficients[1:] @ coefficients[1:]
        )

    return minimize(loss, np.zeros(values.shape[1])).x


def not_weak(rows: list[Row], has_origin: bool = True) -> list[Row]:
    """Candidates with or without a sensor origin, except those that are weak anyway: not constrained, planes alone."""
    config = RegistrationConfig()
    return [
        row
        for row in rows
        if (row.quality.violation is not None) == has_origin
        and (row.detail is None or is_distinctive(row.detail, row.quality, config))
        and free_direction(row.quality, config) is None
    ]


def left_out_confidence(groups: dict[str, list[Row]]) -> tuple[np.ndarray, np.ndarray]:
    """Confidences by the coefficients of the other groups, of candidates with an origin, and which are correct."""
    stated, correct = [], []
    for name, rows in groups.items():
        rows = not_weak(rows)
        others = {other: not_weak(found) for other, found in groups.items() if other != name}
        coefficients = fit_logistic(others, confidence_features)
        for row in rows:
            stated.append(1.0 / (1.0 + np.exp(-np.array(confidence_features(row.quality)) @ coefficients)))
            correct.append(row.is_correct)
    return np.array(stated), np.array(correct)


def reliability(stated: np.ndarray, correct: np.ndarray) -> list[str]:
    """The confidence against the share of correct candidates, in Markdown."""
    lines = ["", "Confidence of candidates with a sensor origin, fitted to the other groups:", ""]
    lines += ["| confidence | candidates | correct |", "|---|---|---|"]
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        inside = _between(stated, low, high)
        if inside.any():
            lines.append(f"| {low:g} to {high:g} | {inside.sum()} | {100 * correct[inside].mean():.0f} % |")
    return lines


def draw_reliability(stated: np.ndarray, correct: np.ndarray, file: Path) -> None:
    """The same as a picture: share correct against the mean confidence, with 95 % intervals (Wilson)."""
    figure = Figure(figsize=(4.0, 4.0), layout="constrained")
    axes = figure.add_subplot(xlabel="confidence", ylabel="share correct", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.plot([0, 1], [0, 1], color="0.7")
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        inside = _between(stated, low, high)
        if inside.any():
            count, share = inside.sum(), correct[inside].mean()
            middle = (share + 1.92 / count) / (1 + 3.84 / count)
            half = 1.96 * np.sqrt(share * (1 - share) / count + 0.96 / count**2) / (1 + 3.84 / count)
            place = stated[inside].mean()
            axes.plot([place, place], [middle - half, middle + half], color="tab:blue")
            axes.plot([place], [share], "o", color="tab:blue")
            axes.annotate(f" {count}", (place, share), fontsize=7, va="top")
    figure.savefig(file, dpi=100)


def _between(stated: np.ndarray, low: float, high: float) -> np.ndarray:
    return (stated >= low) & (stated < high if high < 1.0 else stated <= 1.0)


def write_calibration(groups: dict[str, list[Row]]) -> None:
    """Fit both confidences and write the module: scans by free space, clouds without an origin by agreement."""
    scans, objects = (
        {
            name: not_weak(rows, has_origin)
            for name, rows in groups.items()
            if (rows[0].quality.violation is not None) == has_origin
        }
        for has_origin in (True, False)
    )
    by_free_space = fit_logistic(scans, confidence_features) if scans else FREE_SPACE_CONFIDENCE
    by_agreement = fit_logistic(objects, object_features) if objects else OBJECT_CONFIDENCE
    text = [
        '"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""',
        "",
    ]
    for name, values, used in (
        ("FREE_SPACE_CONFIDENCE", by_free_space, scans),
        ("OBJECT_CONFIDENCE", by_agreement, objects),
    ):
        count = sum(map(len, used.values()))
        text.append(f"# {count} candidates of {len(used)} groups" if used else "# not fitted again")
        text.append(f"{name} = ({', '.join(f'{value:.2f}' for value in values)})")
    FILE.write_text("\n".join(text) + "\n")
    print(FILE.read_text())
