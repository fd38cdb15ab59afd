"""What the two clouds say about a motion, in voxel units."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud


@dataclass(frozen=True)
class Evidence:
    """Counts of how well the source lies on the target under a motion.

    inlier_ratio: source points within the inlier distance of a target point whose normal agrees.
    residual: rms point-to-plane distance of the inliers, voxels.
    overlap_source, overlap_target: points within the overlap distance of the other cloud.
    normal_agreement: median |cos| of the angle between the normals of overlapping points.
    information: (6, 6) point-to-plane information of the inliers for (v, omega) in the target's centre.
    """

    inlier_ratio: float
    residual: float
    overlap_source: float
    overlap_target: float
    normal_agreement: float
    num_inliers: int
    information: np.ndarray


def nearest(tree, points: np.ndarray, num_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (N,) and distances (N,) of the nearest neighbours in a small_gicp tree."""
    indices, squared = tree.batch_nearest_neighbor_search(points, num_threads)
    return np.asarray(indices, dtype=np.int64), np.sqrt(np.asarray(squared))


def gather_evidence(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, config: RegistrationConfig
) -> Evidence:
    """Measure a motion (4, 4) in voxel units."""
    moved = se3.apply(transform, source.points)
    index, distance = nearest(target.level.tree, moved, config.num_threads)
    back = se3.apply(se3.invert(transform), target.points)
    _, distance_back = nearest(source.level.tree, back, config.num_threads)

    normals = target.normals[index]
    cosines = np.abs(np.sum((source.normals @ transform[:3, :3].T) * normals, axis=1))
    overlapping = distance < config.overlap_distance_voxels
    inliers = (distance < config.inlier_distance_voxels) & (cosines > np.cos(np.pi / 4))
    plane = np.sum((moved - target.points[index]) * normals, axis=1)[inliers]
    jacobian = np.hstack([normals[inliers], np.cross(moved[inliers], normals[inliers])])
    return Evidence(
        inlier_ratio=float(inliers.mean()),
        residual=float(np.sqrt(np.mean(plane**2))) if inliers.any() else float("inf"),
        overlap_source=float(overlapping.mean()),
        overlap_target=float((distance_back < config.overlap_distance_voxels).mean()),
        normal_agreement=float(np.median(cosines[overlapping])) if overlapping.any() else 0.0,
        num_inliers=int(inliers.sum()),
        information=jacobian.T @ jacobian,
    )


def count_close(
    source: PreparedCloud,
    target: PreparedCloud,
    transform: np.ndarray,
    max_distance: float,
    config: RegistrationConfig,
) -> int:
    """Source points, of about a thousand, that a motion brings within a distance (voxels) of the target."""
    step = max(1, len(source) // 1000)
    _, distance = nearest(target.level.tree, se3.apply(transform, source.points[::step]), config.num_threads)
    return int((distance < max_distance).sum())
