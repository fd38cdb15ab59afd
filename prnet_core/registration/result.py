"""The result of a registration, with its verification."""

from dataclasses import dataclass, field

import numpy as np

ACCEPTED, AMBIGUOUS, WEAK, REJECTED = "accepted", "ambiguous", "weak", "rejected"


class RegistrationError(ValueError):
    """A call that can never work: an array of an invalid shape, a guess that is not a rigid transform."""


@dataclass(frozen=True)
class RegistrationResult:
    """Transform from the source to the target, and whether it is verified.

    T_target_source: (4, 4) float64, takes points of the source into the target's frame. With status 'rejected'
        it is the best that was found (the guess or identity when nothing was) and must not be used.
    status: 'accepted' (verified); 'ambiguous' (one of several transforms that fit alike: see `alternatives`); 'weak'
        (plausible, not verified, or not constrained in one direction); 'rejected'.
    confidence: probability, 0 to 1, that the transform is correct: see docs/results/registration_verification.md.
    violation: share of the points seen by both sensors that contradict the free space of the other, or None when
        no sensor origin is known. agreement: share of the points that lie on the other cloud's surface.
    covariance: (6, 6), x y z rx ry rz, of a small transform applied in the target's frame.
    degeneracy: smallest eigenvalue of the information matrix per point, in units of the cloud's own radius: 0 when
        one direction is not constrained (a corridor), 0.33 when all are constrained alike.
    hypothesis: kind of the chosen one: 'guess', 'identity', 'centroid', 'features', 'network' or 'alternative'.
    alternatives: transforms (4, 4) that fit as well as this one; filled when 'ambiguous'.
    timings: seconds of 'preprocess', 'network', 'features', 'refine', 'alternatives', of those that ran.
    """

    T_target_source: np.ndarray
    status: str
    reason: str
    inlier_ratio: float = 0.0
    confidence: float = 0.0
    residual: float = float("inf")
    overlap_source: float = 0.0
    overlap_target: float = 0.0
    violation: float | None = None
    agreement: float = 0.0
    covariance: np.ndarray = field(default_factory=lambda: np.eye(6) * UNKNOWN_VARIANCE)
    degeneracy: float = 0.0
    hypothesis: str = "none"
    alternatives: list[np.ndarray] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """True when the transform may be used: accepted only."""
        return self.status == ACCEPTED


UNKNOWN_VARIANCE = 1e6  # large but finite: an all-zero covariance reads as certainty (robot_localization)
