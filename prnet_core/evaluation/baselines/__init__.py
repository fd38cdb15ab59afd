"""The learned systems that the paper compares with, written from their papers on our layers."""

from .dcp import DCP, DCPConfig, load_dcp, save_dcp
from .pointnetlk import PointNetLK, PointNetLKConfig, load_pointnetlk, save_pointnetlk

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
