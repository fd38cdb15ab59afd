"""Hypotheses from matched local features: no guess and no network needed, any rotation."""

import numpy as np
import small_gicp

from prnet_core.geometry.consistent_transforms import consistent_transforms
from prnet_core.geometry.normals import orient_away
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.features import fpfh, mutual_matches
from prnet_core.registration.preprocess import PreparedCloud

VOXEL_STEP = 1.1  # features are computed with powers of it, so that a cloud's serve for several pairs


def feature_transforms(source: PreparedCloud, target: PreparedCloud, config: RegistrationConfig) -> list[np.ndarray]:
    """Transforms (4, 4) in the pair's voxel units that the most FPFH matches agree on, best first."""
    voxel = max(cloud.feature_voxel for cloud in (source, target))
    voxel = float(VOXEL_STEP ** np.ceil(np.log(voxel) / np.log(VOXEL_STEP)))
    use_origins = source.origins is not None and target.origins is not None
    (points, features), (target_points, target_features) = (
        features_of(cloud, voxel, config, use_origins) for cloud in (source, target)
    )
    i, j = mutual_matches(features, target_features)
    return consistent_transforms(points[i], target_points[j], 1.5 * voxel, config.feature_hypotheses)


def features_of(
    cloud: PreparedCloud, voxel: float, config: RegistrationConfig, use_origins: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Points (K, 3) of a cloud filtered with a voxel, and their FPFH (K, 33); kept in the cloud.

    use_origins: orient the normals by the sensor positions (`PreparedCloud.seen_from`).
    """
    key = voxel, use_origins
    if key not in cloud.features:
        filtered, _ = small_gicp.preprocess_points(
            cloud.points,
            downsampling_resolution=voxel,
            num_neighbors=config.num_neighbors,
            num_threads=config.num_threads,
        )
        positions = filtered.points()[:, :3]
        normals = orient_away(positions, filtered.normals()[:, :3], cloud.seen_from(use_origins))
        radius = config.feature_radius * voxel
        cloud.features[key] = positions, fpfh(positions, normals, radius, config.feature_neighbors)
    return cloud.features[key]
