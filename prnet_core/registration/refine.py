"""Refinement of one hypothesis by GICP, in voxel units."""

import time

import numpy as np
import small_gicp

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import Level

ROTATION_EPSILON = 1e-4  # rad, and
TRANSLATION_EPSILON = 1e-3  # voxels for correspondences of one voxel; in proportion for larger ones
ITERATIONS_BETWEEN_LOOKS = 5  # at the clock


def align(
    source: Level,
    target: Level,
    hypothesis: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
    deadline: float = float("inf"),
) -> np.ndarray:
    """GICP from one hypothesis (4, 4); the hypothesis itself without correspondences.

    deadline: of `time.perf_counter()`, after which it ends within a few iterations: those of points far from the target
    are slow. The convergence flag of small_gicp does not show success (it is true without correspondences too): the
    verification does.
    """
    step = max_iterations if deadline == float("inf") else ITERATIONS_BETWEEN_LOOKS
    transform = hypothesis
    for first in range(0, max_iterations, step):
        result = small_gicp.align(
            target.cloud,
            source.cloud,
            target.tree,
            init_T_target_source=transform,
            registration_type="GICP",
            max_correspondence_distance=max_distance,
            num_threads=config.num_threads,
            max_iterations=min(step, max_iterations - first),
            rotation_epsilon=ROTATION_EPSILON * max(1.0, max_distance),
            translation_epsilon=TRANSLATION_EPSILON * max(1.0, max_distance),
        )
        found = np.array(result.T_target_source)
        if result.num_inliers == 0 or not np.isfinite(found).all():
            return transform
        transform = found
        if result.converged or time.perf_counter() > deadline:
            break
    return transform
