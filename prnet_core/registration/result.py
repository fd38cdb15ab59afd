"""What a registration says about itself."""

from dataclasses import dataclass, field

import numpy as np

ACCEPTED, WEAK, REJECTED = "accepted", "weak", "rejected"


class RegistrationError(ValueError):
    """A call that can never work: an array of the wrong shape, a guess that is not a rigid motion."""


@dataclass(frozen=True)
class RegistrationResult:
    """Motion from the source to the target, and how far it can be trusted.

    T_target_source: (4, 4) float64, takes points of the source into the target's frame. With status 'rejected'
        it is the best that was found (the guess or identity when nothing was) and must not be used.
    confidence: probability, 0 to 1, that the motion is right, by overlap and fit: what the status goes by.
    covariance: (6, 6), x y z rx ry rz, of a small motion applied in the target's frame.
    degeneracy: smallest eigenvalue of the information matrix, a point, in units of the cloud's own radius: 0 when
        one direction of motion is free (a corridor), 0.33 when all are held alike.
    start: which start won: 'guess', 'network', 'identity', 'centroid' or 'features'.
    timings: seconds of 'preprocess', 'network', 'features', 'refine', as far as they were run.
    """

    T_target_source: np.ndarray
    status: str
    reason: str
    inlier_ratio: float = 0.0
    confidence: float = 0.0
    residual: float = float("inf")
    overlap_source: float = 0.0
    overlap_target: float = 0.0
    covariance: np.ndarray = field(default_factory=lambda: np.eye(6) * UNKNOWN_VARIANCE)
    degeneracy: float = 0.0
    start: str = "none"
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """True when the motion may be used: accepted or weak."""
        return self.status != REJECTED


UNKNOWN_VARIANCE = 1e6  # large but finite: an all-zero covariance reads as certainty (robot_localization)
