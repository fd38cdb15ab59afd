"""The rigid motion that most matches agree on, where many of them are wrong."""

import torch
from torch import Tensor

from .rigid_fit import procrustes
from .transforms import transform_points

# Lengths are shares of the target points' radius.
TOLERANCES = (0.02, 0.08)
"""By how much two matches' distances may differ: the same points in both clouds, and other samples of one surface."""
MOST_MATCHES, NUM_SEEDS, GROUP_SIZE = 384, 32, 12
SUPPORT_SCALES = (0.06, 0.02, 0.007)
OVERLAP_POINTS = 128
REFINEMENT_SCALES = (0.12, 0.06, 0.03, 0.03, 0.03)


def robust_procrustes(
    source: Tensor, target: Tensor, weights: Tensor | None = None, target_cloud: Tensor | None = None
) -> Tensor:
    """Procrustes that wrong matches do not pull, though they be nine of ten.

    Starts: plain Procrustes, and motions of groups of matches that keep their distances from each other. The best has
    the most support, the mean over matches (weights w_i) of the sum over scales s of s^2 / (s^2 + r_i^2) with
    r_i = |R x_i + t - y_i|; with `target_cloud` (..., M, 3) the same mean with r_i the distance to the nearest of its
    points is added, since the true motion brings points home whose matches are wrong. It is refined by Procrustes with
    the weights w_i (s^2 / (s^2 + r_i^2))^2 (Geman-McClure), s falling.

    Shapes and result as for `procrustes`; the last step is differentiable, the choice and the weights are not.
    """
    dtype = torch.promote_types(source.dtype, torch.float32)
    source, target = source.to(dtype), target.to(dtype)
    weights = torch.ones_like(source[..., 0]) if weights is None else weights.to(dtype)
    with torch.no_grad(), torch.autocast(source.device.type, enabled=False):
        radius = (target - target.mean(dim=-2, keepdim=True)).norm(dim=-1).amax(dim=-1).clamp_min(1e-8)
        plain = procrustes(source, target, weights).unsqueeze(-3)
        tolerances = radius.unsqueeze(-1) * radius.new_tensor(TOLERANCES)
        starts = torch.cat([plain, _consistent_motions(source, target, weights, tolerances)], dim=-3)
        support = _support(starts, source, target, weights, radius)
        if target_cloud is not None:
            support = support + _overlap(starts, source, target_cloud.to(dtype), radius)
        best = support.argmax(dim=-1)[..., None, None, None]
        transform = starts.take_along_dim(best, dim=-3).squeeze(-3)
        for share in REFINEMENT_SCALES:
            squared = _squared_residuals(transform, source, target)
            current = weights * _closeness(squared, share * radius).square()
            transform = procrustes(source, target, current)
    return procrustes(source, target, current)


def _consistent_motions(source: Tensor, target: Tensor, weights: Tensor, tolerances: Tensor) -> Tensor:
    """Motions (..., S, 4, 4) of groups of consistent matches (second order spatial compatibility: SC2-PCR, Chen et
    al., CVPR 2022), NUM_SEEDS of them for each tolerance (..., T), then refitted to all matches near them.

    Two matches are compatible when they keep their distance within the tolerance; a seed's group are the matches with
    which it has the most compatible matches in common.
    """
    count = min(MOST_MATCHES, source.shape[-2])
    kept = weights.topk(count, dim=-1).indices
    weights = weights.take_along_dim(kept, dim=-1)
    source, target = (cloud.take_along_dim(kept.unsqueeze(-1), dim=-2) for cloud in (source, target))
    source_distance, target_distance = torch.cdist(source, source), torch.cdist(target, target)
    limit = tolerances[..., None, None]
    difference = (source_distance - target_distance).abs().unsqueeze(-3)
    nearer = torch.minimum(source_distance, target_distance).unsqueeze(-3)
    compatible = ((difference < limit) & (nearer > 2.0 * limit)).to(source.dtype)  # near points agree on any motion

    seeds = compatible.sum(dim=-1).topk(min(NUM_SEEDS, count), dim=-1).indices
    of_seeds = compatible.take_along_dim(seeds.unsqueeze(-1), dim=-2)
    agreement, groups = (of_seeds * (of_seeds @ compatible)).topk(min(GROUP_SIZE, count), dim=-1)
    groups = torch.cat([seeds.unsqueeze(-1), groups], dim=-1)
    agreement = torch.cat([agreement[..., :1], agreement], dim=-1)
    rows = groups.flatten(-3).unsqueeze(-1)
    members = [cloud.take_along_dim(rows, dim=-2).unflatten(-2, groups.shape[-3:]) for cloud in (source, target)]
    transforms = procrustes(*members, agreement).flatten(-4, -3)
    reach = 2.0 * tolerances.repeat_interleave(seeds.shape[-1], dim=-1)
    source, target, weights = source.unsqueeze(-3), target.unsqueeze(-3), weights.unsqueeze(-2)
    for _ in range(2):
        near = _closeness(_squared_residuals(transforms, source, target), reach).square()
        shape = (*near.shape, 3)
        transforms = procrustes(source.expand(shape), target.expand(shape), weights * near)
    return transforms


def _support(transforms: Tensor, source: Tensor, target: Tensor, weights: Tensor, radius: Tensor) -> Tensor:
    """(..., S) of transforms (..., S, 4, 4), by the matches."""
    weights = weights + torch.finfo(weights.dtype).tiny
    weights = weights / weights.sum(dim=-1, keepdim=True)
    squared = _squared_residuals(transforms, source.unsqueeze(-3), target.unsqueeze(-3))
    return (weights.unsqueeze(-2) * _close_at_all_scales(squared, radius)).sum(dim=-1)


def _overlap(transforms: Tensor, source: Tensor, cloud: Tensor, radius: Tensor) -> Tensor:
    """(..., S) of transforms (..., S, 4, 4), by the distances of some source points to the cloud (..., M, 3)."""
    some = source[..., :: max(1, source.shape[-2] // OVERLAP_POINTS), :]
    moved = transform_points(transforms, some.unsqueeze(-3))
    nearest = torch.cdist(moved.flatten(-3, -2), cloud).amin(dim=-1).unflatten(-1, moved.shape[-3:-1])
    return _close_at_all_scales(nearest.square(), radius).mean(dim=-1)


def _close_at_all_scales(squared: Tensor, radius: Tensor) -> Tensor:
    return sum(_closeness(squared, share * radius.unsqueeze(-1)) for share in SUPPORT_SCALES)


def _squared_residuals(transforms: Tensor, source: Tensor, target: Tensor) -> Tensor:
    return (transform_points(transforms, source) - target).square().sum(dim=-1)


def _closeness(squared: Tensor, scale: Tensor) -> Tensor:
    """s^2 / (s^2 + r^2), in (0, 1]; squared (..., K), scale (...)."""
    scale = scale.square().unsqueeze(-1)
    return scale / (scale + squared)
