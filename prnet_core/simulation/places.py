"""A place to drive through: its solids, a free path, and the objects that move in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.simulation.depth_camera import OPTICAL
from prnet_core.simulation.moving_scene import MovingObject, MovingScene
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.solids import CYLINDER, Solids, SolidsBuilder
from prnet_core.simulation.trajectories import PathTrajectory, Sway

STEP = 0.25  # m, between samples of a path before it is rounded
WALK_WIDTH = 0.6  # m


@dataclass(frozen=True)
class Place:
    """`path` (K, 3): waypoints of a closed loop on the floor or road, free of solids. `speed`: the usual one, m/s.

    Sensors are `sensor_height` metres above the path; `camera_deg` is the direction of a camera (yaw to the left and
    pitch downwards, from the direction of travel).
    `people` and `cars`: closed paths (K, 2 or 3) of moving objects, at 1.0 to 1.6 m/s and 0.9 of the place's speed.
    `rooms` (R, 3): the middles of the rooms' floors, if it has rooms; `twins` are the indices of equal ones.
    """

    name: str
    solids: Solids
    path: np.ndarray
    speed: float
    people: list[np.ndarray] = field(default_factory=list)
    cars: list[np.ndarray] = field(default_factory=list)
    sensor_height: float = 1.3
    camera_deg: tuple[float, float] = (0.0, 8.0)
    rooms: np.ndarray | None = None
    twins: tuple[int, ...] = ()

    def camera_view(self) -> np.ndarray:
        """T_body_camera (4, 4) of a camera's optical frame at the body's origin."""
        rotation = Rotation.from_euler("ZY", self.camera_deg, degrees=True).as_matrix()
        return se3.make_transform(rotation, np.zeros(3)) @ OPTICAL

    def scene(self, moving: bool = True) -> MovingScene:
        """The place ready for ray casting, with or without its moving objects."""
        objects = []
        if moving:
            for number, waypoints in enumerate(self.people):
                objects.append(_moving(person(), waypoints, 1.0 + 0.15 * (number % 5), 7.0 * number))
            for number, waypoints in enumerate(self.cars):
                objects.append(_moving(car(), waypoints, self.speed * (0.8 + 0.1 * (number % 4)), 31.0 * number))
        return MovingScene(RayScene.from_solids(self.solids), objects)


def person() -> Solids:
    """A walking person of 1.75 m, looking along x; the origin is between the feet."""
    body = SolidsBuilder()
    for side in (-0.1, 0.1):
        body.pole(1.2 * side, side, 0.0, 0.85, 0.15)
    body.add(CYLINDER, (0.0, 0.0, 1.13), (0.26, 0.42, 0.56))
    body.blob((0.0, 0.0, 1.6), (0.2, 0.18, 0.28))
    for side in (-0.26, 0.26):
        body.pole(-0.4 * side, side, 0.8, 0.6, 0.1)
    return body.solids()


def car() -> Solids:
    """A car of 4.4 x 1.8 x 1.5 m that drives along x; the origin is on the road under its middle."""
    body = SolidsBuilder()
    body.box((0.0, 0.0, 0.6), (4.4, 1.8, 0.7))
    body.box((-0.2, 0.0, 1.2), (2.3, 1.6, 0.6))
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for x in (-1.4, 1.4):
        for y in (-0.85, 0.85):
            body.add(CYLINDER, (x, y, 0.32), (0.64, 0.64, 0.2), tilt=upright)
    return body.solids()


def rounded_path(corners: Sequence[Sequence[float]], radius: float) -> np.ndarray:
    """Waypoints (K, 3) on the closed polyline through `corners` (C, 2 or 3), whose corners
    are rounded over about `radius` metres; the path stays within the polyline's hull."""
    points = np.array(corners, dtype=float)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    points = np.concatenate([points, points[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    samples = np.linspace(0.0, along[-1], max(int(along[-1] / STEP), 8), endpoint=False)
    dense = np.stack([np.interp(samples, along, points[:, axis]) for axis in range(3)], axis=1)
    smooth = gaussian_filter1d(dense, 0.6 * radius / STEP, axis=0, mode="wrap")
    return smooth[:: max(int(0.5 * radius / STEP), 1)]


def there_and_back(start: Sequence[float], end: Sequence[float]) -> np.ndarray:
    """A narrow closed path (4, 2) from `start` (x, y) to `end` and back beside it, for people."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]]) * WALK_WIDTH / 2
    return np.array([start - across, end - across, end + across, start + across])


def _moving(solids: Solids, waypoints: np.ndarray, speed: float, offset: float) -> MovingObject:
    path = rounded_path(waypoints, 0.4 if speed < 3.0 else 4.0)
    trajectory = PathTrajectory(path, lambda time: offset + speed * time, closed=True, sway=Sway(0.0, 0.0))
    return MovingObject.from_solids(solids, trajectory)
