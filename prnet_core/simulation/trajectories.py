"""Exact continuous trajectories: where a body is at any time. Metres, seconds, z up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

DistanceAtTime = Callable[[np.ndarray], np.ndarray]
"""Metres travelled along a path at times (...) in seconds."""

BUMP_LENGTH, BUMP_HEIGHT, BUMP_PITCH_DEG = 0.6, 0.06, 5.0
"""A speed bump across the path: a body rises by its height, and pitches up and down by its angle, within its length."""


@dataclass(frozen=True)
class Sway:
    """Motion on top of the path: the body bobs, pitches and rolls, so all six degrees of freedom move.

    `frequency` in cycles per second and `cycles_per_metre` add up; with the latter alone, a body at rest does not sway.
    """

    bob: float = 0.005
    angle_deg: float = 0.3
    frequency: float = 1.8
    cycles_per_metre: float = 0.0


class PathTrajectory:
    """A cubic spline through waypoints; the body looks along it horizontally."""

    def __init__(
        self,
        waypoints: Sequence[Sequence[float]],
        travelled: DistanceAtTime,
        closed: bool = False,
        sway: Sway = Sway(),
        bumps: Sequence[float] = (),
    ) -> None:
        """waypoints (K, 2) or (K, 3) in the world; a closed path is a loop.

        `travelled` is one of the functions of this module, such as `steady(1.0)`. bumps: metres along the path.
        """
        points = np.array(waypoints, dtype=float)
        points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
        if closed:
            points = np.concatenate([points, points[:1]])
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
        self.length = float(chords.sum())
        """Metres of one lap, by the chords."""
        self._closed, self._travelled, self._sway, self._bumps = closed, travelled, sway, tuple(bumps)
        knots = np.concatenate([[0.0], np.cumsum(chords)])
        self._path = CubicSpline(knots, points, bc_type="periodic" if closed else "not-a-knot")

    def __call__(self, time: np.ndarray | float) -> np.ndarray:
        """T_world_body (..., 4, 4) at times (...) in seconds."""
        time = np.asarray(time, dtype=float)
        along = self._travelled(time)
        phase = 2.0 * np.pi * self._sway.frequency * time
        phase = phase + 2.0 * np.pi * self._sway.cycles_per_metre * along
        along = along % self.length if self._closed else np.clip(along, 0.0, self.length)
        tangent = self._path(along, 1)
        yaw = np.arctan2(tangent[..., 1], tangent[..., 0])
        roll = np.deg2rad(self._sway.angle_deg) * np.sin(phase / 2.0)
        pitch = np.deg2rad(self._sway.angle_deg) * np.sin(phase)
        position = self._path(along)
        position[..., 2] += self._sway.bob * np.sin(phase)
        for bump in self._bumps:
            offset = (along - bump) / BUMP_LENGTH
            pitch = pitch + np.deg2rad(BUMP_PITCH_DEG) * 1.65 * offset * np.exp(-(offset**2) / 2.0)
            position[..., 2] += BUMP_HEIGHT * np.exp(-(offset**2) / 2.0)
        pose = np.zeros((*time.shape, 4, 4))
        angles = np.stack([yaw, pitch, roll], axis=-1).reshape(-1, 3)
        pose[..., :3, :3] = Rotation.from_euler("ZYX", angles).as_matrix().reshape(*time.shape, 3, 3)
        pose[..., :3, 3] = position
        pose[..., 3, 3] = 1.0
        return pose


def steady(speed: float) -> DistanceAtTime:
    """Starts from rest and reaches `speed` m/s after one second."""
    return lambda time: np.where(time < 1.0, 0.5 * speed * time**2, speed * (time - 0.5))


def stop_and_go(speed: float, period: float) -> DistanceAtTime:
    """Standing at every multiple of `period` seconds, twice the mean `speed` between."""
    return lambda time: speed * (time - np.sin(2.0 * np.pi * time / period) * period / (2.0 * np.pi))


def sensor_trajectory(trajectory: Callable[[np.ndarray], np.ndarray], T_body_sensor: np.ndarray) -> Callable:
    """The trajectory of a sensor on a body."""
    return lambda time: trajectory(time) @ T_body_sensor
