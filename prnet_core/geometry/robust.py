"""The rigid transform that is consistent with most matches, where many matches are incorrect."""

import torch
from torch import Tensor

from .cloud_support import closeness, closeness_over_scales, cloud_support, every
from .kabsch import procrustes, procrustes_by_weights
from .spatial_consistency import (
    compatible_matches,
    second_order_compatibility,
    seed_transforms,
    squared_residuals,
    strongest,
)
from .surface_alignment import (
    LAST_SCALES,
    STEP_POINTS,
    STEP_SCALES,
    Surfaces,
    align_surfaces,
    mean_agreement,
    surface_support,
)
from .transforms import transform_points

# Lengths are fractions of the radius of the target points.
TOLERANCES = (0.02, 0.08)
"""Allowed difference of two matches' distances: both clouds hold the same points, or other samples of the surface."""
MAX_MATCHES, NUM_SEEDS, GROUP_SIZE = 384, 32, 12
MORE_MATCHES, MORE_SEEDS = 512, 96
"""For `robust_hypotheses`: with a small overlap few of the most probable matches are correct."""
SUPPORT_SCALES = (0.06, 0.02, 0.007)
SURFACE_WEIGHT = 4.0
"""Of the support by surfaces, where the support by matches is at most the number of scales."""
DISTINCT, DISTINCT_POINTS = 0.15, 16
"""Root mean square distance between where two hypotheses move some points, to count as different."""
CANDIDATES = 24
"""Hypotheses of all samples that are aligned by their surfaces."""
REFINEMENT_SCALES = (0.12, 0.06, 0.03, 0.03, 0.03)


def robust_procrustes(
    source: Tensor,
    target: Tensor,
    weights: Tensor | None = None,
    target_cloud: Tensor | None = None,
    radius: Tensor | None = None,
    normals: tuple[Tensor, Tensor] | None = None,
    similarity: Tensor | None = None,
) -> Tensor:
    """Procrustes that tolerates nine incorrect matches in ten.

    Hypotheses: Procrustes of all matches, and transforms of groups of spatially consistent matches. The best has the
    most support: the mean over matches (weights w_i) of the sum over scales s of s^2 / (s^2 + r_i^2) with
    r_i = |R x_i + t - y_i|. With `target_cloud` (..., M, 3) the same mean is added with r_i the distance to the nearest
    of its points, because the correct transform aligns also the points whose matches are incorrect. The best hypothesis
    is refined by Procrustes with the weights w_i (s^2 / (s^2 + r_i^2))^2 (Geman-McClure), s decreasing.

    normals: of the source (..., K, 3) and of the target cloud (..., M, 3), oriented alike. similarity (..., K, M): the
    cosines of their descriptors. With normals and the cloud the result is the first of `robust_hypotheses`.

    All distances are fractions of `radius` (...), by default that of the target points.

    Shapes and result as for `procrustes`. The last step is differentiable; the selection and the weights are not.
    """
    dtype = torch.promote_types(source.dtype, torch.float32)
    source, target = source.to(dtype), target.to(dtype)
    weights = torch.ones_like(source[..., 0]) if weights is None else weights.to(dtype)
    if normals is not None and target_cloud is not None:
        return robust_hypotheses(source, target, weights, target_cloud, radius, 1, normals, similarity).squeeze(-3)
    radius = _radius(target) if radius is None else radius.clamp_min(1e-8)
    sizes = 1, MAX_MATCHES, NUM_SEEDS
    _, last_weights = _best_transforms(source, target, weights, target_cloud, radius, None, *sizes)
    return procrustes(source, target, last_weights.squeeze(-2))


def robust_hypotheses(
    source: Tensor,
    target: Tensor,
    weights: Tensor,
    target_cloud: Tensor,
    radius: Tensor | None,
    count: int,
    normals: tuple[Tensor, Tensor] | None = None,
    similarity: Tensor | None = None,
) -> Tensor:
    """`count` distinct transforms (..., count, 4, 4) with the most support, one of which is correct more often.

    More groups of matches are tried than by `robust_procrustes`, which takes three times as long. The best by matches
    and cloud comes first, then in turns the best by the cloud alone, which incorrect matches cannot mislead, by the
    matches alone, and by both.

    With normals see `surface_hypotheses`.
    """
    dtype = torch.promote_types(source.dtype, torch.float32)
    source, target, weights, target_cloud = (v.to(dtype) for v in (source, target, weights, target_cloud))
    radius = _radius(target) if radius is None else radius.clamp_min(1e-8)
    if normals is None:
        return _best_transforms(source, target, weights, target_cloud, radius, None, count, MORE_MATCHES, MORE_SEEDS)[0]
    surfaces = Surfaces(source, normals[0], target_cloud, normals[1], similarity, radius)
    sample = source.ndim - 2  # one
    surfaces = surfaces.regrouped(lambda values: values.unsqueeze(sample))
    return surface_hypotheses(target.unsqueeze(sample), weights.unsqueeze(sample), surfaces, count)


def surface_hypotheses(matched: Tensor, weights: Tensor, surfaces: Surfaces, count: int) -> Tensor:
    """`count` distinct transforms (..., count, 4, 4) of pairs that are each sampled S times, the best first.

    matched (..., S, N, 3), weights (..., S, N): where the source's points of each sample are matched. Points support a
    transform only where their normals agree (`surface_support`), and the best transforms of each sample are aligned by
    its surfaces (`align_surfaces`): with little overlap few correct matches leave a transform some degrees away. All
    are ranked by what meets under them in all samples (`mean_agreement`), and aligned by all points.
    """
    with torch.no_grad(), torch.autocast(matched.device.type, enabled=False):
        samples, source = matched.shape[-3], surfaces.source
        remaining = max(CANDIDATES // samples, count)
        sizes = remaining, MORE_MATCHES, MORE_SEEDS
        transforms, _ = _best_transforms(source, matched, weights, surfaces.target, surfaces.radius, surfaces, *sizes)
        transforms = align_surfaces(transforms, surfaces.some(STEP_POINTS), STEP_SCALES).flatten(-4, -3)
        joined = surfaces.joined
        agreement = mean_agreement(transforms, surfaces)
        transforms = _best_distinct(transforms, [agreement], joined.source, joined.radius, count)
        return align_surfaces(transforms, joined, LAST_SCALES)


def _radius(target: Tensor) -> Tensor:
    return (target - target.mean(dim=-2, keepdim=True)).norm(dim=-1).amax(dim=-1).clamp_min(1e-8)


def _best_transforms(
    source: Tensor,
    target: Tensor,
    weights: Tensor,
    target_cloud: Tensor | None,
    radius: Tensor,
    surfaces: Surfaces | None,
    count: int,
    max_matches: int,
    num_seeds: int,
) -> tuple[Tensor, Tensor]:
    """The `count` best transforms (..., count, 4, 4), and the weights (..., count, K) for one more Procrustes."""
    with torch.no_grad(), torch.autocast(source.device.type, enabled=False):
        unweighted = procrustes(source, target, weights).unsqueeze(-3)
        tolerances = radius.unsqueeze(-1) * radius.new_tensor(TOLERANCES)
        consistent = _consistent_transforms(source, target, weights, tolerances, max_matches, num_seeds)
        hypotheses = torch.cat([unweighted, consistent], dim=-3)
        supports = [_support(hypotheses, source, target, weights, radius)]
        if target_cloud is not None:
            if surfaces is None:
                by_cloud = cloud_support(hypotheses, source, target_cloud.to(source.dtype), radius, SUPPORT_SCALES)
            else:
                by_cloud = SURFACE_WEIGHT * surface_support(hypotheses, surfaces)
            supports = [supports[0] + by_cloud, by_cloud, supports[0]]
        transforms = _best_distinct(hypotheses, supports, source, radius, count)
        for fraction in REFINEMENT_SCALES:
            squared = squared_residuals(transforms, source, target)
            scale = fraction * radius.unsqueeze(-1)
            current = weights.unsqueeze(-2) * closeness(squared, scale).square()
            transforms = procrustes_by_weights(source, target, current)
        return transforms, current


def _best_distinct(hypotheses: Tensor, supports: list[Tensor], source: Tensor, radius: Tensor, count: int) -> Tensor:
    """(..., count, 4, 4) of hypotheses (..., S, 4, 4): the best by each support (..., S) in turn, none within DISTINCT
    of one chosen before."""
    if count == 1:
        return hypotheses.take_along_dim(supports[0].argmax(dim=-1)[..., None, None, None], dim=-3)
    subset = every(source, DISTINCT_POINTS)
    moved, chosen = transform_points(hypotheses, subset.unsqueeze(-3)), []
    excluded = torch.zeros_like(supports[0])
    for rank in range(count):
        best = (supports[rank % len(supports)] - excluded).argmax(dim=-1)[..., None, None, None]
        chosen.append(hypotheses.take_along_dim(best, dim=-3))
        apart = (moved - moved.take_along_dim(best, dim=-3)).square().sum(dim=-1).mean(dim=-1).sqrt()
        excluded += 1e3 * (apart < DISTINCT * radius.unsqueeze(-1)).to(excluded.dtype)
    return torch.cat(chosen, dim=-3)


def _consistent_transforms(
    source: Tensor, target: Tensor, weights: Tensor, tolerances: Tensor, max_matches: int, num_seeds: int
) -> Tensor:
    """Transforms (..., T * num_seeds, 4, 4) of groups of spatially consistent matches, `num_seeds` for each tolerance
    (..., T), each refitted twice to all matches near it."""
    count = min(max_matches, source.shape[-2])
    kept = weights.topk(count, dim=-1).indices
    weights = weights.take_along_dim(kept, dim=-1)
    source, target = (cloud.take_along_dim(kept.unsqueeze(-1), dim=-2) for cloud in (source, target))
    limit = tolerances[..., None, None]
    clouds = source.unsqueeze(-3), target.unsqueeze(-3)
    compatible = compatible_matches(*clouds, limit, 2.0 * limit)  # close points agree on any transform
    _, seeds = strongest(compatible.sum(dim=-1), num_seeds)
    of_seeds = second_order_compatibility(compatible, seeds)
    transforms = seed_transforms(*clouds, of_seeds, seeds, min(GROUP_SIZE, count)).flatten(-4, -3)
    reach = 2.0 * tolerances.repeat_interleave(seeds.shape[-1], dim=-1)
    for _ in range(2):
        near = closeness(squared_residuals(transforms, source, target), reach).square()
        transforms = procrustes_by_weights(source, target, weights.unsqueeze(-2) * near)
    return transforms


def _support(transforms: Tensor, source: Tensor, target: Tensor, weights: Tensor, radius: Tensor) -> Tensor:
    """Support (..., S) of transforms (..., S, 4, 4) from the residuals of the matches."""
    weights = weights + torch.finfo(weights.dtype).tiny
    weights = weights / weights.sum(dim=-1, keepdim=True)
    squared = squared_residuals(transforms, source, target)
    close = closeness_over_scales(squared, radius.unsqueeze(-1), SUPPORT_SCALES)
    return (close @ weights.unsqueeze(-1)).squeeze(-1)
