"""From the best candidate of a search to a status: verified, or one of several that fit alike."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.result import ACCEPTED, AMBIGUOUS
from prnet_core.registration.search import Candidate, Search
from prnet_core.registration.verify import describe, is_certain, verify


@dataclass(frozen=True)
class Decision:
    """The chosen candidate, its status and reason, and the candidates that fit as well when it is ambiguous."""

    best: Candidate
    status: str
    reason: str
    alternatives: list[Candidate] = field(default_factory=list)


def decide(search: Search, best: Candidate, guess: np.ndarray | None) -> Decision:
    """Verify the best candidate of a search and compare it with its alternatives where they could be as good.

    guess: (4, 4) or None. Among transforms that fit alike the one near the guess is chosen.
    """
    config = search.config
    status, reason = verify(best.quality, config)
    if search.outstanding is best:
        return Decision(best, ACCEPTED, f"no other transform agrees nearly as well: {describe(best.quality)}")
    if status != ACCEPTED or (is_near(best, guess, config) and is_certain(best.quality, config)):
        return Decision(best, status, reason)
    rivals = [other for other in search.alternatives(best) if verify(other.quality, config)[0] == ACCEPTED]
    group = sorted([best, *rivals], key=lambda candidate: -candidate.quality.agreement)
    near = [candidate for candidate in group if is_near(candidate, guess, config)]
    ratio = 1.0 / config.outstanding_agreement if near else config.rival_agreement
    alike = [other for other in group if other.quality.agreement > ratio * group[0].quality.agreement]
    near = [candidate for candidate in alike if candidate in near]
    chosen = near[0] if near else alike[0]
    status, reason = verify(chosen.quality, config)
    others = [] if near else alike[1:]
    if others:
        return Decision(chosen, AMBIGUOUS, f"{len(others)} other transforms fit as well: {reason}", others)
    return Decision(chosen, status, reason)


def is_near(candidate: Candidate, guess: np.ndarray | None, config: RegistrationConfig) -> bool:
    """True when the guess tells the candidate from its symmetric alternatives."""
    if guess is None:
        return False
    return se3.rotation_angle(guess[:3, :3].T @ candidate.transform[:3, :3]) < config.guess_angle
