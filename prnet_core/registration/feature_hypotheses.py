"""Hypotheses from matched local features: no guess and no network needed, any rotation."""

import numpy as np
import small_gicp

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.features import fpfh, mutual_matches, orient_outwards
from prnet_core.registration.preprocess import PreparedCloud, choose_voxel_size


def feature_transforms(
    source: PreparedCloud, target: PreparedCloud, config: RegistrationConfig
) -> list[np.ndarray]:
    """Transforms (4, 4) in the pair's voxel units that the most FPFH matches agree on, best first."""
    from prnet_core.geometry.spatial_consistency import consistent_transforms  # imports torch

    voxel = max(choose_voxel_size(cloud.points, config.feature_points) for cloud in (source, target))
    points, features = [], []
    for prepared in (source, target):
        cloud, _ = small_gicp.preprocess_points(
            prepared.points,
            downsampling_resolution=voxel,
            num_neighbors=config.num_neighbors,
            num_threads=config.num_threads,
        )
        positions, normals = cloud.points()[:, :3], cloud.normals()[:, :3]
        normals = orient_outwards(positions, normals)
        features.append(fpfh(positions, normals, config.feature_radius * voxel, config.feature_neighbors))
        points.append(positions)
    i, j = mutual_matches(*features)
    return consistent_transforms(points[0][i], points[1][j], 1.5 * voxel, config.feature_hypotheses)
