"""Which of a batch of matches are consistent with each other: the steps of `consistent_transforms` for batches, in
PyTorch (second-order spatial compatibility, SC2-PCR, Chen et al., CVPR 2022)."""

import torch
from torch import Tensor

from .kabsch import procrustes


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
    weights, groups = strongest_counts(compatibility, group_size)
    groups = torch.cat([seeds.unsqueeze(-1), groups], dim=-1)
    weights = torch.cat([weights[..., :1], weights], dim=-1).to(source.dtype)
    rows = groups.flatten(-2).unsqueeze(-1)
    x, y = (cloud.take_along_dim(rows, dim=-2).unflatten(-2, groups.shape[-2:]) for cloud in (source, target))
    return procrustes(x, y, weights)


def strongest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest values of the last dimension and their indices. Ties are in order of index."""
    values, order = values.sort(dim=-1, descending=True, stable=True)
    return values[..., :count], order[..., :count]


def strongest_counts(counts: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`strongest` of integers (..., K) whose products with K are exact in float32; it does not sort all of them."""
    size = counts.shape[-1]
    first_in_ties = torch.arange(size - 1, -1, -1, device=counts.device, dtype=counts.dtype)
    indices = torch.add(first_in_ties, counts, alpha=size).topk(count, dim=-1).indices
    return counts.take_along_dim(indices, dim=-1), indices


def squared_residuals(transforms: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """|R x_i + t - y_i|^2 (..., S, K) of matches (..., K, 3) under each of the transforms (..., S, 4, 4)."""
    rows = transforms[..., :3, :].transpose(-3, -2)  # (..., 3, S, 4): one product for each coordinate
    moved = rows[..., :3] @ source.transpose(-2, -1).unsqueeze(-3) + rows[..., 3:]
    return (moved - target.transpose(-2, -1).unsqueeze(-2)).square().sum(dim=-3)


def _distances(points: Tensor) -> Tensor:
    points = points - points.mean(dim=-2, keepdim=True)  # reduces the rounding error of the products
    return torch.cdist(points, points, compute_mode="use_mm_for_euclid_dist")
