"""Thresholds of the verification, all chosen at once on labelled candidates, one group left out at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from math import inf

import numpy as np
from verification_candidates import Row
from verification_rules import rivals

from prnet_core.registration import RegistrationConfig
from prnet_core.registration.detail import Detail
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import score

COST_OF_INCORRECT = 5.0  # correct pairs that one accepted incorrect pair outweighs
SWEEPS = 3
GRIDS: dict[str, tuple[float, ...]] = {
    "max_violation_accepted": (0.01, 0.015, 0.02, 0.025, 0.03, 0.04),
    "min_agreement_accepted": (0.15, 0.2, 0.25, 0.3, 0.4),
    "agreement_per_violation": (0.0, 10.0, 20.0, 30.0),
    "min_surface_agreement": (0.6, 0.66, 0.7, 0.74, 0.78, 0.82, 0.86),
    "surface_per_violation": (0.0, 4.0, 6.0, 8.0, 10.0, 12.0),
    "min_across_agreement": (0.1, 0.15, 0.2, 0.25, 0.3, 0.4),
    "max_violation_outstanding": (0.06, 0.08, 0.1, 0.12, 0.14),
    "min_surface_outstanding": (0.87, 0.89, 0.91, 0.93),
    "outstanding_agreement": (1.05, 1.1, 1.15, 1.2, 1.3),
    "violation_per_detail": (2.0, 2.5, 3.0, 3.5, 4.0, 5.0),
    "min_surface_rough": (0.6, 0.65, 0.7, 0.75, 0.8),
    "max_violation_rough": (0.15, 0.2, 0.25, 0.3),
    "outstanding_agreement_rough": (1.2, 1.3, 1.4, 1.6, 2.0),
    "min_information_moving": (0.008, 0.012, 0.016),
    "min_detail": (0.0, 0.02, 0.03, 0.04, 0.05, 0.06),
    "clear_detail": (-1.0, 0.06, 0.08, 0.1, 0.12),
    "clear_detail_agreement": (0.5, 0.55, 0.6, 0.65, 0.7),
    "min_detail_agreement": (0.65, 0.7, 0.75, 0.8),
}


@dataclass(frozen=True)
class Table:
    """Candidates as arrays (N,), those of a pair next to each other.

    pair: number of the candidate's pair; group: of its group. agrees_more: its agreement divided by that of the
    best of its rivals: see `verification_rules.rivals`. is_best: none of them that the scene constrains agrees more,
    unless it violates free space many times as much.
    detail, detail_agreement: 0 where it was not measured.
    """

    pair: np.ndarray
    group: np.ndarray
    is_correct: np.ndarray
    score: np.ndarray
    enough: np.ndarray
    is_free: np.ndarray
    violation: np.ndarray
    agreement: np.ndarray
    surface: np.ndarray
    across: np.ndarray
    information: np.ndarray
    agrees_more: np.ndarray
    is_best: np.ndarray
    detail: np.ndarray
    detail_agreement: np.ndarray

    def accepted(self, config: RegistrationConfig) -> np.ndarray:
        """What `verify` accepts, (N,)."""
        c, has_origin = config, np.isfinite(self.violation)
        excess = np.maximum(0.0, self.violation - c.max_violation_certain)
        with np.errstate(invalid="ignore"):
            scans = self.surface > c.min_surface_agreement + c.surface_per_violation * excess
            scans &= self.agreement > c.min_agreement_accepted + c.agreement_per_violation * excess
            scans |= (excess == 0.0) & (np.minimum(self.surface, self.agreement) > c.min_both_agreements)
            scans &= (self.violation < c.max_violation_accepted) & (self.across >= c.min_across_agreement)
        objects = (self.surface > c.min_surface_agreement) & (self.agreement > c.min_agreement_accepted)
        return np.where(has_origin, scans, objects) & self.enough & ~self.is_free

    def distinctive(self, config: RegistrationConfig) -> np.ndarray:
        """See `is_distinctive`, (N,)."""
        some = (self.detail >= config.min_detail) & (self.detail_agreement > config.min_detail_agreement)
        is_violated = self.violation > config.max_violation_certain
        some &= ~(is_violated & (self.information < config.min_information_moving))
        is_clear = (self.detail > config.clear_detail) & (self.detail_agreement > config.clear_detail_agreement)
        scans = some | is_clear
        objects = self.detail_agreement > config.clear_agreement_object
        objects = (objects & (self.detail >= config.min_clear_detail_object)) | (self.detail >= config.min_detail)
        return np.where(np.isfinite(self.violation), scans, objects)

    def outstanding(self, config: RegistrationConfig) -> np.ndarray:
        """Those that agree enough more than the distinct candidates of their pair, (N,): see `outstanding_factor`."""
        c = config
        may = (self.violation < c.max_violation_outstanding) & (self.surface > c.min_surface_rough)
        may &= (self.across >= c.min_across_agreement) & self.distinctive(c)
        violation = self.violation / np.maximum(self.detail, 1e-9)
        moving = np.maximum(c.outstanding_agreement, c.violation_per_detail * violation)
        rough = np.where(violation < c.max_violation_rough, c.outstanding_agreement_rough, np.inf)
        factor = np.where(may, np.where(self.surface > c.min_surface_outstanding, moving, rough), np.inf)
        return (self.agrees_more >= factor) & self.enough & ~self.is_free

    def kept(self, config: RegistrationConfig) -> tuple[np.ndarray, np.ndarray]:
        """Row of the candidate that each pair keeps, and whether it is accepted."""
        accepted, outstanding = self.accepted(config), self.outstanding(config)
        order = np.lexsort((self.score, accepted, outstanding & ~accepted, self.pair))
        last = order[np.append(np.diff(self.pair[order]) > 0, True)]
        accepted &= ~(self.violation > config.max_violation_certain) | self.is_best
        return last, ((accepted | outstanding) & self.distinctive(config))[last]

    def part(self, mask: np.ndarray) -> Table:
        return Table(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))


def make_table(groups: dict[str, list[Row]]) -> Table:
    """The candidates of all groups, in their order."""
    columns: list[tuple] = []
    number = 0
    for group, rows in enumerate(groups.values()):
        for _, found in groupby(rows, key=lambda row: (row.group, row.recording, row.pair)):
            pair = list(found)
            free = [free_direction(row.quality, RegistrationConfig()) is not None for row in pair]
            for row, is_free in zip(pair, free, strict=True):
                q = row.quality
                detail = row.detail or Detail(0.0, 0.0)
                others = rivals(row, pair)
                most = RegistrationConfig().rival_violation_factor * (q.violation or inf)
                constrained = [o for o in others if free_direction(o, RegistrationConfig()) is None]
                constrained = [o for o in constrained if o.violation is None or o.violation < most]
                columns.append(
                    (
                        number,
                        group,
                        row.is_correct,
                        score(q),
                        q.num_inliers >= RegistrationConfig().min_inliers,
                        is_free,
                        np.nan if q.violation is None else q.violation,
                        q.agreement,
                        q.surface_agreement,
                        1.0 if q.across_agreement is None else q.across_agreement,
                        q.degeneracy,
                        q.agreement / max([1e-9, *(other.agreement for other in others)]),
                        all(other.agreement <= q.agreement for other in constrained),
                        detail.share,
                        detail.agreement,
                    )
                )
            number += 1
    return Table(*map(np.array, zip(*columns, strict=True)))


def value(table: Table, config: RegistrationConfig) -> float:
    """Correct pairs accepted, less the cost of the incorrect ones."""
    rows, is_accepted = table.kept(config)
    correct = table.is_correct[rows]
    return float(np.sum(is_accepted & correct) - COST_OF_INCORRECT * np.sum(is_accepted & ~correct))


def choose(table: Table) -> RegistrationConfig:
    """Thresholds by coordinate search over `GRIDS`; of equally good values of one the middle of them."""
    config = replace(RegistrationConfig(), **{name: values[len(values) // 2] for name, values in GRIDS.items()})
    for _ in range(SWEEPS):
        before = config
        for name, values in GRIDS.items():
            found = [value(table, replace(config, **{name: item})) for item in values]
            best = [item for item, worth in zip(values, found, strict=True) if worth == max(found)]
            config = replace(config, **{name: best[len(best) // 2]})
        if config == before:
            break
    return config


def with_hope(table: Table) -> np.ndarray:
    """Rows, as indices, of the pairs of which some thresholds of `GRIDS` could accept a candidate."""
    hopeful = np.isnan(table.violation) | (table.violation < max(GRIDS["max_violation_outstanding"]))
    hopeful &= table.surface > GRIDS["min_surface_agreement"][0]
    hopeful &= table.agreement > GRIDS["min_agreement_accepted"][0]
    return np.flatnonzero(np.isin(table.pair, table.pair[hopeful & table.enough & ~table.is_free]))


def leave_one_group_out(table: Table) -> list[RegistrationConfig]:
    """For each group the thresholds that are chosen without it."""
    hopeful = table.part(with_hope(table))
    return [choose(hopeful.part(hopeful.group != group)) for group in np.unique(table.group)]
