"""An exponential moving average of the weights, which validates better than any one step's."""

from contextlib import contextmanager

import torch
from torch import Tensor, nn

WARMUP = 10
"""The average after n steps covers at most about the last n / 10 steps."""


class WeightAverage:
    """Average of the floating point entries of a network's state; `decay` is the share kept at each step."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.values = {name: value.clone() for name, value in network.state_dict().items()}

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """Include the weights after `step` steps."""
        keep = min(self.decay, (1 + step) / (WARMUP + step))
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                self.values[name].lerp_(value, 1.0 - keep)
            else:
                self.values[name].copy_(value)

    @contextmanager
    def applied(self, network: nn.Module):
        """The network has the averaged weights inside the block, and its own weights afterwards."""
        own: dict[str, Tensor] = {name: value.clone() for name, value in network.state_dict().items()}
        network.load_state_dict(self.values)
        try:
            yield network
        finally:
            network.load_state_dict(own)
