"""A map from a trajectory: keyframes, loop closures between them, and a pose graph."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.subsets import at_most
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.keyframe_map import KeyframeMap, MapKeyframe, PoseConstraint
from prnet_core.mapping.pose_graph import optimise, require_gtsam
from prnet_core.registration import ACCEPTED, Registration
from prnet_core.registration.prepared_clouds import PreparedClouds
from prnet_core.registration.preprocess import PreparedCloud, clean_points, precise_points

PREPARED_KEYFRAMES = 50
SMALLEST_SIGMA = np.array([1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4])  # metres, radians


class MapBuilder:
    """Turns scans with odometry poses into a map whose loops are closed.

    The map's frame is that of the odometry. `odometry_poses` (4, 4) are those of the keyframes by odometry alone,
    T_map_odom is the correction of the newest one, num_dropped counts keyframes dropped at the limit, voxel_size is the
    registration's, metres. Raises MapError without GTSAM, before the first scan.
    """

    def __init__(self, registration: Registration, config: MappingConfig | None = None) -> None:
        require_gtsam()
        self.map = KeyframeMap()
        self.registration = registration
        self.config = config or MappingConfig()
        self.T_map_odom = np.eye(4)
        self.num_rejected_closures = 0
        self.num_dropped = 0
        self.odometry_poses: list[np.ndarray] = []
        self.voxel_size = 0.0
        self._prepared = PreparedClouds(PREPARED_KEYFRAMES)
        self._last_closure = -1

    def add_scan(self, points: np.ndarray, T_odom_sensor: np.ndarray, stamp: float, covariance: np.ndarray) -> bool:
        """Add a scan (N, 3), metres, in the sensor's frame, with its odometry pose (4, 4); True when it is kept.

        A keyframe has the points that its sensor measures precisely: `precise_points`.
        covariance: (6, 6) of the pose relative to the previous keyframe, x y z rx ry rz, in that keyframe's frame.
        """
        points = clean_points(points, self.registration.config)
        if len(points) < self.registration.config.min_points or not self._is_new(points, T_odom_sensor):
            return False
        points = precise_points(points, self.registration.config, np.zeros(3))
        points = at_most(points, self.config.keyframe_points, np.random.default_rng(len(self.map)))
        index = self.map.add(MapKeyframe(points.astype(np.float32), stamp), self.T_map_odom @ T_odom_sensor)
        self.odometry_poses.append(np.asarray(T_odom_sensor, dtype=np.float64))
        if index == 0:
            self.voxel_size = self.registration.voxel_size_for(points)
            return True
        relative = se3.invert(self.odometry_poses[-2]) @ T_odom_sensor
        self.map.constraints.append(PoseConstraint(index - 1, index, relative, floored(covariance)))
        self._close_loops(index)
        if len(self.map) > self.config.max_keyframes:
            self._drop_one()
        return True

    def state(self) -> dict[str, np.ndarray]:
        """The values that a builder needs to continue, besides the map itself; see `restore`."""
        return {
            "odometry_poses": np.array(self.odometry_poses).reshape(-1, 4, 4),
            "T_map_odom": self.T_map_odom,
            "numbers_of_builder": np.array([self.num_rejected_closures, self.num_dropped, self._last_closure]),
            "voxel_size": np.array(self.voxel_size),
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Continue from the `state` of another builder."""
        self.odometry_poses = list(state["odometry_poses"])
        self.T_map_odom = state["T_map_odom"]
        self.num_rejected_closures, self.num_dropped, self._last_closure = map(int, state["numbers_of_builder"])
        self.voxel_size = float(state["voxel_size"])

    def _drop_one(self) -> None:
        """Drop the keyframe that is nearest to its neighbours; the first and the newest ones stay."""
        dropped = self.map.most_redundant(1, max(2, len(self.map) - self.config.closure_gap))
        self.map.remove(dropped)
        del self.odometry_poses[dropped]
        self._last_closure -= self._last_closure >= dropped
        self.num_dropped += 1

    def _is_new(self, points: np.ndarray, T_odom_sensor: np.ndarray) -> bool:
        if not self.odometry_poses:
            return True
        distance, angle = se3.difference(self.odometry_poses[-1], T_odom_sensor)
        reach = float(np.median(np.linalg.norm(points, axis=1)))
        return distance > self.config.keyframe_distance * reach or angle > self.config.keyframe_angle

    def _close_loops(self, index: int) -> None:
        """Register the new keyframe to older ones near it; optimise all poses when one is accepted."""
        closed = False
        for other in self._candidates(index)[: self.config.closures_per_keyframe]:
            guess = se3.invert(self.map.poses[other]) @ self.map.poses[index]
            result = self.registration.register_prepared(self._prepare(index), self._prepare(other), guess)
            if result.status != ACCEPTED:
                self.num_rejected_closures += 1
                continue
            self.map.constraints.append(
                PoseConstraint(other, index, result.T_target_source, floored(result.covariance), is_closure=True)
            )
            closed = True
        if closed:
            self.map.poses = optimise(self.map)
            self.T_map_odom = self.map.poses[index] @ se3.invert(self.odometry_poses[index])
            self._last_closure = index

    def _candidates(self, index: int) -> list[int]:
        """Older keyframes near the estimated position, the nearest first."""
        count = index - self.config.closure_gap
        if count <= 0:
            return []
        radius = self.config.closure_radius * self.map.keyframes[index].median_range
        distance = np.linalg.norm(self.map.positions[:count] - self.map.poses[index][:3, 3], axis=1)
        near = np.flatnonzero(distance < radius + self._drift(index))
        return [int(i) for i in near[np.argsort(distance[near], kind="stable")]]

    def _drift(self, index: int) -> float:
        """Distance, metres, that the estimate may be off since the last closure: 2 % of the path."""
        path = np.diff(self.map.positions[max(0, self._last_closure) : index + 1], axis=0)
        return 0.02 * float(np.linalg.norm(path, axis=1).sum())

    def _prepare(self, index: int) -> PreparedCloud:
        frame, size = self.map.keyframes[index], self.voxel_size
        return self._prepared.get(frame, size, lambda: self.registration.prepare(frame.points, size, np.zeros(3)))


def floored(covariance: np.ndarray) -> np.ndarray:
    """A covariance (6, 6) of at least a millimetre and 0.006 degrees (sigma): registrations share their errors."""
    return np.asarray(covariance, dtype=np.float64) + np.diag(SMALLEST_SIGMA**2)
