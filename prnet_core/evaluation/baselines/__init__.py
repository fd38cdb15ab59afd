"""The learned methods the paper compares with, written from their papers on this library's layers.

Importing this package adds them to the networks that `prnet_core.training` can train.
"""

from pathlib import Path

import torch
from torch import nn

from prnet_core.model.config import NetworkConfig
from prnet_core.model.weights import load_weights, save_network
from prnet_core.training.methods import METHODS, Objective, TrainingMethod

from .dcp import DCP, DCPConfig, dcp_objective
from .pointnetlk import PointNetLK, PointNetLKConfig, pointnetlk_objective

__all__ = ["DCP", "DCPConfig", "PointNetLK", "PointNetLKConfig"]


def _method(name: str, config: type[NetworkConfig], network: type[nn.Module], objective: Objective) -> TrainingMethod:
    """A baseline with weights files of the format NAME/1, as `save_network` writes them; none are packaged."""
    format = f"{name}/1"

    def save(trained: nn.Module, path: str | Path, card: dict) -> None:
        save_network(trained, path, card, format)

    def load(path: str | Path, device: str | torch.device = "auto") -> nn.Module:
        return load_weights(Path(path), device, format, lambda values: network(config.from_dict(values)))

    return TrainingMethod(config.from_dict, network, objective, save, load)


METHODS["dcp"] = _method("dcp", DCPConfig, DCP, dcp_objective)
METHODS["pointnetlk"] = _method("pointnetlk", PointNetLKConfig, PointNetLK, pointnetlk_objective)
