"""Rigid transforms: composition, inverse, angles, Procrustes, robust estimation from matches.

`se3` is numpy. The names below are torch and are imported at first use, so that `se3` alone does not import torch.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "compose_euler": "transforms",
    "geodesic_angle": "transforms",
    "invert": "transforms",
    "make_transform": "transforms",
    "procrustes": "kabsch",
    "robust_hypotheses": "robust",
    "robust_procrustes": "robust",
    "transform_points": "transforms",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
