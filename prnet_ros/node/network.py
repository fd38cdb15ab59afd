"""Loads the network and reports problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prnet_ros.node.registration_process import LoadedNetwork

if TYPE_CHECKING:
    from prnet_core.model import PRNet


def load(weights: str, device: str, num_threads: int) -> tuple[PRNet | None, LoadedNetwork]:
    """The network of a file or name ('': packaged, 'none': without) on a device, with `num_threads` CPU threads.

    The network is None when the node registers without one. A device or a file that cannot be used does not stop
    the robot: the CPU is used, or registration works without the network, and `problem` says so.
    """
    if weights == "none":
        return None, LoadedNetwork(False, "none", "none (without the network)", "")
    try:
        import torch

        from prnet_core.model.weights import FOR_SCANS, choose_device, load_network
    except ImportError as error:
        return None, LoadedNetwork(False, "none", "none", f"registering without the network: {error}")
    torch.set_num_threads(num_threads)
    problem = ""
    try:
        chosen = choose_device(device)
        torch.zeros(1, device=chosen)
    except (ValueError, RuntimeError) as error:
        chosen, problem = torch.device("cpu"), f"using the CPU: {error}"
    try:
        network = load_network(weights or FOR_SCANS, chosen)
    except (OSError, ValueError) as error:
        text = f"registering without the network: {error}"
        return None, LoadedNetwork(False, str(chosen), "none", f"{problem}; {text}" if problem else text)
    return network, LoadedNetwork(True, str(chosen), weights or "packaged", problem)
