"""Coarse-to-fine refinement of one start by small_gicp, in voxel units."""

import numpy as np
import small_gicp

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import Level, PreparedCloud


def coarse_level(prepared: PreparedCloud, config: RegistrationConfig) -> Level:
    """The cloud filtered again with the coarse voxel."""
    return Level(
        *small_gicp.preprocess_points(
            prepared.points,
            downsampling_resolution=config.coarse_factor,
            num_neighbors=config.num_neighbors,
            num_threads=config.num_threads,
        )
    )


def align(
    source: Level,
    target: Level,
    start: np.ndarray,
    max_distance: float,
    max_iterations: int,
    config: RegistrationConfig,
) -> np.ndarray:
    """GICP from one start (4, 4); the start itself when there is no correspondence to follow.

    small_gicp's `converged` is no test of success (it is true with no correspondences too): the evidence is.
    """
    result = small_gicp.align(
        target.cloud,
        source.cloud,
        target.tree,
        init_T_target_source=start,
        registration_type="GICP",
        max_correspondence_distance=max_distance,
        num_threads=config.num_threads,
        max_iterations=max_iterations,
        rotation_epsilon=1e-4,
        translation_epsilon=1e-3,
    )
    transform = np.array(result.T_target_source)
    return transform if result.num_inliers > 0 and np.isfinite(transform).all() else start
