"""Equalise the density of a pair of clouds, so that keypoints of one surface look alike in both, and scale it.

The network sees a fixed number of points of about unit radius; real scans have thousands, dense near the sensor.
"""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry.se3 import make_transform
from prnet_core.geometry.voxels import pair_voxel_size, voxel_centroids

UNIT_RADIUS_90 = 0.85
"""Radius that holds 90 % of a normalised cloud's points: 0.83 on average for objects in the unit sphere."""
SURPLUS = 1.25
"""Voxels for each wanted point."""


@dataclass(frozen=True)
class PairNormalisation:
    """Centres and scale of a normalised pair: x_unit = scale (x - centre), with one scale for both clouds."""

    source_centre: np.ndarray
    target_centre: np.ndarray
    scale: float

    def to_metric(self, T_unit: np.ndarray) -> np.ndarray:
        """T_target_source (4, 4) between the normalised clouds -> between the original clouds."""
        R, t = T_unit[:3, :3], T_unit[:3, 3]
        return make_transform(R, self.target_centre + t / self.scale - R @ self.source_centre)

    def to_unit(self, T_metric: np.ndarray) -> np.ndarray:
        """Inverse of `to_metric`."""
        R, t = T_metric[:3, :3], T_metric[:3, 3]
        return make_transform(R, self.scale * (t + R @ self.source_centre - self.target_centre))


def normalise_pair(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, PairNormalisation]:
    """Centre each cloud at its own mean and scale both by one factor to about the unit sphere.

    The factor puts the larger of the two radii that hold 90 % of the points at `UNIT_RADIUS_90`: a few
    far returns do not shrink the scene.

    source (N, 3), target (M, 3), finite, in one unit -> the same shapes in float32, and the normalisation.
    """
    source_centre, target_centre = source.mean(0, dtype=np.float64), target.mean(0, dtype=np.float64)
    source, target = source - source_centre, target - target_centre
    radius = max(np.quantile(np.linalg.norm(cloud, axis=1), 0.9) for cloud in (source, target))
    scale = UNIT_RADIUS_90 / max(float(radius), np.finfo(np.float32).tiny)
    normalisation = PairNormalisation(source_centre, target_centre, scale)
    return (scale * source).astype(np.float32), (scale * target).astype(np.float32), normalisation


def downsample_pair(
    source: np.ndarray, target: np.ndarray, num_points: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Sample both clouds to `num_points` points of even, equal density.

    source (N, 3), target (M, 3), N, M >= 1 -> (num_points, 3) twice, and the voxel size in the clouds' unit.
    """
    voxel = even_spacing(source, target, num_points, rng)
    return sample_evenly(source, voxel, num_points, rng), sample_evenly(target, voxel, num_points, rng), voxel


def even_spacing(source: np.ndarray, target: np.ndarray, num_points: int, rng: np.random.Generator) -> float:
    """The voxel size, by bisection, at which the sparser of two clouds fills 1.25 times `num_points` voxels or so."""
    return pair_voxel_size(source, target, round(SURPLUS * num_points), rng)


def sample_evenly(cloud: np.ndarray, voxel: float, num_points: int, rng: np.random.Generator) -> np.ndarray:
    """A random choice (num_points, 3) among the centroids of a cloud's voxels; with too few voxels it is filled up with
    the cloud's own points, repeated if need be."""
    centroids = voxel_centroids(cloud, voxel)
    if len(centroids) >= num_points:
        return centroids[rng.choice(len(centroids), num_points, replace=False)]
    missing = num_points - len(centroids)
    extra = cloud[rng.choice(len(cloud), missing, replace=len(cloud) < missing)]
    return np.concatenate([centroids, extra])[rng.permutation(num_points)]
