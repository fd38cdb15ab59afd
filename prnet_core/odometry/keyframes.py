"""Key frames, and the target that a scan is registered to made from the last of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration import Registration
from prnet_core.registration.preprocess import PreparedCloud


@dataclass(frozen=True)
class KeyFrame:
    """A scan kept: points (N, 3) in its sensor's frame, its pose (4, 4), and the pose's covariance (6, 6)."""

    points: np.ndarray
    T_odom_sensor: np.ndarray
    covariance: np.ndarray


class KeyFrames:
    """The key frames of a trajectory, newest last, and the target: the newest joined, in the newest one's frame."""

    def __init__(self, num_joined: int, num_remembered: int, max_points: int):
        self._num_joined = num_joined
        self._num_remembered = max(num_joined, num_remembered)
        self._max_points = max_points
        self._frames: list[KeyFrame] = []
        self._target: PreparedCloud | None = None

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest(self) -> KeyFrame:
        """The key frame in whose frame the target is."""
        return self._frames[-1]

    def add(self, points: np.ndarray, T_odom_sensor: np.ndarray, covariance: np.ndarray) -> None:
        """Add a scan (N, 3) as the newest key frame; of more than `max_points` that many drawn at random are kept.

        Every n-th would be the same few lasers of a spinning sensor.
        """
        if len(points) > self._max_points:
            points = points[np.random.default_rng(0).choice(len(points), self._max_points, replace=False)]
        self._frames.append(KeyFrame(points, T_odom_sensor, covariance))
        del self._frames[: -self._num_remembered]
        self._target = None

    def target(self, registration: Registration, voxel_size: float) -> PreparedCloud:
        """The joined key frames, prepared; built when first asked for after a change."""
        if self._target is None:
            T_newest_odom = se3.invert(self.newest.T_odom_sensor)
            joined = [
                se3.apply(T_newest_odom @ frame.T_odom_sensor, frame.points)
                for frame in self._frames[-self._num_joined :]
            ]
            self._target = registration.prepare(np.vstack(joined), voxel_size)
        return self._target

    def older(self, near: np.ndarray) -> list[KeyFrame]:
        """Remembered key frames that are not in the target, those nearest to a position (3,) first."""
        older = self._frames[: -self._num_joined]
        return sorted(older, key=lambda frame: float(np.linalg.norm(frame.T_odom_sensor[:3, 3] - near)))

    def restart_from(self, frame: KeyFrame) -> None:
        """Forget all other key frames: the place was found again at this one."""
        self._frames = [frame]
        self._target = None
