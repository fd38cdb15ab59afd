"""How well two clouds agree under a transform, in voxel units."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.rows import row_dots
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.free_space import FreeSpace, measure_free_space
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.sample import Sample, dense_reach

MIN_NORMAL_COSINE = np.cos(np.pi / 4)
SURFACE_NOISE = 0.05  # voxels: what is left of a surface's thickness without noise
AGREEING_DEVIATIONS = 2.5  # distance to a plane, in standard deviations of both surfaces
AGREEING_TANGENT = 1.5  # along the plane, in distances between the points of the sparser cloud there
MAX_SPACING = 3.0  # voxels: points farther apart show no surface between them
FEW_ACROSS = 0.006  # share of the sample below which the points across an axis show nothing
FEW_AGREEING = 0.0005
AGREEING_COSINE = 0.7  # of the angle between normals


@dataclass(frozen=True)
class SampleAgreement:
    """Which points of a cloud's sample (S,) agree with the other cloud, and which visible ones lie near it."""

    agrees: np.ndarray
    near: np.ndarray


@dataclass(frozen=True)
class AlignmentQuality:
    """How well the source lies on the target under a transform.

    inlier_ratio: source points within the inlier distance of a target point whose normal agrees.
    residual: rms point-to-plane distance of the inliers, voxels.
    overlap_source, overlap_target: points within the overlap distance of the other cloud.
    agreement: geometric mean of both clouds' shares of points that lie on a surface of the other within its noise.
    free_space: of the source's points against the target's rays, and of the target's against the source's; those known.
    centroid: (3,) of the inliers in the target's centred frame; radius: their rms distance from it.
    information: (6, 6) mean of J^T J', J = (n, (p - centroid) / radius x n), over the inliers: how much each
        direction (v, radius omega) about the centroid changes the distances to the planes, 0 to 1. J has the normals
        of the target, J' those of the source: the noise of the normals, which constrains nothing, cancels.
    samples: the same points of the source and of the target as `agreement`, one by one.
    """

    inlier_ratio: float
    residual: float
    overlap_source: float
    overlap_target: float
    agreement: float
    free_space: tuple[FreeSpace, ...]
    num_inliers: int
    centroid: np.ndarray
    radius: float
    information: np.ndarray
    samples: tuple[SampleAgreement, ...] = field(default=(), repr=False, compare=False)

    @property
    def overlap(self) -> float:
        """Geometric mean of both overlaps."""
        return float(np.sqrt(self.overlap_source * self.overlap_target))

    @property
    def violation(self) -> float | None:
        """The larger free-space violation of both directions, or None when no sensor origin is known."""
        return max((space.violation for space in self.free_space), default=None)

    @property
    def static_violation(self) -> float | None:
        """The larger violation of both directions without its largest cluster, as one moving object makes it."""
        return max((space.static_violation for space in self.free_space), default=None)

    @property
    def seen_agreement(self) -> float:
        """The smaller share of both directions of the visible points that lie on the other cloud's surface."""
        return min((space.seen_agreement for space in self.free_space), default=1.0)

    @property
    def surface_agreement(self) -> float:
        """The smaller share of both directions of the visible points near the other cloud that lie on its surface.

        Without sensor origins the share of the overlap that agrees. Misaligned clouds of like places are near each
        other, but their surfaces do not meet.
        """
        shares = [(space.agreeing + FEW_AGREEING) / (space.near + FEW_AGREEING) for space in self.free_space]
        return min(shares, default=min(1.0, self.agreement / max(self.overlap, FEW_AGREEING)))

    @property
    def across_agreement(self) -> float | None:
        """The smaller share of both directions of the visible points across the least constrained axis that agree.

        None without such points. A place that is slid along itself shows there: its few walls across do not meet.
        """
        shares = [
            (space.across_agreeing + FEW_AGREEING) / (space.across + FEW_AGREEING)
            for space in self.free_space
            if space.across > FEW_ACROSS
        ]
        return min(shares, default=None)

    @property
    def degeneracy(self) -> float:
        """Smallest eigenvalue of the information: 0 when one direction is not constrained."""
        return float(max(0.0, np.linalg.eigvalsh(self.information)[0]))


def nearest(tree: Any, points: np.ndarray, num_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (N,) and distances (N,) of the nearest neighbours in a small_gicp tree.

    As the search for one of k neighbours, which fills arrays: that for the nearest alone makes lists.
    """
    indices, squared = tree.batch_knn_search(points, 1, num_threads)
    return indices[:, 0].astype(np.int64), np.sqrt(squared[:, 0])


def measure_alignment(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, config: RegistrationConfig
) -> AlignmentQuality:
    """Measure a transform (4, 4) in voxel units."""
    inverse = se3.invert(transform)
    sample, target_sample = (cloud.sample.limited(config.verified_points) for cloud in (source, target))
    moved = se3.apply(transform, source.points)
    index, distance = nearest(target.level.tree, moved, config.num_threads)
    back_index, back_distance = nearest(source.level.tree, se3.apply(inverse, target_sample.points), config.num_threads)
    chosen = sample.index
    agrees = on_surface(sample, target, transform, index[chosen], distance[chosen])
    agrees_back = on_surface(target_sample, source, inverse, back_index, back_distance)

    normals, own_normals = target.normals[index], source.normals @ transform[:3, :3].T
    cosines = row_dots(own_normals, normals)
    inliers = (distance < config.inlier_distance_voxels) & (np.abs(cosines) > MIN_NORMAL_COSINE)
    plane_distance = row_dots(moved - target.points[index], normals)[inliers]
    own_normals = own_normals[inliers] * np.sign(cosines[inliers])[:, None]
    centroid, radius, information = information_of(moved[inliers], normals[inliers], own_normals)
    axis = least_constrained_axis(information)
    seen, near = measure_free_space(sample, target, transform, distance[chosen], agrees, axis)
    back_axis = inverse[:3, :3] @ axis
    seen_back, near_back = measure_free_space(target_sample, source, inverse, back_distance, agrees_back, back_axis)
    return AlignmentQuality(
        inlier_ratio=float(inliers.mean()),
        residual=float(np.sqrt(np.mean(plane_distance**2))) if inliers.any() else float("inf"),
        overlap_source=float((distance < config.overlap_distance_voxels).mean()),
        overlap_target=float((back_distance < config.overlap_distance_voxels).mean()),
        agreement=float(np.sqrt(agrees.mean() * agrees_back.mean())),
        free_space=tuple(space for space in (seen, seen_back) if space is not None),
        num_inliers=int(inliers.sum()),
        centroid=centroid,
        radius=radius,
        information=information,
        samples=(SampleAgreement(agrees, near), SampleAgreement(agrees_back, near_back)),
    )


def on_surface(
    sample: Sample,
    other: PreparedCloud,
    T_other_cloud: np.ndarray,
    index: np.ndarray,
    distance: np.ndarray,
) -> np.ndarray:
    """Which points of a sample lie on the surface of their nearest point (index, distance) in the other cloud."""
    normals = other.normals[index]
    moved = se3.apply(T_other_cloud, sample.points)
    plane = np.abs(row_dots(moved - other.points[index], normals))
    tangent = np.sqrt(np.maximum(distance**2 - plane**2, 0.0))
    cosines = np.abs(row_dots(sample.normals @ T_other_cloud[:3, :3].T, normals))
    limit = AGREEING_DEVIATIONS * np.sqrt(2.0 * sample.thickness**2 + SURFACE_NOISE**2)
    own_spacing = sample.reach / dense_reach(sample.num_neighbors)
    spacing = np.clip(np.maximum(own_spacing, other.sample.spacing), 1.0, MAX_SPACING)
    return (plane < limit) & (tangent < AGREEING_TANGENT * spacing) & (cosines > AGREEING_COSINE)


def information_of(
    points: np.ndarray, normals: np.ndarray, own_normals: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Centroid (3,), radius and information (6, 6) of `AlignmentQuality`.

    Points (N, 3) with the normals (N, 3) of both clouds there, of like sign.
    """
    if len(points) == 0:
        return np.zeros(3), 1.0, np.zeros((6, 6))
    columns = np.ascontiguousarray(points.T)
    centroid = columns.mean(axis=1)
    lever = columns - centroid[:, None]
    radius = max(float(np.sqrt(np.vdot(lever, lever) / len(points))), 1e-9)
    lever /= radius
    first, second = (plane_jacobian(lever, np.ascontiguousarray(n.T)) for n in (normals, own_normals))
    information = first @ second.T / len(points)
    return centroid, radius, 0.5 * (information + information.T)


def plane_jacobian(levers: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """(6, N) of the distances to planes for a twist: normals and levers x normals, of levers and normals (3, N)."""
    (x, y, z), (u, v, w) = levers, normals
    return np.array([u, v, w, y * w - z * v, z * u - x * w, x * v - y * u])


def least_constrained_axis(information: np.ndarray) -> np.ndarray:
    """The direction of translation (3,) that an information matrix (6, 6) constrains least."""
    return np.linalg.eigh(information[:3, :3])[1][:, 0]


def share_meeting(
    source: PreparedCloud,
    target: PreparedCloud,
    transform: np.ndarray,
    max_distance: float,
    config: RegistrationConfig,
) -> float:
    """Share of source points that a transform brings within a distance (voxels) of target points with like normals."""
    some, index, distance = _nearest_of_some(source, target, transform, 500, config)
    normals = source.normals[some] @ transform[:3, :3].T
    cosines = np.abs(row_dots(normals, target.normals[index]))
    return float(((distance < max_distance) & (cosines > MIN_NORMAL_COSINE)).mean())


def share_close(
    source: PreparedCloud,
    target: PreparedCloud,
    transform: np.ndarray,
    max_distance: float,
    config: RegistrationConfig,
) -> float:
    """Share of about a thousand source points that a transform brings within a distance (voxels) of the target."""
    _, _, distance = _nearest_of_some(source, target, transform, 1000, config)
    return float((distance < max_distance).mean())


def _nearest_of_some(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, count: int, config: RegistrationConfig
) -> tuple[slice, np.ndarray, np.ndarray]:
    """About `count` source points: which, and the index and distance of each one's nearest target point."""
    some = slice(None, None, max(1, len(source) // count))
    return some, *nearest(target.level.tree, se3.apply(transform, source.points[some]), config.num_threads)
