"""Refinement of one hypothesis, in voxel units."""

import numpy as np
import small_gicp

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import Level

ROTATION_EPSILON = 1e-4  # rad, and
TRANSLATION_EPSILON = 1e-3  # voxels for correspondences of one voxel; in proportion for larger ones
RELATIVE_EPSILON = 1e-6  # of the fitness and of the residual: Open3D has no other criterion


def align(
    source: Level,
    target: Level,
    hypothesis: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
) -> np.ndarray:
    """ICP of the configuration's kind from one hypothesis (4, 4); the hypothesis itself without correspondences.

    The libraries' own tests of convergence do not show success (small_gicp's is true with no correspondences too): the
    verification does.
    """
    solve = _open3d if config.refinement.startswith("open3d_") else _small_gicp
    transform, has_matches = solve(source, target, hypothesis, max_distance, max_iterations, config)
    return transform if has_matches and np.isfinite(transform).all() else hypothesis


def _small_gicp(
    source: Level,
    target: Level,
    hypothesis: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
) -> tuple[np.ndarray, bool]:
    result = small_gicp.align(
        target.cloud,
        source.cloud,
        target.tree,
        init_T_target_source=hypothesis,
        registration_type="GICP" if config.refinement == "gicp" else "PLANE_ICP",
        max_correspondence_distance=max_distance,
        num_threads=config.num_threads,
        max_iterations=max_iterations,
        rotation_epsilon=ROTATION_EPSILON * max(1.0, max_distance),
        translation_epsilon=TRANSLATION_EPSILON * max(1.0, max_distance),
    )
    return np.array(result.T_target_source), result.num_inliers > 0


def _open3d(
    source: Level,
    target: Level,
    hypothesis: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
) -> tuple[np.ndarray, bool]:
    from open3d.pipelines import registration

    clouds = source.open3d_cloud, target.open3d_cloud
    criteria = registration.ICPConvergenceCriteria(RELATIVE_EPSILON, RELATIVE_EPSILON, max_iterations)
    if config.refinement == "open3d_gicp":
        estimation = registration.TransformationEstimationForGeneralizedICP()
        result = registration.registration_generalized_icp(*clouds, max_distance, hypothesis, estimation, criteria)
    else:
        estimation = registration.TransformationEstimationPointToPlane()
        result = registration.registration_icp(*clouds, max_distance, hypothesis, estimation, criteria)
    return np.array(result.transformation), result.fitness > 0.0
