"""From the best candidate of a search to a status: verified, or one of several that fit alike."""

from dataclasses import dataclass, field

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.candidate import Candidate
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.detail import is_distinctive
from prnet_core.registration.result import ACCEPTED, AMBIGUOUS, WEAK
from prnet_core.registration.search import Search
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import describe, fit, is_certain, verify


@dataclass(frozen=True)
class Decision:
    """The chosen candidate, its status and reason, and the candidates that fit as well when it is ambiguous."""

    best: Candidate
    status: str
    reason: str
    alternatives: list[Candidate] = field(default_factory=list)


def decide(search: Search, best: Candidate, guess: np.ndarray | None) -> Decision:
    """Verify the best candidate of a search and compare it with its alternatives where they could be as good.

    Far from a guess, clouds that agree on planes alone are weak: the planes of many places do. Clouds without a sensor
    position that are weak or ambiguous are accepted where the network's descriptors agree under one transform alone.
    guess: (4, 4) or None. Among transforms that fit alike the one near the guess is chosen. Out of time, only a
    transform near the guess is still compared, which takes about as long as tracking a scan, and a certain one of two
    scans is accepted without.
    """
    decision = _with_detail(search, _compare(search, best, guess), guess)
    if decision.status not in (WEAK, AMBIGUOUS) or not search.descriptors_stand_out(decision.best):
        return decision
    found = describe(decision.best.quality)
    return Decision(decision.best, ACCEPTED, f"the network's descriptors agree under no other transform: {found}")


def _with_detail(search: Search, decision: Decision, guess: np.ndarray | None) -> Decision:
    """The decision, weak instead of accepted where planes alone agree far from a guess."""
    chosen, config = decision.best, search.config
    if decision.status != ACCEPTED or is_near(chosen, guess, config):
        return decision
    detail = search.detail(chosen)
    if is_distinctive(detail, chosen.quality, config):
        return decision
    share = f"{100 * detail.share:.1f} % agree outside the largest planes"
    return Decision(chosen, WEAK, f"another place with like walls would agree as well, {share}: {decision.reason}")


def _compare(search: Search, best: Candidate, guess: np.ndarray | None) -> Decision:
    """Verify the best candidate of a search and compare it with its alternatives."""
    config = search.config
    status, reason = verify(best.quality, config)
    if search.outstanding is best:
        return Decision(best, ACCEPTED, f"no other transform agrees nearly as well: {describe(best.quality)}")
    if status != ACCEPTED or (is_near(best, guess, config) and _needs_no_comparison(best.quality, config)):
        return Decision(best, status, reason)
    if search.is_out_of_time() and not is_near(best, guess, config):
        if best.quality.violation is not None and is_certain(best.quality, config):
            return Decision(best, status, reason)
        return Decision(best, WEAK, f"no time left to compare it with alternatives: {describe(best.quality)}")
    others = search.rivals(best)
    if _another_agrees_more(best, others, guess, config):
        return Decision(best, WEAK, f"another transform agrees more: {describe(best.quality)}")
    rivals = [other for other in others if other.status == ACCEPTED]
    group = sorted([best, *rivals], key=lambda candidate: -fit(candidate.quality))
    leader = fit(group[0].quality)
    near = [
        candidate
        for candidate in group
        if is_near(candidate, guess, config) and fit(candidate.quality) > leader - config.guess_margin
    ]
    is_violated = (group[0].quality.violation or 0.0) > config.max_violation_certain
    margin = config.rival_margin_violated if is_violated else config.rival_margin
    alike = [other for other in group if fit(other.quality) > leader - margin]
    if search.descriptors is not None:  # they have chosen, and what fits more is a rival
        alike = [best, *(other for other in alike if other is not best)]
    chosen = near[0] if near else alike[0]
    status, reason = verify(chosen.quality, config)
    others = [] if near else alike[1:]
    if others:
        return Decision(chosen, AMBIGUOUS, f"{len(others)} other transforms fit as well: {reason}", others)
    if chosen.quality.violation is None and not search.is_preferred(chosen):
        return Decision(chosen, WEAK, f"the network's descriptors agree more under another transform: {reason}")
    return Decision(chosen, status, reason)


def _another_agrees_more(
    best: Candidate, others: list[Candidate], guess: np.ndarray | None, config: RegistrationConfig
) -> bool:
    """Whether a transform far from the guess violates free space as moving things do, and another agrees more.

    Another one that the scene does not constrain is no rival: it could be moved to where it agrees less. One that
    violates free space many times as much is none either.
    """
    violation, agreement = best.quality.violation, best.quality.agreement
    if violation is None or violation <= config.max_violation_certain or is_near(best, guess, config):
        return False
    most = config.rival_violation_factor * violation
    rivals = (other.quality for other in others if other.quality.agreement > agreement)
    return any(r.violation is not None and r.violation < most and free_direction(r, config) is None for r in rivals)


def _needs_no_comparison(quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """Whether a transform near a guess is certain, and enough points and surfaces show that it is not flipped."""
    if quality.violation is not None and quality.surface_agreement < config.min_surface_certain:
        return False
    return quality.num_inliers >= config.min_inliers_certain and is_certain(quality, config)


def is_near(candidate: Candidate, guess: np.ndarray | None, config: RegistrationConfig) -> bool:
    """True when the guess distinguishes the candidate from its symmetric alternatives."""
    if guess is None:
        return False
    return se3.rotation_angle(guess[:3, :3].T @ candidate.transform[:3, :3]) < config.guess_angle
