"""Several hypotheses of a network for one pair of objects: each is refined; the best by surface agreement is chosen."""

import numpy as np
import small_gicp

from prnet_core.evaluation.classical_methods import Refinement
from prnet_core.evaluation.learned_methods import NetworkMethod, unit_clouds
from prnet_core.evaluation.method import Centroid
from prnet_core.geometry import se3
from prnet_core.model import PRNet

COUNT = 8
NUM_NEIGHBOURS = 16  # of the normals
PLANE_DISTANCE, TANGENT_DISTANCE, MIN_COSINE = 0.02, 0.12, 0.7  # in the unit sphere
ROTATION_WEIGHT = 1.0
"""Of (angle / 180 degrees)^2, subtracted from the agreement. Chosen on 128 shapes held out of the training."""


class SeveralHypotheses:
    """PRNet's transform, the best hypotheses of its first pass and the aligned centroids, each refined by GICP.

    The result is the transform under which the surfaces agree best. Where they agree equally well, as for a symmetric
    object, the smaller rotation is preferred: the protocols rotate by at most 45 degrees about each axis.
    """

    def __init__(self, network: PRNet) -> None:
        if not isinstance(network, PRNet):
            raise ValueError(f"several hypotheses need a PRNet, not a {type(network).__name__}")
        self.method = NetworkMethod(network)

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        refinement, surfaces = Refinement(source, target), (_Surface(source), _Surface(target))
        own = self.method.register(source, target)
        transforms = own, *self._hypotheses(source, target), Centroid().register(source, target)
        refined = [refinement.refine(transform) for transform in transforms]
        scores = [
            surface_agreement(*surfaces, T) - ROTATION_WEIGHT * (se3.rotation_angle(T[:3, :3]) / np.pi) ** 2
            for T in refined
        ]
        return refined[int(np.argmax(scores))]

    def _hypotheses(self, source: np.ndarray, target: np.ndarray) -> list[np.ndarray]:
        clouds, normalisation = unit_clouds(source, target, self.method.device)
        hypotheses = self.method.network.hypotheses(*clouds, COUNT)[0].double().cpu().numpy()
        return [normalisation.to_metric(T) for T in hypotheses if np.isfinite(T).all()]


class _Surface:
    """A cloud with its normals and a search tree."""

    def __init__(self, points: np.ndarray) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        cloud = small_gicp.PointCloud(self.points)
        self.tree = small_gicp.KdTree(cloud)
        small_gicp.estimate_normals_covariances(cloud, self.tree, num_neighbors=NUM_NEIGHBOURS)
        self.normals = np.asarray(cloud.normals())[:, :3]


def surface_agreement(source: _Surface, target: _Surface, T_target_source: np.ndarray) -> float:
    """Geometric mean of both directions' means of s^2 / (s^2 + d^2), in [0, 1].

    d is a point's distance to the plane of the other cloud's nearest point. A point counts 0 where this nearest point
    is farther away along the plane than the spacing of the points, or has a different normal.
    """
    forward = _agreement(source, target, T_target_source)
    return float(np.sqrt(forward * _agreement(target, source, se3.invert(T_target_source))))


def _agreement(cloud: _Surface, other: _Surface, T_other_cloud: np.ndarray) -> float:
    moved = se3.apply(T_other_cloud, cloud.points)
    index, squared = map(np.asarray, other.tree.batch_nearest_neighbor_search(moved))
    normals = other.normals[index.astype(np.int64)]
    plane = np.sum((moved - other.points[index.astype(np.int64)]) * normals, axis=1) ** 2
    cosines = np.abs(np.sum((cloud.normals @ T_other_cloud[:3, :3].T) * normals, axis=1))
    on_surface = (squared - plane < TANGENT_DISTANCE**2) & (cosines > MIN_COSINE)
    return float(np.mean(on_surface * PLANE_DISTANCE**2 / (PLANE_DISTANCE**2 + plane)))
