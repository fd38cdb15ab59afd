"""Registration of two clouds: preprocessing, starts, refinement, judgement."""

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.registration import Registration
from prnet_core.registration.result import ACCEPTED, REJECTED, WEAK, RegistrationError, RegistrationResult

__all__ = [
    "ACCEPTED",
    "REJECTED",
    "WEAK",
    "Registration",
    "RegistrationConfig",
    "RegistrationError",
    "RegistrationResult",
]
