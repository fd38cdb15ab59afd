"""The local map: the last keyframes joined and voxel filtered, as the target that a scan is registered to."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

NUM_VIEWS = 2  # newest keyframes whose rays verify free space
MAX_POINTS = 60_000  # before the voxel filter: bounds the cost of a change
NO_VIEW = -1
NORMAL_NEIGHBORS = 10
MAX_CHANGE = 0.03  # share of the points that come into view or leave it before the target is built again
BACK_FACING = -0.15  # cosine between a normal and the ray to the sensor below which a surface shows its other side


class Surface(NamedTuple):
    """A keyframe's points (N, 3) in the map's frame, and their normals (N, 3) towards its sensor."""

    points: np.ndarray
    normals: np.ndarray


class LocalMap:
    """The last `num_keyframes` keyframes in the map's frame, prepared with one voxel size."""

    def __init__(self, config: RegistrationConfig, num_keyframes: int):
        self._config = config
        self._frames: deque[Keyframe] = deque(maxlen=num_keyframes)
        self._filtered: deque[Surface] = deque(maxlen=num_keyframes)
        self._voxel_size = 0.0
        self._joined: Surface | None = None  # of all keyframes
        self._target: PreparedCloud | None = None
        self._position = np.zeros(3)  # that the target was last checked for, and
        self._shown = np.zeros(0, bool)  # which points it was built of

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
        self._joined = self._target = None

    def restart(self, frames: list[Keyframe]) -> None:
        """Join these keyframes only; the first of them counts as the newest."""
        self._frames.clear()
        self._filtered.clear()
        for frame in reversed(frames):
            self.add(frame)

    def target(self, voxel_size: float, position: np.ndarray, reach: float) -> PreparedCloud:
        """The map, prepared, as it is seen from `position` (3,): points within `reach`, and no backs of surfaces.

        Built when first needed after a change, and when the position shows another part of it.
        """
        if voxel_size != self._voxel_size:
            self._voxel_size = voxel_size
            self._filtered = deque((self._filter(frame) for frame in self._frames), self._filtered.maxlen)
            self._joined = self._target = None
        if self._target is None or not np.array_equal(position, self._position):
            self._position = position.copy()
            visible = self._visible(position, reach)
            if self._target is None or np.mean(visible != self._shown) > MAX_CHANGE:
                self._shown = visible
                self._target = self._build(visible)
        return self._target

    def _filter(self, frame: Keyframe) -> Surface:
        """A keyframe in the map's frame, one point a voxel."""
        if len(frame.points) == 0:
            return Surface(np.zeros((0, 3)), np.zeros((0, 3)))
        cloud, _ = small_gicp.preprocess_points(
            frame.points.astype(np.float64), self._voxel_size, NORMAL_NEIGHBORS, self._config.num_threads
        )
        points, normals = cloud.points()[:, :3], cloud.normals()[:, :3]
        normals = normals * -np.sign(np.sum(normals * points, axis=1))[:, None]
        return Surface(se3.apply(frame.T_map_sensor, points), normals @ frame.T_map_sensor[:3, :3].T)

    def _visible(self, position: np.ndarray, reach: float) -> np.ndarray:
        """Which points of the keyframes, (N,), are within reach of a position (3,) and face it."""
        points, normals = self._joined_surface()
        rays = position - points
        ranges = np.linalg.norm(rays, axis=1)
        facing = np.einsum("ij,ij->i", rays, normals)
        return (ranges < reach) & (facing > BACK_FACING * ranges)

    def _joined_surface(self) -> Surface:
        if self._joined is None:
            points, normals = zip(*self._filtered, strict=True)
            self._joined = Surface(np.vstack(points), np.vstack(normals))
        return self._joined

    def _build(self, visible: np.ndarray) -> PreparedCloud:
        count = len(self._frames)
        view = np.arange(count) - max(0, count - NUM_VIEWS)
        index = np.repeat(np.maximum(view, NO_VIEW), [len(surface.points) for surface in self._filtered])[visible]
        points = self._joined_surface().points[visible]
        if len(points) > MAX_POINTS:
            chosen = np.random.default_rng(0).choice(len(points), MAX_POINTS, replace=False)
            points, index = points[chosen], index[chosen]
        origins = np.array([frame.T_map_sensor[:3, 3] for frame in list(self._frames)[-NUM_VIEWS:]])
        return prepare_cloud(points, self._voxel_size, self._config, origins, index)
