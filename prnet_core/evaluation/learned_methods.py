"""Networks as registration methods."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from prnet_core.model import PRNet
from prnet_core.pairs.normalise import PairNormalisation, normalise_pair


class NetworkMethod:
    """A network that has `register(source (1, N, 3), target (1, M, 3)) -> (1, 4, 4)`, on normalised pairs."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.device = next(network.parameters()).device

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        clouds, normalisation = unit_clouds(source, target, self.device)
        return normalisation.to_metric(self.network.register(*clouds)[0].double().cpu().numpy())


def unit_clouds(
    source: np.ndarray, target: np.ndarray, device: torch.device
) -> tuple[list[torch.Tensor], PairNormalisation]:
    """`normalise_pair` for a network: clouds (1, N, 3) and (1, M, 3) on the device, and their normalisation."""
    *clouds, normalisation = normalise_pair(source, target)
    return [torch.from_numpy(cloud)[None].to(device) for cloud in clouds], normalisation


def with_settings(network: PRNet, **settings) -> PRNet:
    """A network with the same weights and other settings (those that do not change the shapes of the weights)."""
    other = PRNet(replace(network.config, **settings)).to(next(network.parameters()).device)
    other.load_state_dict(network.state_dict())
    return other.eval()
