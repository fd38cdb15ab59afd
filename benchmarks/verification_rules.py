"""What is accepted of labelled candidates: by the formula of before and by the library, each alone and of each pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from verification_candidates import Alternative, Row

from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.candidate import Candidate
from prnet_core.registration.decision import decide
from prnet_core.registration.detail import Detail, is_distinctive
from prnet_core.registration.search import Search
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import verify

CONFIG = RegistrationConfig()


class CollectedSearch(Search):
    """A search that has found the given candidates of a pair, and knows what each of them is compared with."""

    def __init__(self, rows: list[Row], config: RegistrationConfig = CONFIG) -> None:
        super().__init__(None, None, None, config, timings={"features": 0.0})  # type: ignore[arg-type]
        self.rows: dict[Candidate, Row | Alternative] = {}
        self.candidates = [self._candidate(row) for row in rows]

    def _candidate(self, row: Row | Alternative) -> Candidate:
        candidate = Candidate("", row.transform, row.quality, verify(row.quality, self.config)[0])
        self.rows[candidate] = row
        return candidate

    def alternatives(self, best: Candidate) -> list[Candidate]:
        if self._alternatives is None or self._alternatives[0] is not best:
            row = self.rows[best]
            others = row.alternatives if isinstance(row, Row) else ()
            self._alternatives = best, [self._candidate(other) for other in others]
        return self._alternatives[1]

    def detail(self, candidate: Candidate) -> Detail:
        return self.rows[candidate].detail or Detail(0.0, 0.0)

    def _differs(self, first: np.ndarray, second: np.ndarray) -> bool:
        return is_distinct(first, second)


@dataclass(frozen=True)
class Kept:
    """The transform that the library would give for some candidates, and whether it would be accepted."""

    row: Row | Alternative
    rows: list[Row]  # those candidates
    is_accepted: bool

    @property
    def is_correct_accepted(self) -> bool:
        return self.is_accepted and self.row.is_correct

    @property
    def is_incorrect_accepted(self) -> bool:
        return self.is_accepted and not self.row.is_correct


def decided(rows: list[Row], config: RegistrationConfig = CONFIG) -> Kept:
    """What the library would decide if its search had found these candidates of a pair."""
    search = CollectedSearch(rows, config)
    best = search.candidates[0]
    for candidate in search.candidates[1:]:
        if search._beats(candidate, best):
            best = candidate
    search._stands_out(best)
    decision = decide(search, best, None)
    return Kept(search.rows[decision.best], rows, decision.status == "accepted")


def best_of_pairs(rows: list[Row], config: RegistrationConfig = CONFIG, without_correct: bool = False) -> list[Kept]:
    """One transform of each pair."""
    kept = []
    for _, group in groupby(rows, key=lambda row: (row.group, row.recording, row.pair)):
        group = [row for row in group if not (without_correct and row.is_correct)]
        if group:
            kept.append(decided(group, config))
    return kept


def accepted_before(row: Row) -> bool:
    """The formula of before: overlap and residual, with its fixed coefficients and threshold."""
    quality = row.quality
    odds = 1.7 + 11.2 * quality.overlap - 34.4 * min(quality.residual, 1.0)
    return odds >= np.log(0.88 / 0.12) and quality.num_inliers >= 50 and row.previous_information >= 0.008


def accepted_now(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    """Whether the library accepts a transform if the search has found no other candidate, and that is not better."""
    kept = decided([row], config)
    return kept.is_accepted and kept.row.is_correct == row.is_correct


def is_verified(row: Row, config: RegistrationConfig = CONFIG) -> bool:
    """By itself."""
    return verify(row.quality, config)[0] == "accepted"


def has_detail(row: Row | Alternative, config: RegistrationConfig = CONFIG) -> bool:
    return row.detail is None or is_distinctive(row.detail, row.quality, config)


def is_distinct(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether transforms (4, 4) are rotated by more than 5 degrees, or moved by more than 0.3 m, to each other."""
    difference = se3.invert(first) @ second
    moved = np.linalg.norm(difference[:3, 3]) > 0.3
    return bool(moved or se3.rotation_angle(difference[:3, :3]) > np.radians(5.0))


def rivals(row: Row, pair: list[Row]) -> list[AlignmentQuality]:
    """Of the distinct candidates of a row's pair, and of what the search compares it with."""
    others = [other.quality for other in pair if is_distinct(row.transform, other.transform)]
    return others + [other.quality for other in row.alternatives]


def has_correct(rows: list[Row], condition: Callable[[Row | Alternative], bool] = lambda row: True) -> bool:
    """Whether a pair has a correct candidate, constrained in all directions, that meets a condition."""
    others = [other for row in rows for other in row.alternatives]
    return any(
        row.is_correct and free_direction(row.quality, CONFIG) is None and condition(row) for row in [*rows, *others]
    )
