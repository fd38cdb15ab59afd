"""Rigid transforms from matches of which most may be incorrect: second-order spatial compatibility (SC2-PCR, Chen et
al., CVPR 2022). A rigid transform keeps distances, so two correct matches have the same distance in both clouds."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from . import se3
from .kabsch import procrustes
from .transforms import transform_points

NUM_SEEDS, GROUP_SIZE = 100, 20
REFITS = 2


def consistent_transforms(
    source: np.ndarray, target: np.ndarray, tolerance: float, max_transforms: int
) -> list[np.ndarray]:
    """The distinct T_target_source (4, 4) float64 with the most inlier matches, best first.

    source, target: (K, 3), matched by row. Two matches are compatible if their distances differ by less than
    `tolerance`; inliers are the matches within twice the tolerance. Empty for fewer than three matches.
    """
    if len(source) < 3:
        return []
    x, y = (torch.from_numpy(np.ascontiguousarray(cloud, dtype=np.float64)) for cloud in (source, target))
    compatibility = second_order_compatibility(compatible_matches(x, y, x.new_tensor(tolerance)))
    _, seeds = strongest(compatibility.sum(dim=-1), NUM_SEEDS)
    transforms = seed_transforms(x, y, compatibility[seeds], seeds, min(GROUP_SIZE, len(x) - 1))
    for _ in range(REFITS):
        inliers = squared_residuals(transforms, x, y) < (2.0 * tolerance) ** 2
        _, best = strongest(inliers.sum(dim=-1), NUM_SEEDS // 3 + 1)
        shape = (len(best), *x.shape)
        transforms = procrustes(x.expand(shape), y.expand(shape), inliers[best].to(x.dtype))
    num_inliers = (squared_residuals(transforms, x, y) < (2.0 * tolerance) ** 2).sum(dim=-1)
    _, order = strongest(num_inliers, len(transforms))
    extent = float((x - x.mean(dim=0)).norm(dim=-1).max())
    return distinct_transforms(transforms[order].numpy(), max_transforms, extent, 4.0 * tolerance)


def compatible_matches(source: Tensor, target: Tensor, tolerance: Tensor, min_distance: float | Tensor = 0.0) -> Tensor:
    """C (..., K, K) float32, the first-order compatibility: 1 where the distances of two matches, in the source and in
    the target (..., K, 3), differ by less than `tolerance` (broadcast) and are at least `min_distance`, else 0."""
    source_distance, target_distance = _distances(source), _distances(target)
    compatible = (source_distance - target_distance).abs() < tolerance
    compatible &= torch.minimum(source_distance, target_distance) >= min_distance
    compatible.diagonal(dim1=-2, dim2=-1).fill_(False)
    return compatible.float()


def second_order_compatibility(compatible: Tensor, rows: Tensor | None = None) -> Tensor:
    """C * (C C): for two compatible matches the number of matches that are compatible with both. All rows
    (..., K, K), or only `rows` (..., S) of them, (..., S, K)."""
    chosen = compatible if rows is None else compatible.take_along_dim(rows.unsqueeze(-1), dim=-2)
    return chosen * (chosen @ compatible)


def seed_transforms(source: Tensor, target: Tensor, compatibility: Tensor, seeds: Tensor, group_size: int) -> Tensor:
    """T_target_source (..., S, 4, 4) of groups of matches: each seed (..., S) with the `group_size` matches of the
    largest second-order compatibility (..., S, K) with it, weighted by it."""
    weights, groups = strongest(compatibility, group_size)
    groups = torch.cat([seeds.unsqueeze(-1), groups], dim=-1)
    weights = torch.cat([weights[..., :1], weights], dim=-1).to(source.dtype)
    rows = groups.flatten(-2).unsqueeze(-1)
    x, y = (cloud.take_along_dim(rows, dim=-2).unflatten(-2, groups.shape[-2:]) for cloud in (source, target))
    return procrustes(x, y, weights)


def strongest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest values of the last dimension and their indices. Ties are in order of index."""
    values, order = values.sort(dim=-1, descending=True, stable=True)
    return values[..., :count], order[..., :count]


def squared_residuals(transforms: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """|R x_i + t - y_i|^2 (..., K) of matches (..., K, 3) under transforms (..., 4, 4)."""
    return (transform_points(transforms, source) - target).square().sum(dim=-1)


def distinct_transforms(
    transforms: np.ndarray, max_transforms: int, extent: float, min_distance: float
) -> list[np.ndarray]:
    """The first `max_transforms` of (S, 4, 4) that differ by more than `min_distance` (se3.transform_distance)."""
    chosen: list[np.ndarray] = []
    for transform in transforms:
        if all(se3.transform_distance(transform, other, extent) > min_distance for other in chosen):
            chosen.append(transform)
            if len(chosen) == max_transforms:
                break
    return chosen


def _distances(points: Tensor) -> Tensor:
    return torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
