"""Support of transforms by the distances between the points of two clouds, independent of matches."""

import torch
from torch import Tensor

from .nearest import nearest_distances
from .transforms import transform_points

POINTS = 128
"""Points of the source that are tested."""


def cloud_support(
    transforms: Tensor, source: Tensor, cloud: Tensor, radius: Tensor, scales: tuple[float, ...]
) -> Tensor:
    """Support (..., S) of transforms (..., S, 4, 4): mean over points of the sum over scales s of s^2 / (s^2 + d^2).

    d: distance of a source point (..., N, 3) to the nearest point of the cloud (..., M, 3), as a fraction of
    radius (...).
    """
    moved = transform_points(transforms, every(source, POINTS).unsqueeze(-3))
    squared = nearest_distances(moved.flatten(-3, -2), cloud).unflatten(-1, moved.shape[-3:-1])
    return closeness_over_scales(squared, radius.unsqueeze(-1), scales).mean(dim=-1)


def every(values: Tensor, count: int) -> Tensor:
    """About `count` evenly spaced rows of (..., N, C)."""
    return values[..., :: max(1, values.shape[-2] // count), :]


def closeness(squared: Tensor, scale: Tensor) -> Tensor:
    """s^2 / (s^2 + r^2), in (0, 1]; squared (..., K), scale (...)."""
    scale = scale.square().unsqueeze(-1)
    return scale / (scale + squared)


def closeness_over_scales(squared: Tensor, radius: Tensor, scales: tuple[float, ...]) -> Tensor:
    """The sum of `closeness` over scales, which are fractions of the radius (...)."""
    return sum((closeness(squared, scale * radius) for scale in scales), torch.zeros_like(squared))
