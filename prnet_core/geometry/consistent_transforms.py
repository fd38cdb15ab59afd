"""Rigid transforms from matches of which most may be incorrect: second-order spatial compatibility (SC2-PCR, Chen et
al., CVPR 2022). A rigid transform keeps distances, so two correct matches have the same distance in both clouds.

In numpy: a search without a network does not import PyTorch. `spatial_consistency` has the same steps for batches.
"""

import numpy as np
from scipy.spatial.distance import pdist, squareform

from . import se3

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
    source, target = (np.asarray(cloud, dtype=np.float64) for cloud in (source, target))
    compatible = squareform(np.abs(pdist(source) - pdist(target)) < tolerance).astype(np.float32)
    common = compatible * (compatible @ compatible)  # matches that are compatible with both
    seeds = _strongest(common.sum(axis=1), NUM_SEEDS)
    groups = _strongest(common[seeds], min(GROUP_SIZE, len(source) - 1))
    weights = np.take_along_axis(common[seeds], groups, axis=1).astype(np.float64)
    groups, weights = np.hstack([seeds[:, None], groups]), np.hstack([weights[:, :1], weights])
    transforms = weighted_kabsch(source[groups], target[groups], weights)
    for _ in range(REFITS):
        inliers = _inliers(transforms, source, target, tolerance)
        best = inliers[_strongest(inliers.sum(axis=1), NUM_SEEDS // 3 + 1)]
        transforms = weighted_kabsch(source, target, best.astype(np.float64))
    num_inliers = _inliers(transforms, source, target, tolerance).sum(axis=1)
    extent = float(np.linalg.norm(source - source.mean(axis=0), axis=1).max())
    return _distinct(transforms[_strongest(num_inliers, len(transforms))], max_transforms, extent, 4.0 * tolerance)


def weighted_kabsch(source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Transforms (S, 4, 4) that minimise sum_i w_i |R x_i + t - y_i|^2, for weights (S, K) >= 0.

    source, target: (S, K, 3) or (K, 3), matched by row. Degenerate matches give a finite rotation.
    """
    weights = weights + np.finfo(np.float64).tiny
    weights = (weights / weights.sum(axis=1, keepdims=True))[..., None]
    mean_source, mean_target = ((weights * cloud).sum(axis=1, keepdims=True) for cloud in (source, target))
    covariance = np.swapaxes(weights * (target - mean_target), 1, 2) @ (source - mean_source)
    u, _, vt = np.linalg.svd(covariance)
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    transforms = np.tile(np.eye(4), (len(weights), 1, 1))
    transforms[:, :3, :3] = u @ vt
    transforms[:, :3, 3] = mean_target[:, 0] - (transforms[:, :3, :3] @ mean_source[:, 0, :, None])[..., 0]
    return transforms


def _inliers(transforms: np.ndarray, source: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """Which matches (K, 3) are within twice the tolerance under transforms (S, 4, 4), (S, K)."""
    moved = source @ np.swapaxes(transforms[:, :3, :3], 1, 2) + transforms[:, None, :3, 3]
    return np.sum((moved - target) ** 2, axis=2) < (2.0 * tolerance) ** 2


def _strongest(values: np.ndarray, count: int) -> np.ndarray:
    """Indices of the `count` largest values of the last axis. Ties are in order of index."""
    return np.argsort(-values, axis=-1, kind="stable")[..., :count]


def _distinct(transforms: np.ndarray, max_transforms: int, extent: float, min_distance: float) -> list[np.ndarray]:
    """The first `max_transforms` of (S, 4, 4) that differ by more than `min_distance` (se3.transform_distance)."""
    chosen: list[np.ndarray] = []
    for transform in transforms:
        if all(se3.transform_distance(transform, other, extent) > min_distance for other in chosen):
            chosen.append(transform)
            if len(chosen) == max_transforms:
                break
    return chosen
