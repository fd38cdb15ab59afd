"""From the alignment quality of a transform to a status with a reason as text."""

from math import inf

import numpy as np

from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.calibration import FREE_SPACE_CONFIDENCE, OBJECT_CONFIDENCE
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.detail import Detail, is_distinctive
from prnet_core.registration.result import ACCEPTED, REJECTED, WEAK
from prnet_core.registration.uncertainty import free_direction

FEW_AGREEING = 0.02  # added to an agreement before its logarithm
SMALL_VIOLATION = 0.008
MAX_VIOLATION_NEAR = 0.15  # of a tracked scan, by moving things,
MIN_SURFACE_NEAR, MIN_AGREEMENT_NEAR = 0.9, 0.5  # where all else agrees


def verify(quality: AlignmentQuality, config: RegistrationConfig) -> tuple[str, str]:
    """Status and reason of a refined transform: by free space where a sensor origin is known, else by agreement.

    A tracked scan is accepted also where moving things violate free space and all else agrees.
    """
    found = describe(quality)
    if quality.num_inliers < config.min_inliers:
        return REJECTED, f"only {quality.num_inliers} points agree, {config.min_inliers} are needed"
    if quality.violation is None:
        status = _by_agreement(quality, config)
    else:
        status = _by_free_space(quality, quality.violation, config)
    if status == REJECTED:
        return REJECTED, f"the clouds agree too little: {found}"
    free = free_direction(quality, config)
    if free is not None:
        return WEAK, f"the scene does not constrain {free}: {found}"
    return status, found if status == ACCEPTED else f"the clouds agree little: {found}"


def is_certain(quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """True when no further hypothesis needs to be tried."""
    if verify(quality, config)[0] != ACCEPTED:
        return False
    if quality.violation is None:
        return (
            quality.agreement >= config.min_agreement_certain_object
            or quality.surface_agreement >= config.min_surface_certain_object
        )
    agrees = quality.agreement > config.min_agreement_certain and quality.violation < config.max_violation_certain
    seen = quality.agreement > config.min_agreement_seen and quality.violation < SMALL_VIOLATION
    return agrees or (seen and quality.seen_agreement > config.min_seen_agreement_certain)


def may_stand_out(quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """Whether a transform that is not accepted by itself is, where all others agree less: see `outstanding_factor`."""
    if quality.num_inliers < config.min_inliers or free_direction(quality, config) is not None:
        return False
    return (
        quality.violation is not None
        and not _is_slid(quality, config)
        and quality.violation < config.max_violation_outstanding
        and quality.surface_agreement > config.min_surface_rough
    )


def may_be_matched(quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """Whether a transform that is not accepted by itself is, where the network's descriptors agree under it alone: not
    of two scans, as free space shows more."""
    meets = quality.surface_agreement > config.min_surface_matched
    return quality.violation is None and meets and free_direction(quality, config) is None


def outstanding_factor(quality: AlignmentQuality, detail: Detail, config: RegistrationConfig) -> float:
    """How many times less all others must agree for a transform of two scans that may stand out; inf: it never does.

    Moving things violate free space, but surfaces meet: the more detail agrees for each point that violates free space,
    the less the others matter. In sparse scans fewer surfaces meet: little may violate free space, and all others must
    agree much less.
    """
    if quality.violation is None or not is_distinctive(detail, quality, config):
        return inf
    violation = quality.violation / detail.share
    if quality.surface_agreement > config.min_surface_outstanding:
        return max(config.outstanding_agreement, config.violation_per_detail * violation)
    return config.outstanding_agreement_rough if violation < config.max_violation_rough else inf


def _by_free_space(quality: AlignmentQuality, violation: float, config: RegistrationConfig) -> str:
    agreement = quality.agreement
    if config.is_tracked and violation < MAX_VIOLATION_NEAR:
        if quality.surface_agreement > MIN_SURFACE_NEAR and agreement > MIN_AGREEMENT_NEAR:
            return ACCEPTED
    if _is_slid(quality, config):
        return REJECTED
    excess = max(0.0, violation - config.max_violation_certain)
    meets = quality.surface_agreement > config.min_surface_agreement + config.surface_per_violation * excess
    agrees = agreement > config.min_agreement_accepted + config.agreement_per_violation * excess
    is_noisy = excess == 0.0 and min(quality.surface_agreement, agreement) > config.min_both_agreements
    if violation < config.max_violation_accepted and ((meets and agrees) or is_noisy):
        return ACCEPTED
    if violation < config.max_violation_weak and agreement > config.min_agreement_weak:
        return WEAK
    return REJECTED


def _is_slid(quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """Whether what is seen across the least constrained axis agrees too little: slid along a corridor."""
    return quality.across_agreement is not None and quality.across_agreement < config.min_across_agreement


def _by_agreement(quality: AlignmentQuality, config: RegistrationConfig) -> str:
    meets = quality.surface_agreement > config.min_surface_agreement
    if meets and quality.agreement > config.min_agreement_accepted:
        return ACCEPTED
    noisy = (
        min(quality.overlap_source, quality.overlap_target) >= config.full_overlap
        and quality.residual <= config.full_overlap_residual
    )
    return WEAK if noisy or quality.agreement >= config.min_agreement_weak_object else REJECTED


def object_features(quality: AlignmentQuality) -> list[float]:
    """What the confidence of clouds without an origin weighs: 1, and logarithms of agreement and surface agreement."""
    return [1.0, *(float(np.log(a + FEW_AGREEING)) for a in (quality.agreement, quality.surface_agreement))]


def confidence_features(quality: AlignmentQuality) -> list[float]:
    """What the confidence of scans weighs: 1, and the logarithms of violation, seen agreement and agreement."""
    seen = min(quality.seen_agreement, 1.0)
    violation = 1.0 if quality.violation is None else quality.violation
    return [1.0, *map(float, np.log([violation, seen, quality.agreement + FEW_AGREEING]))]


def score(quality: AlignmentQuality) -> float:
    """What candidates are ranked by: comparable only between candidates of one pair of clouds.

    The largest cluster of the violation, which may be a moving object, counts half.
    """
    if quality.violation is None or quality.static_violation is None:
        return _agreement_score(quality)
    return _agreement_score(quality) - 1.35 * float(np.log(quality.violation * quality.static_violation))


def fit(quality: AlignmentQuality) -> float:
    """What transforms that are all accepted are compared by: violations that are small anyway count alike."""
    if quality.violation is None:
        return _agreement_score(quality)
    return _agreement_score(quality) - 2.7 * float(np.log(max(quality.violation, SMALL_VIOLATION)))


def _agreement_score(quality: AlignmentQuality) -> float:
    surface = float(np.log(max(quality.surface_agreement, FEW_AGREEING)))
    weight = 3.0 if quality.free_space else 6.0  # without free space it alone shows how an incorrect overlap differs
    return 3.0 * float(np.log(quality.agreement + FEW_AGREEING)) + weight * surface


def confidence(quality: AlignmentQuality) -> float:
    """Probability, 0 to 1, that a transform is correct, by a logistic fit: see `calibration`."""
    if quality.violation is None:
        return logistic(float(np.dot(object_features(quality), OBJECT_CONFIDENCE)))
    return logistic(float(np.dot(confidence_features(quality), FREE_SPACE_CONFIDENCE)))


def logistic(odds: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0))))


def describe(quality: AlignmentQuality) -> str:
    """Overlap, residual and free-space violation as text."""
    text = (
        f"{100 * quality.overlap_source:.0f} % of the source and {100 * quality.overlap_target:.0f} % of the target "
        f"overlap, {quality.residual:.2f} voxels apart"
    )
    if quality.violation is None:
        return text + ", sensor origin not known"
    text += f", {100 * quality.violation:.1f} % free-space violation"
    if quality.across_agreement is None:
        return text
    return text + f", {100 * quality.across_agreement:.0f} % agree across the least constrained axis"
