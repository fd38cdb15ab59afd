"""The peers of the registration benchmarks: an initial guess by the method of each, refined by the same GICP."""

from collections.abc import Callable

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud, choose_voxel_size, clean_points, prepare_cloud
from prnet_core.registration.refine import align
from prnet_core.registration.registration import from_voxels, to_voxels

CONFIG = RegistrationConfig()
FEATURE_POINTS = 1500
MAX_ITERATIONS = 30
KISS_MATCHER_VOXEL = 0.3


def prepare_pair(source: np.ndarray, target: np.ndarray) -> tuple[PreparedCloud, PreparedCloud]:
    """Both clouds as our own registration prepares them."""
    clouds = [clean_points(points, CONFIG) for points in (source, target)]
    voxel_size = max(choose_voxel_size(points, CONFIG.target_points) for points in clouds)
    return prepare_cloud(clouds[0], voxel_size, CONFIG), prepare_cloud(clouds[1], voxel_size, CONFIG)


def feature_voxel(source: np.ndarray, target: np.ndarray) -> float:
    """Voxel of the feature matchers: about 1500 points are left, as for our own features."""
    return max(choose_voxel_size(clean_points(points, CONFIG), FEATURE_POINTS) for points in (source, target))


def refine(source: PreparedCloud, target: PreparedCloud, initial_guess: np.ndarray) -> np.ndarray:
    """GICP coarse to fine, our own stages, from an initial guess (4, 4) in the clouds' frames."""
    transform = to_voxels(initial_guess, source, target)
    levels = source.coarse_level, target.coarse_level
    transform = align(*levels, transform, CONFIG.coarse_distance_voxels, CONFIG.coarse_iterations, CONFIG)
    for distance in (CONFIG.fine_distance_voxels, CONFIG.final_distance_voxels):
        transform = align(source.level, target.level, transform, distance, MAX_ITERATIONS, CONFIG)
    return from_voxels(transform, source, target)


def gicp_from_identity(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """GICP of small_gicp from the clouds' frames as they are."""
    return refine(*prepare_pair(source, target), np.eye(4))


def gicp_from_centroid(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """GICP of small_gicp from the aligned centroids."""
    prepared = prepare_pair(source, target)
    return refine(*prepared, se3.make_transform(np.eye(3), prepared[1].centre - prepared[0].centre))


def fgr_then_gicp(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Fast Global Registration with FPFH (Open3D), then GICP."""
    import open3d as o3d

    o3d.utility.random.seed(0)
    voxel = feature_voxel(source, target)
    clouds, features = _open3d_features(source, target, voxel)
    option = o3d.pipelines.registration.FastGlobalRegistrationOption(maximum_correspondence_distance=voxel)
    answer = o3d.pipelines.registration.registration_fgr_based_on_feature_matching(*clouds, *features, option)
    return refine(*prepare_pair(source, target), np.array(answer.transformation))


def ransac_then_gicp(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """RANSAC on mutual FPFH matches (Open3D), then GICP."""
    import open3d as o3d

    registration = o3d.pipelines.registration
    o3d.utility.random.seed(0)
    voxel = feature_voxel(source, target)
    clouds, features = _open3d_features(source, target, voxel)
    answer = registration.registration_ransac_based_on_feature_matching(
        *clouds,
        *features,
        True,
        1.5 * voxel,
        registration.TransformationEstimationPointToPoint(False),
        3,
        [
            registration.CorrespondenceCheckerBasedOnEdgeLength(0.9),
            registration.CorrespondenceCheckerBasedOnDistance(1.5 * voxel),
        ],
        registration.RANSACConvergenceCriteria(100_000, 0.999),
    )
    return refine(*prepare_pair(source, target), np.array(answer.transformation))


def kiss_matcher_then_gicp(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """KISS-Matcher, then GICP. It refuses voxels of millimetres: clouds are brought to its default voxel first."""
    import kiss_matcher

    scale = KISS_MATCHER_VOXEL / feature_voxel(source, target)
    matcher = kiss_matcher.KISSMatcher(KISS_MATCHER_VOXEL)
    solution = matcher.estimate((scale * source).astype(np.float32), (scale * target).astype(np.float32))
    initial_guess = se3.make_transform(
        se3.nearest_rotation(np.array(solution.rotation)), np.array(solution.translation).ravel() / scale
    )
    return refine(*prepare_pair(source, target), initial_guess)


def _open3d_features(source: np.ndarray, target: np.ndarray, voxel: float) -> tuple[list, list]:
    import open3d as o3d

    clouds, features = [], []
    for points in (source, target):
        cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points)).voxel_down_sample(voxel)
        cloud.estimate_normals(o3d.geometry.KDTreeSearchParamHybrid(radius=2 * voxel, max_nn=30))
        cloud.orient_normals_towards_camera_location(cloud.get_center())  # FPFH needs one sign in both clouds
        search = o3d.geometry.KDTreeSearchParamHybrid(radius=5 * voxel, max_nn=100)
        clouds.append(cloud)
        features.append(o3d.pipelines.registration.compute_fpfh_feature(cloud, search))
    return clouds, features


PEERS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "GICP from identity": gicp_from_identity,
    "GICP from centroid": gicp_from_centroid,
    "FGR + GICP": fgr_then_gicp,
    "RANSAC + GICP": ransac_then_gicp,
    "KISS-Matcher + GICP": kiss_matcher_then_gicp,
}
