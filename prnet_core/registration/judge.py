"""From evidence to a status with a reason in words."""

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.evidence import Evidence
from prnet_core.registration.result import ACCEPTED, REJECTED, WEAK
from prnet_core.registration.uncertainty import free_direction


def judge(evidence: Evidence, config: RegistrationConfig) -> tuple[str, str]:
    """Status and reason of a refined motion, by thresholds calibrated on right and wrong motions."""
    found = (
        f"{100 * evidence.overlap_source:.0f} % of the source and {100 * evidence.overlap_target:.0f} % of the target "
        f"overlap, {evidence.residual:.2f} voxels apart"
    )
    if evidence.num_inliers < config.min_inliers:
        return REJECTED, f"only {evidence.num_inliers} points agree, {config.min_inliers} are needed"
    if evidence.confidence < config.min_confidence_weak and not overlap_fully(evidence, config):
        return REJECTED, f"the clouds agree too little: {found}"
    free = free_direction(evidence, config)
    if free is not None:
        return WEAK, f"the scene does not hold {free}: {found}"
    if evidence.confidence < config.min_confidence_accepted:
        return WEAK, f"the clouds agree little: {found}"
    return ACCEPTED, found


def overlap_fully(evidence: Evidence, config: RegistrationConfig) -> bool:
    """True when nearly all of both clouds lies on the other, however noisy."""
    overlap = min(evidence.overlap_source, evidence.overlap_target)
    return overlap >= config.full_overlap and evidence.residual <= config.full_overlap_residual


def is_strong(evidence: Evidence, config: RegistrationConfig) -> bool:
    """True when no other start needs to be tried."""
    return evidence.score >= config.strong_score and evidence.num_inliers >= config.min_inliers
