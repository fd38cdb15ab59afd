"""The local map: the last keyframes joined and voxel filtered, as the target that a scan is registered to."""

from __future__ import annotations

from collections import deque

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

NUM_VIEWS = 2  # newest keyframes whose rays verify free space
MAX_POINTS = 60_000  # before the voxel filter: bounds the cost of a change
NO_VIEW = -1


class LocalMap:
    """The last `num_keyframes` keyframes in the map's frame, prepared with one voxel size."""

    def __init__(self, config: RegistrationConfig, num_keyframes: int):
        self._config = config
        self._frames: deque[Keyframe] = deque(maxlen=num_keyframes)
        self._filtered: deque[np.ndarray] = deque(maxlen=num_keyframes)
        self._voxel_size = 0.0
        self._target: PreparedCloud | None = None

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest(self) -> Keyframe:
        return self._frames[-1]

    def add(self, frame: Keyframe) -> None:
        """Join a keyframe; the oldest one leaves when there are too many."""
        self._frames.append(frame)
        if self._voxel_size > 0.0:
            self._filtered.append(self._filter(frame))
        self._target = None

    def restart(self, frames: list[Keyframe]) -> None:
        """Join these keyframes only; the first of them counts as the newest."""
        self._frames.clear()
        self._filtered.clear()
        for frame in reversed(frames):
            self.add(frame)

    def target(self, voxel_size: float, position: np.ndarray, reach: float) -> PreparedCloud:
        """The map, prepared; built when first needed after a change, from points within `reach` of `position` (3,)."""
        if voxel_size != self._voxel_size:
            self._voxel_size = voxel_size
            self._filtered = deque((self._filter(frame) for frame in self._frames), self._filtered.maxlen)
            self._target = None
        if self._target is None:
            self._target = self._build(position, reach)
        return self._target

    def _filter(self, frame: Keyframe) -> np.ndarray:
        """A keyframe's points (N, 3) in the map's frame, one a voxel."""
        if len(frame.points) == 0:
            return np.zeros((0, 3))
        points = frame.points.astype(np.float64)
        points = small_gicp.voxelgrid_sampling(points, self._voxel_size).points()[:, :3]
        return se3.apply(frame.T_map_sensor, points)

    def _build(self, position: np.ndarray, reach: float) -> PreparedCloud:
        count = len(self._frames)
        view = np.arange(count) - max(0, count - NUM_VIEWS)
        index = np.repeat(np.maximum(view, NO_VIEW), [len(points) for points in self._filtered])
        points = np.vstack(self._filtered)
        near = np.linalg.norm(points - position, axis=1) < reach
        points, index = points[near], index[near]
        if len(points) > MAX_POINTS:
            chosen = np.random.default_rng(0).choice(len(points), MAX_POINTS, replace=False)
            points, index = points[chosen], index[chosen]
        origins = np.array([frame.T_map_sensor[:3, 3] for frame in list(self._frames)[-NUM_VIEWS:]])
        return prepare_cloud(points, self._voxel_size, self._config, origins, index)
