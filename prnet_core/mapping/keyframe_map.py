"""A map of keyframes: scans with poses, and the relative poses measured between them."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.geometry.voxels import voxel_centroids


class MapError(ValueError):
    """A map that cannot be made, read, written or merged; the text says which and why."""


@dataclass(frozen=True)
class MapKeyframe:
    """A scan of the map: points (N, 3) float32, metres, in the sensor's frame, with the sensor at the origin.

    stamp: seconds. Poses belong to the map, since optimisation changes them.
    """

    points: np.ndarray
    stamp: float

    @property
    def median_range(self) -> float:
        """Median distance of the points from the sensor, metres."""
        return float(np.median(np.linalg.norm(self.points, axis=1)))


@dataclass(frozen=True)
class PoseConstraint:
    """A measured relative pose: T_first_second (4, 4) takes points of keyframe `second` into the frame of `first`.

    covariance: (6, 6), x y z rx ry rz, of a small transform applied in the frame of `first`. is_closure: measured by
    registration between keyframes that odometry did not connect.
    """

    first: int
    second: int
    T_first_second: np.ndarray
    covariance: np.ndarray
    is_closure: bool = False


def join_scans(scans: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scans (transform (4, 4), points (N_i, 3)) in one frame: points (N, 3), origins of the sensors (K, 3), and the row
    of the origins of each point (N,)."""
    points = [se3.apply(transform, cloud) for transform, cloud in scans]
    view_index = np.repeat(np.arange(len(points)), [len(cloud) for cloud in points])
    return np.vstack(points), np.array([transform[:3, 3] for transform, _ in scans]), view_index


def chained(first: PoseConstraint, second: PoseConstraint) -> PoseConstraint:
    """The composition of two constraints, where first.second is second.first; a closure if one of them is one."""
    return PoseConstraint(
        first.first,
        second.second,
        first.T_first_second @ second.T_first_second,
        first.covariance + se3.moved_covariance(first.T_first_second, second.covariance),
        first.is_closure or second.is_closure,
    )


def reversed_constraint(constraint: PoseConstraint) -> PoseConstraint:
    """The same measurement, from the second keyframe to the first."""
    inverse = se3.invert(constraint.T_first_second)
    covariance = se3.moved_covariance(inverse, constraint.covariance)
    return PoseConstraint(constraint.second, constraint.first, inverse, covariance, constraint.is_closure)


@dataclass
class KeyframeMap:
    """Keyframes, their poses T_map_sensor (4, 4), and the constraints between them."""

    keyframes: list[MapKeyframe] = field(default_factory=list)
    poses: list[np.ndarray] = field(default_factory=list)
    constraints: list[PoseConstraint] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.keyframes)

    @property
    def positions(self) -> np.ndarray:
        """(K, 3) of the sensor in the map's frame."""
        return np.array([pose[:3, 3] for pose in self.poses]).reshape(-1, 3)

    @property
    def num_bytes(self) -> int:
        """Memory of the points."""
        return sum(keyframe.points.nbytes for keyframe in self.keyframes)

    @property
    def closures(self) -> list[PoseConstraint]:
        """The constraints that close loops."""
        return [constraint for constraint in self.constraints if constraint.is_closure]

    def add(self, keyframe: MapKeyframe, T_map_sensor: np.ndarray) -> int:
        """Append a keyframe with its pose (4, 4); returns its index."""
        self.keyframes.append(keyframe)
        self.poses.append(np.asarray(T_map_sensor, dtype=np.float64))
        return len(self.keyframes) - 1

    def remove(self, index: int) -> None:
        """Drop a keyframe other than the first and the last; the ones before and after it are constrained instead.

        Its closures are moved to the keyframe before it. Those in which it is the second one are moved only if that
        keyframe has no closure, so that their number stays bounded.
        """
        before = next(c for c in self.constraints if (c.first, c.second) == (index - 1, index) and not c.is_closure)
        has_closure = any(c.second == index - 1 for c in self.closures)
        kept = []
        for constraint in self.constraints:
            if constraint is before or (constraint.second == index and has_closure):
                continue
            if constraint.first == index:
                constraint = chained(before, constraint)
            elif constraint.second == index:
                constraint = chained(constraint, reversed_constraint(before))
            if constraint.first != constraint.second:
                kept.append(constraint)
        self.constraints = [
            replace(c, first=c.first - (c.first > index), second=c.second - (c.second > index)) for c in kept
        ]
        del self.keyframes[index], self.poses[index]

    def most_redundant(self, first: int, end: int) -> int:
        """The keyframe from `first` to before `end` whose two nearest keyframes are nearest to it."""
        distance, _ = cKDTree(self.positions).query(self.positions[first:end], k=3)  # itself first
        return first + int(np.argmin(distance.sum(axis=1)))

    def neighbours(self, index: int, count: int) -> list[int]:
        """`count` keyframes with the nearest positions, that of `index` first."""
        distance = np.linalg.norm(self.positions - self.poses[index][:3, 3], axis=1)
        distance[index] = -1.0
        return [int(i) for i in np.argsort(distance, kind="stable")[:count]]

    def submap(self, index: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`count` neighbouring keyframes joined in the frame of keyframe `index`.

        Returns points (N, 3), the origins of their sensors (C, 3), and the row of the origins of each point (N,).
        """
        chosen = self.neighbours(index, count)
        T_index_map = se3.invert(self.poses[index])
        return join_scans([(T_index_map @ self.poses[i], self.keyframes[i].points) for i in chosen])

    def fused_points(self, voxel_size: float) -> np.ndarray:
        """All points in the map's frame (N, 3), one centroid per voxel."""
        if not self.keyframes:
            return np.zeros((0, 3))
        clouds = []
        for start in range(0, len(self), 50):  # bounds the memory
            chunk = zip(self.poses[start : start + 50], self.keyframes[start : start + 50], strict=True)
            clouds.append(voxel_centroids(np.vstack([se3.apply(T, frame.points) for T, frame in chunk]), voxel_size))
        return voxel_centroids(np.vstack(clouds), voxel_size)
