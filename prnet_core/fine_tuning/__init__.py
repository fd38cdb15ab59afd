"""Fine-tuning the network on the latest scans (paper, section 5.3), validated on held-out scans.

`fine_tune` imports PyTorch, only when used: the ROS node, which starts FineTuneProcess, must not load it.
"""

from .config import FineTuneConfig
from .process import FineTuneProcess
from .progress import FineTuneCancelled, FineTuneError, FineTuneProgress, ScanTransform
from .report import FineTuneReport

__all__ = [
    "FineTuneCancelled",
    "FineTuneConfig",
    "FineTuneError",
    "FineTuneProcess",
    "FineTuneProgress",
    "FineTuneReport",
    "ScanTransform",
    "fine_tune",
]


def __getattr__(name: str) -> object:
    if name != "fine_tune":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .run import fine_tune

    return fine_tune
