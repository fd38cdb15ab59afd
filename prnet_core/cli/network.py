"""The network of a command line: given weights, the packaged ones, or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prnet_core.model import PRNet

NO_NETWORK = "none"


def network_for(weights: str | None, device: str) -> PRNet | None:
    """`weights`: a file, None for the packaged weights, 'none' for no network.

    Raises FileNotFoundError, WeightsError or ValueError as `load_network` does.
    """
    if weights == NO_NETWORK:
        return None
    import torch

    from prnet_core.model import load_network

    torch.set_num_threads(1)
    network = load_network(Path(weights) if weights else None, device)
    return network.eval()
