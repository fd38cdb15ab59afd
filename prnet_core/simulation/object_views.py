"""Two one-sided views of one object, as from a depth camera or a range scanner with a turntable (numpy).

Each view samples the surface independently: no point of one view is a point of the other.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.smooth_field import SmoothField
from prnet_core.simulation.views import View, look_at_origin, unit
from prnet_core.simulation.visibility import visible_points

# Lengths in units of the object's radius.
MAX_SEPARATION_DEG = 90.0  # angle between the two lines of sight
DISTANCE = (2.5, 8.0)
MAX_BASELINE_DEG = 20.0  # between the light and the camera of a triangulating scanner: both must see a point
CELL = 0.05
MAX_WARP = 0.08  # amplitude of the `SmoothField`
MIN_THICKNESS, MIN_WIDTH = 0.15, 0.3
"""Minimum standard deviations along the smallest and the middle principal axis, as shares of the largest. Other shapes
are left out: the pose of a pole or a plate is not unique."""
MIN_POINTS = 200


@dataclass(frozen=True)
class ObjectViewConfig:
    """Noise in units of the object's radius, and shares of the pairs.

    warp_share: the shape is deformed by a smooth field; CAD parts lose the symmetries that make the pose of a pair
    ambiguous. floor_share: the object stands on a plate. clutter_share: parts of a second object are beside it.
    """

    max_noise: float = 0.006
    warp_share: float = 0.6
    floor_share: float = 0.25
    clutter_share: float = 0.2


class ObjectViews:
    """Draws pairs of views of given shapes (S, K, 3) in the unit sphere with zero mean."""

    def __init__(self, shapes: np.ndarray, config: ObjectViewConfig = ObjectViewConfig()):
        self.shapes, self.config = shapes, config
        self._neighbours: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.shapes)

    def draw(self, rng: np.random.Generator) -> tuple[View, View]:
        """Source and target view of a random shape, in an arbitrary world frame.

        Each view's pose is that of its camera: z forward, x right, y down, up to a roll of the camera.
        """
        while True:
            index = int(rng.integers(len(self.shapes)))
            if not self._is_solid(index):
                continue
            cameras = self._cameras(rng)
            extra = self._surroundings(rng, cameras)
            turn = any_rotation(rng) * rng.uniform(0.75, 1.25, (1, 3))
            bend = None
            if rng.random() < self.config.warp_share:
                bend = SmoothField(rng, rng.uniform(0.0, MAX_WARP))
            views = [self._view(index, turn, extra, bend, camera, rng) for camera in cameras]
            if min(len(view.points) for view in views) >= MIN_POINTS:
                return views[0], views[1]

    def _is_solid(self, index: int) -> bool:
        deviations = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(self.shapes[index].T)), 0.0))
        least, middle, largest = deviations
        return least > MIN_THICKNESS * largest and middle > MIN_WIDTH * largest

    def _cameras(self, rng: np.random.Generator) -> list[np.ndarray]:
        target = any_rotation(rng)[:, 2]
        axis = np.cross(target, rng.normal(size=3))
        angle = np.radians(rng.uniform(0.0, MAX_SEPARATION_DEG))
        source = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle).apply(target)
        distance = np.exp(rng.uniform(*np.log(DISTANCE)))
        return [source * distance * rng.uniform(0.9, 1.1), target * distance]

    def _view(
        self,
        index: int,
        turn: np.ndarray,
        extra: np.ndarray,
        bend: SmoothField | None,
        camera: np.ndarray,
        rng: np.random.Generator,
    ) -> View:
        shape = self._resample(index, rng) @ turn.T
        surface = np.concatenate([shape if bend is None else bend.apply(shape), extra])
        seen = visible_points(surface, camera, CELL)
        baseline = np.radians(rng.uniform(0.0, MAX_BASELINE_DEG))
        light = Rotation.from_rotvec(baseline * unit(np.cross(camera, rng.normal(size=3)))).apply(camera)
        seen &= visible_points(surface, light, CELL)
        points = surface[seen]
        rays = points - camera
        noise = rng.uniform(0.0, self.config.max_noise)
        along = rng.normal(size=(len(points), 1)) * noise
        points = points + unit(rays) * along + rng.normal(size=points.shape) * (0.3 * noise)
        return View(points, look_at_origin(camera, rng))

    def _resample(self, index: int, rng: np.random.Generator) -> np.ndarray:
        """A new sample of the shape: its points, each moved part of the way to one of its neighbours."""
        points = self.shapes[index].astype(np.float64)
        if index not in self._neighbours:
            self._neighbours[index] = cKDTree(points).query(points, k=5)[1][:, 1:].astype(np.int16)
        neighbours = self._neighbours[index]
        chosen = np.tile(np.arange(len(points)), 2)
        towards = neighbours[chosen, rng.integers(neighbours.shape[1], size=len(chosen))]
        step = rng.uniform(0.0, 1.0, (len(chosen), 1))
        return points[chosen] + step * (points[towards] - points[chosen])

    def _surroundings(self, rng: np.random.Generator, cameras: list[np.ndarray]) -> np.ndarray:
        """Points of a plate below the object and of a second object beside it: (N, 3), N >= 0."""
        parts = [np.zeros((0, 3))]
        middle = unit(cameras[0] / np.linalg.norm(cameras[0]) + cameras[1] / np.linalg.norm(cameras[1]))
        if rng.random() < self.config.floor_share:
            up = unit(rng.normal(size=3) + 1.0 * middle)
            disc = rng.uniform(-1.0, 1.0, (2000, 2)) * rng.uniform(0.5, 1.3)
            side = unit(np.cross(up, rng.normal(size=3)))
            parts.append(disc @ np.stack([side, np.cross(up, side)]) - up * rng.uniform(0.5, 0.9))
        if rng.random() < self.config.clutter_share:
            other = self.shapes[rng.integers(len(self.shapes))].astype(np.float64)
            side = unit(np.cross(middle, rng.normal(size=3)))
            parts.append(other @ any_rotation(rng).T * rng.uniform(0.2, 0.7) + side * rng.uniform(0.7, 1.3))
        return np.concatenate(parts)
