"""Rigid motions: composition, inverse, angles, Procrustes."""

from .procrustes import procrustes, robust_procrustes
from .transforms import (
    compose_euler,
    geodesic_angle,
    invert,
    make_transform,
    to_euler,
    transform_points,
)

__all__ = [
    "compose_euler",
    "geodesic_angle",
    "invert",
    "make_transform",
    "procrustes",
    "robust_procrustes",
    "to_euler",
    "transform_points",
]
