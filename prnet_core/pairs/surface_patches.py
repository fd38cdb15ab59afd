"""Rotation-invariant inputs of a pair: for each network point a normal and its patch of the dense cloud."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import small_gicp

from prnet_core.geometry.normals import orient_away
from prnet_core.pairs.normalise import even_spacing, sample_evenly

PATCH_POINTS, PATCH_CANDIDATES = 32, 96
PATCH_RADIUS = 6.0  # spacings (voxels) of the dense cloud
SPACING_NEIGHBOURS = 16
MOST_EVEN_SHARE = 0.64  # of a dense cloud's points: more are not farther apart than these are


@dataclass(frozen=True)
class DenseCloud:
    """Points (N, 3) of about even density and their unit normals (N, 3) of any sign; `spacing` is the voxel's edge.

    origins (K, 3): where the points were seen from; None: estimated (`orient_away`).
    """

    points: np.ndarray
    normals: np.ndarray
    spacing: float
    origins: np.ndarray | None = None


@dataclass(frozen=True)
class SurfaceInputs:
    """One cloud as the network reads it, float32, lengths in network spacings: points (N, 3), normals (N, 3),
    patches (N, 32, 5); points relative to `origin`, which is in the dense cloud's unit."""

    points: np.ndarray
    normals: np.ndarray
    patches: np.ndarray
    origin: np.ndarray

    def part(self, rows: slice) -> SurfaceInputs:
        """Some of the points."""
        return SurfaceInputs(self.points[rows], self.normals[rows], self.patches[rows], self.origin)


@dataclass(frozen=True)
class SurfacePair:
    """Both clouds' inputs; `spacing` of the network's points in the dense clouds' unit."""

    source: SurfaceInputs
    target: SurfaceInputs
    spacing: float

    def to_metric(self, T: np.ndarray) -> np.ndarray:
        """T_target_source (4, 4) between the inputs -> between the dense clouds."""
        T = np.array(T, dtype=np.float64)
        T[:3, 3] = self.target.origin + self.spacing * T[:3, 3] - T[:3, :3] @ self.source.origin
        return T

    def to_network(self, T: np.ndarray) -> np.ndarray:
        """Inverse of `to_metric`."""
        T = np.array(T, dtype=np.float64)
        T[:3, 3] = (T[:3, 3] + T[:3, :3] @ self.source.origin - self.target.origin) / self.spacing
        return T


def surface_pair(source: DenseCloud, target: DenseCloud, num_points: int, rng: np.random.Generator) -> SurfacePair:
    """Sample both clouds to `num_points` points of even, equal density and describe the surface around each."""
    return surface_samples(source, target, num_points, 1, rng)[0]


def surface_samples(
    source: DenseCloud, target: DenseCloud, num_points: int, count: int, rng: np.random.Generator
) -> list[SurfacePair]:
    """`count` samples as `surface_pair` in one frame: of one spacing, and with one origin for each cloud."""
    fewest = min(len(source.points), len(target.points))
    even_points = min(num_points, ceil(MOST_EVEN_SHARE * fewest))
    spacing = even_spacing(source.points, target.points, even_points, rng)
    described = []
    for cloud in (source, target):
        points = np.concatenate([sample_evenly(cloud.points, spacing, num_points, rng) for _ in range(count)])
        described.append(surface_inputs(points, cloud, spacing))
    parts = [slice(first, first + num_points) for first in range(0, count * num_points, num_points)]
    return [SurfacePair(*(inputs.part(rows) for inputs in described), spacing) for rows in parts]


def surface_inputs(points: np.ndarray, cloud: DenseCloud, spacing: float) -> SurfaceInputs:
    """The inputs at points (N, 3) on the dense cloud; `spacing` is that of the points."""
    tree = small_gicp.KdTree(cloud.points)
    normals = orient_away(cloud.points, cloud.normals, cloud.origins)
    k = min(PATCH_CANDIDATES, len(cloud.points))
    index, squared = tree.batch_knn_search(points, k)
    within, nearest = squared < (PATCH_RADIUS * cloud.spacing) ** 2, index[:, 0]
    # Evenly spread over all candidates within the radius; an empty patch is filled with the nearest point.
    count = np.maximum(within.sum(axis=1), 1)
    chosen = (np.arange(PATCH_POINTS) * count[:, None]) // PATCH_POINTS
    index = np.where(within, index, nearest[:, None])
    members = np.take_along_axis(index, chosen, axis=1)
    own = normals[nearest]
    patches = _patch_features(points, own, cloud.points[members], normals[members], PATCH_RADIUS * cloud.spacing)
    origin = points.mean(axis=0)
    scaled = (points - origin) / spacing
    return SurfaceInputs(scaled.astype(np.float32), own.astype(np.float32), patches, origin)


def _patch_features(points, normals, members, member_normals, radius: float) -> np.ndarray:
    """(N, K, 5): d / r, h / r, n_1 . d, n_2 . d, n_1 . n_2; d is the unit vector to the neighbour in the products."""
    line = (members - points[:, None]).astype(np.float32)
    normals, member_normals = normals.astype(np.float32), member_normals.astype(np.float32)
    length = np.sqrt(np.einsum("nki,nki->nk", line, line))
    height = np.einsum("nki,ni->nk", line, normals)
    inverse = 1.0 / np.maximum(length, 1e-9)
    features = np.empty((*length.shape, 5), np.float32)
    features[..., 0] = length / radius
    features[..., 1] = height / radius
    features[..., 2] = height * inverse
    features[..., 3] = np.einsum("nki,nki->nk", line, member_normals) * inverse
    features[..., 4] = np.einsum("nki,ni->nk", member_normals, normals)
    return features


def point_spacing(points: np.ndarray) -> float:
    """Edge of the square that belongs to a point of a surface sample (N, 3), by the median distance to a neighbour."""
    k = min(SPACING_NEIGHBOURS, len(points) - 1)
    if k < 1:
        return 1.0
    distance = np.median(np.sqrt(small_gicp.KdTree(points).batch_knn_search(points, k + 1)[1][:, -1]))
    return max(float(distance * np.sqrt(np.pi / (k + 1))), np.finfo(np.float32).tiny)
