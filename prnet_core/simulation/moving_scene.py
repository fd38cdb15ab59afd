"""A static scene with objects that move through it: people and cars on continuous trajectories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prnet_core.simulation.ray_scene import Hits, RayScene
from prnet_core.simulation.solids import Solids

MAX_RANGE = 120.0  # m
Trajectory = Callable[[np.ndarray], np.ndarray]
"""Poses (N, 4, 4) at times (N,) in seconds; each takes the body's frame into the world."""


@dataclass(frozen=True)
class MovingObject:
    """A rigid shape, the radius in metres of its bounding sphere about the frame's origin, and its trajectory."""

    shape: RayScene
    radius: float
    trajectory: Trajectory

    @staticmethod
    def from_solids(solids: Solids, trajectory: Trajectory) -> MovingObject:
        """An object of solids given in its own frame."""
        reach = np.linalg.norm(solids.centres, axis=1) + np.linalg.norm(solids.half_sizes, axis=1)
        return MovingObject(RayScene.from_solids(solids), float(reach.max()), trajectory)


class MovingScene:
    """Rays hit the nearest surface of the static scene and of the objects, at the time of each ray."""

    def __init__(self, static: RayScene, objects: Sequence[MovingObject] = ()):
        """Objects farther than MAX_RANGE from a ray's origin are not seen."""
        self.static, self.objects = static, tuple(objects)

    def cast(self, origins: np.ndarray, directions: np.ndarray, times: np.ndarray) -> Hits:
        """As `RayScene.cast`, at times (R,) in seconds."""
        distance, cosine = self.static.cast(origins, directions)
        origins = np.broadcast_to(np.asarray(origins, float), directions.shape)
        first, last = int(np.argmin(times)), int(np.argmax(times))
        ends = times[[first, last]]
        lengths = np.linalg.norm(directions, axis=1)
        for moving in self.objects:
            offsets = moving.trajectory(ends)[:, :3, 3] - origins[[first, last]]
            near = self._rays_near(moving.radius, offsets, directions, lengths)
            if len(near) == 0:
                continue
            pose = _at_times(moving.trajectory, times[near])
            inverse = pose[:, :3, :3].transpose(0, 2, 1)
            local_origins = np.einsum("rij,rj->ri", inverse, origins[near] - pose[:, :3, 3])
            local_directions = np.einsum("rij,rj->ri", inverse, directions[near])
            hits = moving.shape.cast(local_origins, local_directions)
            closer = hits.distance < distance[near]
            distance[near[closer]] = hits.distance[closer]
            cosine[near[closer]] = hits.cos_incidence[closer]
        return Hits(distance, cosine)

    def _rays_near(self, radius: float, offsets: np.ndarray, directions: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Indices of the rays that may hit a sphere. offsets (2, 3): from the sensor to it, first and last."""
        middle = offsets.mean(axis=0)
        reach = radius + np.linalg.norm(offsets[1] - offsets[0]) / 2.0
        away = np.linalg.norm(middle)
        if away > MAX_RANGE + reach:
            return np.zeros(0, int)
        if away <= reach:
            return np.arange(len(directions))
        return np.flatnonzero(directions @ middle > lengths * np.sqrt(away**2 - reach**2))


def _at_times(trajectory: Trajectory, times: np.ndarray) -> np.ndarray:
    """Poses (R, 4, 4); equal times in a row, as those of a LiDAR's column, are evaluated once."""
    starts = np.flatnonzero(np.diff(times, prepend=np.nan) != 0.0)
    repeats = np.diff(np.append(starts, len(times)))
    return np.repeat(trajectory(times[starts]), repeats, axis=0)
