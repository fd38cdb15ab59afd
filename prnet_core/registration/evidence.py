"""What the two clouds say about a motion, in voxel units."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud

MIN_NORMAL_COSINE = np.cos(np.pi / 4)
MAX_BACKWARD_POINTS = 5000


@dataclass(frozen=True)
class Evidence:
    """How well the source lies on the target under a motion.

    inlier_ratio: source points within the inlier distance of a target point whose normal agrees.
    residual: rms point-to-plane distance of the inliers, voxels.
    overlap_source, overlap_target: points within the overlap distance of the other cloud.
    centroid: (3,) of the inliers in the target's centred frame; radius: their rms distance from it.
    information: (6, 6) mean of J^T J, J = (n, (p - centroid) / radius x n), over the inliers: how much each
        direction of motion (v, radius omega) about the centroid changes the distances to the planes, 0 to 1.
    """

    inlier_ratio: float
    residual: float
    overlap_source: float
    overlap_target: float
    num_inliers: int
    centroid: np.ndarray
    radius: float
    information: np.ndarray

    @property
    def score(self) -> float:
        """Log odds that the motion is right, by a logistic fit to labelled motions of real scans.

        See docs/results/registration_judgement.md.
        """
        overlap = np.sqrt(self.overlap_source * self.overlap_target)
        return float(1.7 + 11.2 * overlap - 34.4 * min(self.residual, 1.0))

    @property
    def confidence(self) -> float:
        """Probability, 0 to 1, that the motion is right: the logistic function of the score."""
        return float(1.0 / (1.0 + np.exp(-self.score)))

    @property
    def degeneracy(self) -> float:
        """Smallest eigenvalue of the information: 0 when nothing holds one direction of motion."""
        return float(max(0.0, np.linalg.eigvalsh(self.information)[0]))


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
    step = max(1, len(target) // MAX_BACKWARD_POINTS)
    back = se3.apply(se3.invert(transform), target.points[::step])
    _, distance_back = nearest(source.level.tree, back, config.num_threads)

    normals = target.normals[index]
    cosines = np.abs(np.sum((source.normals @ transform[:3, :3].T) * normals, axis=1))
    inliers = (distance < config.inlier_distance_voxels) & (cosines > MIN_NORMAL_COSINE)
    plane_distance = np.sum((moved - target.points[index]) * normals, axis=1)[inliers]
    centroid, radius, information = information_of(moved[inliers], normals[inliers])
    return Evidence(
        inlier_ratio=float(inliers.mean()),
        residual=float(np.sqrt(np.mean(plane_distance**2))) if inliers.any() else float("inf"),
        overlap_source=float((distance < config.overlap_distance_voxels).mean()),
        overlap_target=float((distance_back < config.overlap_distance_voxels).mean()),
        num_inliers=int(inliers.sum()),
        centroid=centroid,
        radius=radius,
        information=information,
    )


def information_of(points: np.ndarray, normals: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Centroid (3,), radius and information (6, 6) of `Evidence` for points (N, 3) with normals (N, 3)."""
    if len(points) == 0:
        return np.zeros(3), 1.0, np.zeros((6, 6))
    centroid = points.mean(axis=0)
    lever = points - centroid
    radius = max(float(np.sqrt(np.mean(np.sum(lever**2, axis=1)))), 1e-9)
    jacobian = np.hstack([normals, np.cross(lever / radius, normals)])
    return centroid, radius, jacobian.T @ jacobian / len(points)


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
