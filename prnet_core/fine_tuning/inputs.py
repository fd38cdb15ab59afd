"""The folder through which FineTuneProcess and its process exchange inputs and results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .progress import ScanTransform

if TYPE_CHECKING:
    from prnet_core.model import PRNet

REQUEST, TRANSFORMS, SCANS = "request.json", "transforms.json", "scans.npz"
WEIGHTS, TUNED = "weights.safetensors", "tuned.safetensors"


def write_inputs(
    folder: Path, network: PRNet, scans: Sequence[np.ndarray], transforms: Sequence[ScanTransform]
) -> None:
    """Write a network, scans (n of (N_i, 3)) and the transforms between them, for FineTuneProcess.run_in."""
    from prnet_core.model import save_network

    save_network(network, folder / WEIGHTS, card={})
    np.savez(folder / SCANS, *scans)
    values = [[m.source, m.target, np.asarray(m.T_target_source).tolist()] for m in transforms]
    (folder / TRANSFORMS).write_text(json.dumps(values))


def read_inputs(folder: Path) -> tuple[list[np.ndarray], list[ScanTransform]]:
    """The scans and transforms of `write_inputs`."""
    with np.load(folder / SCANS) as scans:
        arrays = [scans[f"arr_{index}"] for index in range(len(scans.files))]
    values = json.loads((folder / TRANSFORMS).read_text())
    return arrays, [ScanTransform(source, target, np.array(T)) for source, target, T in values]
