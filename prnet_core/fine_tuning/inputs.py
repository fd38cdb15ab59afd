"""The folder through which FineTuneProcess and its process exchange inputs and results."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .progress import ScanTransform

if TYPE_CHECKING:
    from prnet_core.model import PRNet

REQUEST, SCANS = "request.json", "scans.pickle"
WEIGHTS, TUNED = "weights.safetensors", "tuned.safetensors"


def write_inputs(
    folder: Path, network: PRNet, scans: Sequence[np.ndarray], transforms: Sequence[ScanTransform]
) -> None:
    """Write a network, scans (n of (N_i, 3)) and the transforms between them, for FineTuneProcess.run_in."""
    from prnet_core.model import save_network

    save_network(network, folder / WEIGHTS, card={})
    with open(folder / SCANS, "wb") as file:
        pickle.dump((scans, transforms), file)


def read_inputs(folder: Path) -> tuple[Sequence[np.ndarray], Sequence[ScanTransform]]:
    """The scans and transforms of `write_inputs`."""
    with open(folder / SCANS, "rb") as file:
        return pickle.load(file)
