"""Progress and errors of a run, in types that need no PyTorch."""

from dataclasses import dataclass

import numpy as np


class FineTuneError(ValueError):
    """The scans cannot be used for fine-tuning; the message gives the reason."""


class FineTuneCancelled(Exception):
    """The run was cancelled; the network is unchanged."""


@dataclass(frozen=True)
class ScanTransform:
    """The transform T_target_source (4, 4) between scans number `source` and `target`, in the scans' unit."""

    source: int
    target: int
    T_target_source: np.ndarray


@dataclass(frozen=True)
class FineTuneProgress:
    """Progress of a run. share_done: fraction in [0, 1] of the steps or of the seconds, whichever is larger."""

    step: int
    num_steps: int
    share_done: float
    seconds: float
    loss: float
    error_before_deg: float
    error_best_deg: float


@dataclass(frozen=True)
class Score:
    """Rotation errors of the network without refinement.

    error_deg: mean, each pair capped at 45 degrees, which also count for a pair whose translation is outside the basin;
    it decides which weights are kept. A median would ignore the pairs that fail.
    basin_share: pairs within 15 degrees and 0.2 of the clouds' radius, from where the refinement converges.
    """

    error_deg: float
    median_deg: float
    basin_share: float
    num_pairs: int
