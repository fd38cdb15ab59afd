"""The network of a command line: given weights, the packaged ones, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prnet_core.model import PRNet

NO_NETWORK = "none"


def network_for(weights: str | None, device: str) -> PRNet | None:
    """`weights`: a file, the name of packaged weights, None for those for scans, 'none' for no network.

    Raises FileNotFoundError, WeightsError or ValueError as `load_network` does.
    """
    if weights == NO_NETWORK:
        return None
    import torch

    from prnet_core.model import load_network
    from prnet_core.model.weights import FOR_SCANS

    torch.set_num_threads(1)
    network = load_network(weights or FOR_SCANS, device)
    return network.eval()
