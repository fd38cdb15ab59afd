"""Loads the network, and says plainly when it is not to be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prnet_core.model import PRNet


@dataclass(frozen=True)
class LoadedNetwork:
    """network: None when the node registers without one. problem: empty when all is as it was asked for."""

    network: PRNet | None
    device: str
    weights: str
    problem: str = ""


def load(weights: str, device: str, num_threads: int) -> LoadedNetwork:
    """The network of a weights file ('': packaged, 'none': without) on a device, with so many CPU threads.

    A device or a file that is not to be had is no reason for a robot to stand still: the node then uses the CPU,
    or registers without the network, and `problem` says so.
    """
    if weights == "none":
        return LoadedNetwork(None, "none", "none (without the network)")
    try:
        import torch

        from prnet_core.model.weights import choose_device, load_network
    except ImportError as error:
        return LoadedNetwork(None, "none", "none", f"registering without the network: {error}")
    torch.set_num_threads(num_threads)
    problem = ""
    try:
        chosen = choose_device(device)
        torch.zeros(1, device=chosen)
    except (ValueError, RuntimeError) as error:
        chosen, problem = torch.device("cpu"), f"using the CPU: {error}"
    try:
        network = load_network(weights or None, chosen)
    except (OSError, ValueError) as error:
        text = f"registering without the network: {error}"
        return LoadedNetwork(None, str(chosen), "none", f"{problem}; {text}" if problem else text)
    return LoadedNetwork(network, str(chosen), weights or "packaged", problem)
