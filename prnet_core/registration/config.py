"""Every number of the registration in one frozen object. Lengths in voxels unless the name says metres."""

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class RegistrationConfig:
    """How two clouds are prepared, matched, refined and judged.

    Distances written `*_voxels` are multiples of the voxel size of the pair, so that one set of numbers serves
    objects of centimetres and streets of a hundred metres.
    """

    voxel_size: float | None = None  # in the clouds' unit; None: chosen from the clouds' own scale
    target_points: int = 5000  # points left after the voxel filter that the automatic voxel size aims at
    min_range: float = 0.0  # distance from the sensor's origin, in the clouds' unit
    max_range: float = inf
    num_neighbors: int = 20  # neighbours for normals and covariances
    num_threads: int = 1  # threads of small_gicp
    min_points: int = 30  # fewer points than this after the filter cannot be registered

    coarse_factor: float = 3.0  # voxel of the coarse stage, in voxels
    coarse_distance_voxels: float = 12.0  # largest distance of a correspondence, coarse stage
    fine_distance_voxels: float = 3.0  # and fine stage
    max_iterations: int = 40

    inlier_distance_voxels: float = 1.0
    overlap_distance_voxels: float = 2.0
    min_inlier_ratio_accepted: float = 0.35
    min_inlier_ratio_weak: float = 0.2
