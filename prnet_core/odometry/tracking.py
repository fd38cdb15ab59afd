"""Acceptance of a scan near its predicted pose: nearness to the prediction counts in the verification."""

from dataclasses import replace
from typing import Any

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration import REJECTED, WEAK, Registration, RegistrationConfig, RegistrationResult
from prnet_core.registration.config import FEW_VERIFIED_POINTS, quick_config, without_alternatives

MAX_TRANSLATION = 0.1  # of the median range, and
MAX_ROTATION = 0.1  # radians from the prediction: near it
FREE_FACTOR = 4.0  # times as far where the scene does not constrain a direction: there the prediction counts
MIN_FIT = 0.8  # of the usual share of the overlap that agrees
MIN_OVERLAP = 0.3  # of the scan with the map: less shows too little
MAX_VIOLATION = 0.15  # of the free space: moving things violate less of it, and
MAX_VIOLATION_FREE = 0.045  # where a direction is free: little constrains what slid there
FEW_VIOLATED = 0.03  # of the free space: from there what does not overlap has not come into view alone,
MIN_USUAL_OVERLAP = 0.65  # and at least this share of the usual overlap is needed
MAX_VIOLATION_TURNED = 0.08  # on the last scan alone, where what does not overlap has turned out of view
GAIN = 0.2  # of the latest scan in what is usual
COVARIANCE_FACTOR = 25.0  # of a scan that is accepted by its prediction
NEARER_RIVALS: dict[str, Any] = {"guess_angle": np.pi / 4, "nearer_rivals": True}
"""No rotation by 90 degrees of a symmetric place is nearer to the prediction than a result within that angle."""
FEW_ALTERNATIVES: dict[str, Any] = {"refined_alternatives": 1, "promising_iterations": 2}


def tracking_config(config: RegistrationConfig) -> RegistrationConfig:
    """Configuration near a prediction: no coarse stage, fewer verified points, no symmetric alternatives.

    The prediction distinguishes alternatives.
    """
    return replace(
        without_alternatives(config),
        is_tracked=True,
        coarse_iterations=0,
        verified_points=min(FEW_VERIFIED_POINTS, config.verified_points),
        **NEARER_RIVALS,
    )


def wide_config(config: RegistrationConfig) -> RegistrationConfig:
    """Configuration for a scan further from its prediction than the fine stage converges from: with a coarse stage.

    Moving things do not explain what violates free space there: a rotated room may meet as much of its surfaces.
    """
    quick = quick_config(config)
    return replace(
        tracking_config(config),
        is_tracked=False,
        coarse_iterations=config.coarse_iterations,
        fine_iterations=quick.fine_iterations,
        final_iterations=quick.final_iterations,
        **FEW_ALTERNATIVES,
    )


def search_config(quick: RegistrationConfig) -> RegistrationConfig:
    """Configuration of the search for a scan that was tracked just before: a quick one, and the prediction decides
    between symmetric alternatives."""
    return replace(quick, **NEARER_RIVALS, **FEW_ALTERNATIVES)


class Registrations:
    """The registrations of one odometry, with one configuration each.

    full: as configured. tracking: for scans near a prediction, wide: further from it. search: by features, for a scan
    that was tracked just before. relocation: while lost. The last two are quick searches whose few candidates are
    verified with all points.
    """

    def __init__(self, full: Registration):
        self.full = full
        self.tracking = Registration(None, tracking_config(full.config))
        self.wide = Registration(None, wide_config(full.config))
        quick = replace(quick_config(full.config), verified_points=full.config.verified_points)
        self.search = Registration(None, search_config(quick))
        self.relocation = Registration(None, quick)


class Tracking:
    """The usual fit of scans to the local map."""

    def __init__(self, doubtful_overlap: float, min_information: float):
        self._doubtful_overlap, self._min_information = doubtful_overlap, min_information
        self._overlap = 0.0
        self._fit = 0.0
        self._covariance: np.ndarray | None = None

    def add(self, result: RegistrationResult) -> None:
        """Update the usual fit with a scan that was used."""
        if result.status != "accepted":
            return
        if self._covariance is None:
            self._overlap, self._fit = result.overlap_source, fit(result)
        self._overlap += GAIN * (result.overlap_source - self._overlap)
        self._fit += GAIN * (fit(result) - self._fit)
        if not result.reason.startswith(NEAR):
            self._covariance = result.covariance

    def can_follow(self, result: RegistrationResult) -> bool:
        """Whether the trajectory continues from a result. Not from a weak one that overlaps much less than usual."""
        return result.usable or (result.status == "weak" and not self._overlaps_little(result))

    def is_doubtful(self, result: RegistrationResult) -> bool:
        """Whether a result is followed only for want of a better one: near its prediction, with little overlap."""
        return not self.can_follow(result) or (result.reason.startswith(NEAR) and self._overlaps_little(result))

    def _overlaps_little(self, result: RegistrationResult) -> bool:
        return result.overlap_source < self._doubtful_overlap * self._overlap

    def accept_near(self, result: RegistrationResult, predicted: np.ndarray, scale: float) -> RegistrationResult:
        """The result, accepted where it is near the prediction (4, 4), constrained, and fits the map as usual.

        scale: the scan's median range. What contradicts the free space then is moving things, or the sensor's noise;
        what does not overlap has come into view. Both at once show an incorrect pose. Where a direction is not
        constrained the result is weak: a narrow view of a wall agrees with little of the map.
        """
        if result.usable or self._covariance is None:
            return result
        is_free = result.degeneracy < self._min_information
        near = is_near(result.T_target_source, predicted, scale, FREE_FACTOR if is_free else 1.0)
        fits = result.overlap_source > MIN_OVERLAP and fit(result) > MIN_FIT * self._fit
        max_violation = MAX_VIOLATION_FREE if is_free else MAX_VIOLATION
        if result.violation is not None:
            fits = fits and result.violation < max_violation
            is_like_usual = result.overlap_source > MIN_USUAL_OVERLAP * self._overlap
            fits = fits and (result.violation < FEW_VIOLATED or is_like_usual)
        if not (near and fits):
            return result
        if is_free:
            return replace(result, status=WEAK, reason=f"{NEAR}: {result.reason}")
        return replace(
            result,
            status="accepted",
            reason=f"{NEAR}: {result.reason}",
            covariance=COVARIANCE_FACTOR * self._covariance,
        )

    def follow_near(self, result: RegistrationResult, predicted: np.ndarray, scale: float) -> RegistrationResult:
        """A rejected result on the last scan alone, weak where it is near the prediction (4, 4) and fits as usual.

        scale: the scan's median range. Moving things explain what contradicts free space, and the turn the overlap.
        """
        fits = result.overlap_source > MIN_OVERLAP and fit(result) > MIN_FIT * self._fit
        if result.violation is not None:
            fits = fits and result.violation < MAX_VIOLATION_TURNED
        if result.status != REJECTED or not fits or not is_near(result.T_target_source, predicted, scale):
            return result
        return replace(result, status=WEAK, reason=f"{NEAR}: {result.reason}")


def is_near(pose: np.ndarray, predicted: np.ndarray, scale: float, factor: float = 1.0) -> bool:
    """Whether a pose (4, 4) is near a predicted one. scale: the scan's median range. factor: times as far."""
    distance, angle = se3.difference(predicted, pose)
    return bool(distance < factor * MAX_TRANSLATION * scale and angle < factor * MAX_ROTATION)


def fit(result: RegistrationResult) -> float:
    """Share of the overlap of both clouds that agrees."""
    return result.agreement / max(float(np.sqrt(result.overlap_source * result.overlap_target)), 1e-9)


NEAR = "near the prediction"
