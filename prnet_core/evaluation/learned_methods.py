"""Networks as registration methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from prnet_core.model import PRNet
from prnet_core.pairs.normalise import normalise_pair


class NetworkMethod:
    """A network that has `register(source (1, N, 3), target (1, M, 3)) -> (1, 4, 4)`, on normalised pairs."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.device = next(network.parameters()).device

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        source, target, normalisation = normalise_pair(source, target)
        clouds = [torch.from_numpy(cloud)[None].to(self.device) for cloud in (source, target)]
        return normalisation.to_metric(self.network.register(*clouds)[0].double().cpu().numpy())


def with_settings(network: PRNet, **settings) -> PRNet:
    """A network with the same weights and other settings (those that do not change the shapes of the weights)."""
    other = PRNet(replace(network.config, **settings)).to(next(network.parameters()).device)
    other.load_state_dict(network.state_dict())
    return other.eval()
