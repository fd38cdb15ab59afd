"""Adapting the network to the scans just seen (paper, section 5.3), judged on scans held out."""

from .config import FineTuneConfig
from .fine_tune import FineTuneProgress, fine_tune
from .process import FineTuneCancelled, FineTuneProcess
from .report import FineTuneReport
from .scan_examples import FineTuneError, ScanMotion

__all__ = [
    "FineTuneCancelled",
    "FineTuneConfig",
    "FineTuneError",
    "FineTuneProcess",
    "FineTuneProgress",
    "FineTuneReport",
    "ScanMotion",
    "fine_tune",
]
