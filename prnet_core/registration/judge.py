"""From evidence to a status with a reason in words."""

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.evidence import Evidence
from prnet_core.registration.result import ACCEPTED, REJECTED, WEAK
from prnet_core.registration.uncertainty import free_direction


def judge(evidence: Evidence, config: RegistrationConfig) -> tuple[str, str]:
    """Status and reason of a refined motion; the thresholds are calibrated, see docs/results/registration.md."""
    share = f"{100 * evidence.inlier_ratio:.0f} % of the source lie on the target"
    if evidence.inlier_ratio < config.min_inlier_ratio_weak:
        return REJECTED, f"only {share}, {100 * config.min_inlier_ratio_weak:.0f} % are needed"
    free = free_direction(evidence, config)
    if free is not None:
        return WEAK, f"{share}, but the scene does not hold {free}"
    if evidence.inlier_ratio < config.min_inlier_ratio_accepted:
        return WEAK, f"only {share}, {100 * config.min_inlier_ratio_accepted:.0f} % would be trusted"
    return ACCEPTED, share


def is_strong(evidence: Evidence, config: RegistrationConfig) -> bool:
    """True when no other start needs to be tried."""
    return evidence.inlier_ratio >= config.strong_inlier_ratio
