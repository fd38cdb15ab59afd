"""Registration of two clouds: preprocessing, hypotheses, refinement, verification."""

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.registration import Registration
from prnet_core.registration.result import (
    ACCEPTED,
    AMBIGUOUS,
    REJECTED,
    WEAK,
    RegistrationError,
    RegistrationResult,
)

__all__ = [
    "ACCEPTED",
    "AMBIGUOUS",
    "REJECTED",
    "WEAK",
    "Registration",
    "RegistrationConfig",
    "RegistrationError",
    "RegistrationResult",
]
