"""ICP, FGR and the GICP refinement, for clouds of about a thousand points in the unit sphere."""

from functools import cached_property

import numpy as np
import small_gicp

from prnet_core.evaluation.method import Centroid
from prnet_core.geometry import se3

NUM_NEIGHBOURS = 20
EPSILON = 1e-5
ICP_DISTANCES = (0.5, 0.2, 0.1)
REFINE_DISTANCE = 0.2
REFINE_RESIDUALS = 3.0
REFINE_FLOOR = 0.01
NEAREST_SHARE = 0.8  # of the source points that the residual is measured on
SAME_POINTS = 0.45  # squared point spacings: below this residual both clouds hold the same points, and noise


class ICP:
    """Point-to-point ICP with a decreasing correspondence distance. Initial guess: aligned centroids."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        aligner = _Aligner(source, target, "ICP")
        T_target_source = Centroid().register(source, target)
        for distance in ICP_DISTANCES:
            T_target_source = aligner.align(T_target_source, distance)
        return T_target_source


class _Aligner:
    """A pair prepared for small_gicp ("ICP" or "GICP")."""

    def __init__(self, source: np.ndarray, target: np.ndarray, kind: str) -> None:
        self.kind = kind
        self.points = np.asarray(source, dtype=np.float64)
        self.source, _ = self._prepare(self.points)
        self.target, self.target_tree = self._prepare(np.asarray(target, dtype=np.float64))

    def _prepare(self, points: np.ndarray) -> tuple[small_gicp.PointCloud, small_gicp.KdTree]:
        cloud = small_gicp.PointCloud(points)
        tree = small_gicp.KdTree(cloud)
        if self.kind == "GICP":
            small_gicp.estimate_covariances(cloud, tree, num_neighbors=NUM_NEIGHBOURS)
        return cloud, tree

    def align(self, initial_guess: np.ndarray, max_distance: float) -> np.ndarray:
        """The initial guess itself if there are no correspondences within `max_distance`."""
        result = small_gicp.align(
            self.target,
            self.source,
            self.target_tree,
            init_T_target_source=initial_guess,
            registration_type=self.kind,
            max_correspondence_distance=max_distance,
            max_iterations=50,
            rotation_epsilon=EPSILON,
            translation_epsilon=EPSILON,
        )
        usable = result.num_inliers > 0 and np.isfinite(result.T_target_source).all()
        return np.array(result.T_target_source) if usable else initial_guess

    def median_residual(self, T_target_source: np.ndarray) -> float:
        return float(np.sqrt(np.median(self._squared_distances(T_target_source))))

    def residual_in_spacings(self, T_target_source: np.ndarray) -> float:
        """Mean squared distance of the nearest source points to the target, in squared spacings of the target."""
        squared = np.sort(self._squared_distances(T_target_source))
        return float(squared[: max(1, int(NEAREST_SHARE * len(squared)))].mean() / self._squared_spacing)

    def _squared_distances(self, T_target_source: np.ndarray) -> np.ndarray:
        return self.target_tree.batch_nearest_neighbor_search(se3.apply(T_target_source, self.points))[1]

    @cached_property
    def _squared_spacing(self) -> float:
        _, neighbours = self.target_tree.batch_knn_search(self.target.points()[:, :3], 2)
        return max(float(np.median(np.asarray(neighbours)[:, 1])), 1e-12)


class Refinement:
    """GICP of one pair, which is prepared once, from any number of initial guesses.

    If both clouds hold the same points, the residual converges to zero, or to their noise, and the refined transform is
    returned only where it lowers it: GICP fits planes, and the matches of a network fit the points. If the clouds are
    sampled independently, the residual stays at the point spacing and does not show which transform is better.
    """

    def __init__(self, source: np.ndarray, target: np.ndarray) -> None:
        self._aligner = _Aligner(source, target, "GICP")

    def refine(self, initial_guess: np.ndarray) -> np.ndarray:
        """The refined transform (4, 4): correspondences within 0.2, then twice within three median residuals."""
        aligner = self._aligner
        T_target_source = aligner.align(initial_guess, REFINE_DISTANCE)
        for _ in range(2):
            distance = REFINE_RESIDUALS * aligner.median_residual(T_target_source)
            T_target_source = aligner.align(T_target_source, max(distance, REFINE_FLOOR))
        before, after = aligner.residual_in_spacings(initial_guess), aligner.residual_in_spacings(T_target_source)
        return initial_guess if before < SAME_POINTS and before <= after else T_target_source


class FGR:
    """Fast Global Registration (Zhou, Park and Koltun, ECCV 2016) of Open3D, on FPFH features.

    Normals within a radius of 0.2, oriented towards the centre of the cloud; features within 0.4; correspondences
    within 0.05. These radii were the best of those tried on the protocol with noise.
    """

    def __init__(self) -> None:
        import open3d

        self.open3d = open3d

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        registration = self.open3d.pipelines.registration
        self.open3d.utility.random.seed(0)
        clouds = [self._cloud(points) for points in (source, target)]
        search = self.open3d.geometry.KDTreeSearchParamHybrid(radius=0.4, max_nn=100)
        features = [registration.compute_fpfh_feature(cloud, search) for cloud in clouds]
        option = registration.FastGlobalRegistrationOption(maximum_correspondence_distance=0.05)
        result = registration.registration_fgr_based_on_feature_matching(*clouds, *features, option)
        return np.array(result.transformation)

    def _cloud(self, points: np.ndarray):
        cloud = self.open3d.geometry.PointCloud(self.open3d.utility.Vector3dVector(points.astype(np.float64)))
        cloud.estimate_normals(self.open3d.geometry.KDTreeSearchParamHybrid(radius=0.2, max_nn=30))
        cloud.orient_normals_towards_camera_location(cloud.get_center())
        return cloud
