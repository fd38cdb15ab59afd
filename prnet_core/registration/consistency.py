"""Motions that many matches agree on: second order spatial compatibility (SC2-PCR, Chen et al., CVPR 2022)."""

import numpy as np

from prnet_core.geometry import se3


def consistent_motions(
    source: np.ndarray,
    target: np.ndarray,
    tolerance: float,
    num_motions: int,
    num_seeds: int = 100,
    group_size: int = 20,
) -> list[np.ndarray]:
    """The distinct motions (4, 4) with the most agreeing matches, best first.

    source, target: (K, 3) matched points, most of them possibly wrong. Two matches are compatible when they
    keep their distance within `tolerance`; second order: weighted by how many matches both are compatible
    with. Each seed fits a motion to its most compatible group; the matches within twice the tolerance refit it.
    """
    if len(source) < 3:
        return []
    compatibility = second_order_compatibility(source, target, tolerance)
    seeds = np.argsort(-compatibility.sum(axis=1), kind="stable")[:num_seeds]
    group_size = min(group_size, len(source) - 1)
    groups = np.argsort(-compatibility[seeds], axis=1, kind="stable")[:, :group_size]
    weights = np.take_along_axis(compatibility[seeds], groups, axis=1)
    groups = np.hstack([seeds[:, None], groups])
    weights = np.hstack([weights.max(axis=1, keepdims=True), weights])
    motions = fit_motions(source[groups], target[groups], weights)

    for _ in range(2):
        agreeing = residuals(motions, source, target) < 2.0 * tolerance
        best = np.argsort(-agreeing.sum(axis=1), kind="stable")[: num_seeds // 3 + 1]
        shape = (len(best), *source.shape)
        motions = fit_motions(
            np.broadcast_to(source, shape), np.broadcast_to(target, shape), agreeing[best].astype(np.float64)
        )
    support = (residuals(motions, source, target) < 2.0 * tolerance).sum(axis=1)
    extent = float(np.linalg.norm(source - source.mean(axis=0), axis=1).max())
    return distinct(motions[np.argsort(-support, kind="stable")], num_motions, extent, 4.0 * tolerance)


def second_order_compatibility(source: np.ndarray, target: np.ndarray, tolerance: float) -> np.ndarray:
    """(K, K): C * (C C) of the 0/1 matrix C of pairs of matches that keep their distance."""
    difference = pairwise_distances(source) - pairwise_distances(target)
    compatible = (np.abs(difference) < tolerance).astype(np.float32)
    np.fill_diagonal(compatible, 0.0)
    return compatible * (compatible @ compatible)


def pairwise_distances(points: np.ndarray) -> np.ndarray:
    """(K, K) distances of points (K, 3)."""
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def fit_motions(source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Least squares motions (S, 4, 4) of S groups of matches (S, K, 3) with weights (S, K) >= 0 (Kabsch)."""
    weights = (weights + 1e-9) / (weights + 1e-9).sum(axis=1, keepdims=True)
    source_mean = np.einsum("sk,ski->si", weights, source)
    target_mean = np.einsum("sk,ski->si", weights, target)
    moments = np.einsum(
        "sk,ski,skj->sij",
        weights,
        target - target_mean[:, None],
        source - source_mean[:, None],
        optimize=True,
    )
    u, _, vt = np.linalg.svd(moments)
    u[:, :, -1] *= np.linalg.det(u @ vt)[:, None]
    motions = np.tile(np.eye(4), (len(source), 1, 1))
    motions[:, :3, :3] = u @ vt
    motions[:, :3, 3] = target_mean - np.einsum("sij,sj->si", motions[:, :3, :3], source_mean)
    return motions


def residuals(motions: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Distances (S, K) of the moved source points (K, 3) to their matches under S motions (S, 4, 4)."""
    moved = np.einsum("sij,kj->ski", motions[:, :3, :3], source) + motions[:, None, :3, 3]
    return np.linalg.norm(moved - target, axis=2)


def distinct(motions: np.ndarray, limit: int, extent: float, min_distance: float) -> list[np.ndarray]:
    """The first `limit` motions that move points within `extent` of the origin differently."""
    chosen: list[np.ndarray] = []
    for motion in motions:
        if all(motion_distance(motion, other, extent) > min_distance for other in chosen):
            chosen.append(motion)
            if len(chosen) == limit:
                break
    return chosen


def motion_distance(first: np.ndarray, second: np.ndarray, extent: float) -> float:
    """How far two motions (4, 4) take a point at distance `extent` from the origin apart, at most about."""
    difference = se3.invert(first) @ second
    return float(
        np.linalg.norm(difference[:3, 3])
        + extent * 2.0 * np.sin(se3.rotation_angle(difference[:3, :3]) / 2.0)
    )
