"""Refinement of one hypothesis by GICP, in voxel units."""

import numpy as np
import small_gicp

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import Level

ROTATION_EPSILON = 1e-4  # rad, and
TRANSLATION_EPSILON = 1e-3  # voxels for correspondences of one voxel; in proportion for larger ones


def align(
    source: Level,
    target: Level,
    hypothesis: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
) -> np.ndarray:
    """GICP from one hypothesis (4, 4); the hypothesis itself without correspondences.

    The convergence flag of small_gicp does not show success (it is true without correspondences too): the
    verification does.
    """
    result = small_gicp.align(
        target.cloud,
        source.cloud,
        target.tree,
        init_T_target_source=hypothesis,
        registration_type="GICP",
        max_correspondence_distance=max_distance,
        num_threads=config.num_threads,
        max_iterations=max_iterations,
        rotation_epsilon=ROTATION_EPSILON * max(1.0, max_distance),
        translation_epsilon=TRANSLATION_EPSILON * max(1.0, max_distance),
    )
    transform = np.array(result.T_target_source)
    return transform if result.num_inliers > 0 and np.isfinite(transform).all() else hypothesis
