"""Two one-sided views of one object, as a depth camera or a range scanner on a turntable gives them (numpy).

Made from surface samples alone, at every draw anew: each view samples the surface for itself, so that no point of one
view is a point of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from prnet_core.data.random_rotations import any_rotation
from prnet_core.data.scan_views import View
from prnet_core.data.visibility import visible_points


@dataclass(frozen=True)
class ObjectViewConfig:
    """Lengths in units of the object's radius, angles in degrees."""

    max_separation_deg: float = 90.0
    """Angle between the two lines of sight."""
    distance: tuple[float, float] = (2.5, 8.0)
    max_baseline_deg: float = 20.0
    """Angle between the light and the camera of a triangulating scanner: both must see a point."""
    cell: float = 0.05
    max_noise: float = 0.006
    floor_share: float = 0.25
    """Share of the pairs in which the object stands on a plate."""
    clutter_share: float = 0.2
    """Share of the pairs with parts of a second object beside."""
    min_points: int = 200


class ObjectViews:
    """Draws pairs of views of given shapes.

    shapes (S, K, 3), any dtype, times `scale` in the unit sphere with zero mean.
    """

    def __init__(self, shapes: np.ndarray, scale: float = 1.0, config: ObjectViewConfig = ObjectViewConfig()):
        self.shapes, self.scale, self.config = shapes, scale, config
        self._neighbours: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.shapes)

    def draw(self, rng: np.random.Generator) -> tuple[View, View]:
        """Source and target view of a random shape, in one world frame whose axes mean nothing.

        Each view's pose is that of its camera: z forward, x right, y down, up to a roll of the camera.
        """
        while True:
            index = int(rng.integers(len(self.shapes)))
            cameras = self._cameras(rng)
            extra = self._surroundings(rng, cameras)
            turn = any_rotation(rng) * rng.uniform(0.75, 1.25, (1, 3))
            views = [self._view(index, turn, extra, camera, rng) for camera in cameras]
            if min(len(view.points) for view in views) >= self.config.min_points:
                return views[0], views[1]

    def _cameras(self, rng: np.random.Generator) -> list[np.ndarray]:
        target = any_rotation(rng)[:, 2]
        axis = np.cross(target, rng.normal(size=3))
        angle = np.radians(rng.uniform(0.0, self.config.max_separation_deg))
        source = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle).apply(target)
        distance = np.exp(rng.uniform(*np.log(self.config.distance)))
        return [source * distance * rng.uniform(0.9, 1.1), target * distance]

    def _view(
        self, index: int, turn: np.ndarray, extra: np.ndarray, camera: np.ndarray, rng: np.random.Generator
    ) -> View:
        surface = np.concatenate([self._resample(index, rng) @ turn.T, extra])
        seen = visible_points(surface, camera, self.config.cell)
        baseline = np.radians(rng.uniform(0.0, self.config.max_baseline_deg))
        light = Rotation.from_rotvec(baseline * _unit(np.cross(camera, rng.normal(size=3)))).apply(camera)
        seen &= visible_points(surface, light, self.config.cell)
        points = surface[seen]
        rays = points - camera
        noise = rng.uniform(0.0, self.config.max_noise)
        along = rng.normal(size=(len(points), 1)) * noise
        points = points + _unit(rays) * along + rng.normal(size=points.shape) * (0.3 * noise)
        return View(points, _look_at_origin(camera, rng))

    def _resample(self, index: int, rng: np.random.Generator) -> np.ndarray:
        """A new sample of the shape: the shape's points, each moved part of the way to one of its neighbours."""
        points = self.shapes[index].astype(np.float64) * self.scale
        if index not in self._neighbours:
            self._neighbours[index] = cKDTree(points).query(points, k=5)[1][:, 1:].astype(np.int16)
        neighbours = self._neighbours[index]
        chosen = np.tile(np.arange(len(points)), 2)
        towards = neighbours[chosen, rng.integers(neighbours.shape[1], size=len(chosen))]
        step = rng.uniform(0.0, 1.0, (len(chosen), 1))
        return points[chosen] + step * (points[towards] - points[chosen])

    def _surroundings(self, rng: np.random.Generator, cameras: list[np.ndarray]) -> np.ndarray:
        """Points of a plate below and of a piece of another shape: (N, 3), N >= 0."""
        parts = [np.zeros((0, 3))]
        middle = _unit(cameras[0] / np.linalg.norm(cameras[0]) + cameras[1] / np.linalg.norm(cameras[1]))
        if rng.random() < self.config.floor_share:
            up = _unit(rng.normal(size=3) + 1.0 * middle)
            disc = rng.uniform(-1.0, 1.0, (2000, 2)) * rng.uniform(0.5, 1.3)
            side = _unit(np.cross(up, rng.normal(size=3)))
            parts.append(disc @ np.stack([side, np.cross(up, side)]) - up * rng.uniform(0.5, 0.9))
        if rng.random() < self.config.clutter_share:
            other = self.shapes[rng.integers(len(self.shapes))].astype(np.float64) * self.scale
            side = _unit(np.cross(middle, rng.normal(size=3)))
            parts.append(other @ any_rotation(rng).T * rng.uniform(0.2, 0.7) + side * rng.uniform(0.7, 1.3))
        return np.concatenate(parts)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _look_at_origin(camera: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """T_world_camera (4, 4). The world's y axis is down in the image, give or take a roll, which is mostly small."""
    forward = -_unit(camera)
    right = np.cross([0.0, 1.0, 0.0], forward)
    right = _unit(right) if np.linalg.norm(right) > 1e-3 else np.array([1.0, 0.0, 0.0])
    roll = rng.normal(0.0, np.radians(15.0)) if rng.random() < 0.7 else rng.uniform(-np.pi, np.pi)
    pose = np.eye(4)
    pose[:3, :3] = (
        np.stack([right, np.cross(forward, right), forward], axis=1)
        @ Rotation.from_rotvec([0, 0, roll]).as_matrix()
    )
    pose[:3, 3] = camera
    return pose
