"""A smooth walk on the floor: where the robot's base is at any time, exactly."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

SWAY_FREQUENCY = 1.8
BOB = 0.005
SWAY_DEG = 0.3


class Walk:
    """A walk through way points (x, y) in metres, from standing to walking at about `speed` m/s.

    The base looks along its path; it bobs and sways a little, so all six degrees of freedom move.
    """

    def __init__(self, way_points: list[tuple[float, float]], speed: float) -> None:
        """Lay a cubic spline through the way points, by the length of the chords."""
        points = np.array(way_points)
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
        self.length = float(chords.sum())
        self._speed = speed
        self._path = CubicSpline(np.concatenate([[0.0], np.cumsum(chords)]), points)

    def pose(self, time: np.ndarray) -> np.ndarray:
        """T_map_base (..., 4, 4) at times (...) in seconds."""
        time = np.asarray(time, dtype=float)
        along = self._travelled(time)
        tangent = self._path(along, 1)
        yaw = np.arctan2(tangent[..., 1], tangent[..., 0])
        phase = 2.0 * np.pi * SWAY_FREQUENCY * time
        roll = np.deg2rad(SWAY_DEG) * np.sin(phase / 2.0)
        pitch = np.deg2rad(SWAY_DEG) * np.sin(phase)
        pose = np.zeros((*time.shape, 4, 4))
        angles = np.stack([yaw, pitch, roll], axis=-1).reshape(-1, 3)
        pose[..., :3, :3] = Rotation.from_euler("ZYX", angles).as_matrix().reshape(*time.shape, 3, 3)
        pose[..., :2, 3] = self._path(along)
        pose[..., 2, 3] = BOB * np.sin(phase)
        pose[..., 3, 3] = 1.0
        return pose

    def _travelled(self, time: np.ndarray) -> np.ndarray:
        """Metres along the path: the speed rises over the first second and stays."""
        starting = 0.5 * self._speed * time**2
        return np.where(time < 1.0, starting, self._speed * (time - 0.5))
