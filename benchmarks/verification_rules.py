"""What is accepted of labelled candidates: alone by the formula of before and by the library, and of each pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from verification_candidates import Row

from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.detail import is_distinctive
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import outstanding_factor, score, verify

CONFIG = RegistrationConfig()


def accepted_before(row: Row) -> bool:
    """The formula of before: overlap and residual, with its fixed coefficients and threshold."""
    quality = row.quality
    odds = 1.7 + 11.2 * quality.overlap - 34.4 * min(quality.residual, 1.0)
    return odds >= np.log(0.88 / 0.12) and quality.num_inliers >= 50 and row.previous_information >= 0.008


def is_verified(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    return verify(row.quality, config)[0] == "accepted"


def has_detail(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    return row.detail is None or is_distinctive(row.detail, row.quality, config)


def accepted_now(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    """By itself, without a guess."""
    return is_verified(row, config) and has_detail(row, config)


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


def best_of_pair(group: list[Row], config: RegistrationConfig) -> Kept:
    """The candidate that the search would keep of all candidates of a pair."""

    def rank(row: Row) -> tuple[bool, bool, float]:
        verified = is_verified(row, config)
        return not verified and stands_out(row, group, config), verified, score(row.quality)

    best = max(group, key=rank)
    stands_out_alone, verified, _ = rank(best)
    violated = (best.quality.violation or 0.0) > config.max_violation_certain
    if verified and violated:
        verified = all(o.quality.agreement <= best.quality.agreement for o in group if is_distinct(best, o))
    return Kept(best, (stands_out_alone or verified) and has_detail(best, config))


def best_of_pairs(rows: list[Row], config: RegistrationConfig = CONFIG, without_correct: bool = False) -> list[Kept]:
    """One candidate of each pair."""
    kept = []
    for _, group in groupby(rows, key=lambda row: (row.group, row.recording, row.pair)):
        group = [row for row in group if not (without_correct and row.is_correct)]
        if group:
            kept.append(best_of_pair(group, config))
    return kept


def has_correct(row: Row, rows: list[Row], condition: Callable[[Row], bool] = lambda row: True) -> bool:
    """Whether the row's pair has a correct candidate, constrained in all directions, that meets a condition."""
    return any(
        other.is_correct and free_direction(other.quality, CONFIG) is None and condition(other)
        for other in rows
        if (other.recording, other.pair) == (row.recording, row.pair)
    )
