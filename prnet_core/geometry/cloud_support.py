"""How well transforms bring a cloud onto another one, by the distances of its points, whatever their matches are."""

from __future__ import annotations

import torch
from torch import Tensor

from .nearest import nearest_distances, nearest_points
from .transforms import transform_points

POINTS, SURFACE_POINTS = 128, 48
"""Points of the source that are tested; by surfaces, of which the best transforms are tested again, with more points."""
SPACINGS_IN_RADIUS = 12.0
"""The unit of the residuals of matches of surface clouds, in point spacings."""
MIN_COSINE, OPPOSED = 0.7, -0.5
"""Normals that agree, and what a point near a surface with another normal counts."""


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


def surface_support(
    transforms: Tensor, source: Tensor, cloud: Tensor, normals: tuple[Tensor, Tensor], radius: Tensor
) -> Tensor:
    """Support (..., S) of transforms (..., S, 4, 4): mean over points of c s^2 / (s^2 + d^2).

    d: distance of a source point (..., N, 3) to the nearest point of the cloud (..., M, 3); s: a point spacing. c is
    one where the normals of both points agree and -1/2 where they do not: a floor that is moved along itself, or a
    wall that comes to lie behind another one, would otherwise support a transform.
    """
    points, own_normals = (every(values, SURFACE_POINTS).unsqueeze(-3) for values in (source, normals[0]))
    moved, turned = transform_points(transforms, points), own_normals @ transforms[..., :3, :3].transpose(-1, -2)
    squared, index = nearest_points(moved.flatten(-3, -2), cloud)
    others = normals[1].take_along_dim(index.unsqueeze(-1), dim=-2).unflatten(-2, moved.shape[-3:-1])
    agree = (turned * others).sum(dim=-1) > MIN_COSINE
    near = closeness(squared.unflatten(-1, moved.shape[-3:-1]), (radius / SPACINGS_IN_RADIUS).unsqueeze(-1))
    return (near * torch.where(agree, 1.0, OPPOSED)).mean(dim=-1)


def every(values: Tensor, count: int) -> Tensor:
    """At most about `count` of the rows (..., N, C), evenly."""
    return values[..., :: max(1, values.shape[-2] // count), :]


def closeness(squared: Tensor, scale: Tensor) -> Tensor:
    """s^2 / (s^2 + r^2), in (0, 1]; squared (..., K), scale (...)."""
    scale = scale.square().unsqueeze(-1)
    return scale / (scale + squared)


def closeness_over_scales(squared: Tensor, radius: Tensor, scales: tuple[float, ...]) -> Tensor:
    """The sum of `closeness` over scales, which are fractions of the radius (...)."""
    return sum((closeness(squared, scale * radius) for scale in scales), torch.zeros_like(squared))
