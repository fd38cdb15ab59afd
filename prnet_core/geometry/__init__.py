"""Rigid motions: composition, inverse, angles, Procrustes.

`se3` is numpy; the names below are torch, and are imported when they are first used: who needs `se3` alone does
not wait for torch.
"""

from importlib import import_module

_MODULES = {
    "compose_euler": "transforms",
    "geodesic_angle": "transforms",
    "invert": "transforms",
    "make_transform": "transforms",
    "procrustes": "rigid_fit",
    "robust_procrustes": "robust_fit",
    "to_euler": "transforms",
    "transform_points": "transforms",
}

__all__ = list(_MODULES)


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
