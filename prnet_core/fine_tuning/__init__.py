"""Adapting the network to the scans just seen (paper, section 5.3), judged on scans held out.

`fine_tune` imports PyTorch, and only when it is used: the ROS node, which starts FineTuneProcess, must not load it.
"""

from .config import FineTuneConfig
from .process import FineTuneProcess
from .progress import FineTuneCancelled, FineTuneError, FineTuneProgress, ScanMotion
from .report import FineTuneReport

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


def __getattr__(name: str) -> object:
    if name != "fine_tune":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .run import fine_tune

    return fine_tune
