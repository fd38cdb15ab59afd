"""The learned methods the paper compares with, written from their papers on this library's layers.

Importing this package adds them to the networks that `prnet_core.training` can train.
"""

from prnet_core.training.methods import METHODS, TrainingMethod

from .dcp import DCP, DCPConfig, dcp_objective, load_dcp, save_dcp
from .pointnetlk import PointNetLK, PointNetLKConfig, load_pointnetlk, pointnetlk_objective, save_pointnetlk

METHODS["dcp"] = TrainingMethod(DCPConfig.from_dict, DCP, dcp_objective, save_dcp, load_dcp)
METHODS["pointnetlk"] = TrainingMethod(
    PointNetLKConfig.from_dict, PointNetLK, pointnetlk_objective, save_pointnetlk, load_pointnetlk
)

__all__ = [
    "DCP",
    "DCPConfig",
    "PointNetLK",
    "PointNetLKConfig",
    "load_dcp",
    "load_pointnetlk",
    "save_dcp",
    "save_pointnetlk",
]
