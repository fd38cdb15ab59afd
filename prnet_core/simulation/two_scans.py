"""Two scans of one simulated place, with the exact relative pose."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.moving_scene import MovingScene, Trajectory
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.rooms import ROOM_SIZES, corridor, furnished_room

Sensor = SpinningLidar | NonRepetitiveLidar | DepthCamera


class TwoScans(NamedTuple):
    """source and target (N, 3) in the frames of their sensors, which see from the origin; T_target_source (4, 4)
    takes points of the source into the target's frame. `scene` names the place."""

    scene: str
    source: np.ndarray
    target: np.ndarray
    T_target_source: np.ndarray


def sensor_pose(position, yaw_deg: float, tilt_deg: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """T_world_sensor (4, 4) of a sensor with x forward and z up: yaw, then pitch and roll, in degrees."""
    rotation = Rotation.from_euler("ZYX", [yaw_deg, *tilt_deg], degrees=True).as_matrix()
    return se3.make_transform(rotation, np.asarray(position, float))


def standing(pose: np.ndarray) -> Trajectory:
    """The trajectory of a sensor that stands still at a pose (4, 4)."""
    return lambda times: np.broadcast_to(pose, (*np.shape(times), 4, 4))


def scan_from(
    sensor: Sensor, scene: RayScene | MovingScene, pose: np.ndarray, rng: np.random.Generator, time: float = 0.0
) -> np.ndarray:
    """Points (N, 3) in the frame of a sensor that stands still at `pose` (x forward, z up; optical for a camera)."""
    return sensor.scan(scene, standing(pose), time, rng)[0]


def two_scans(
    name: str,
    sensor: Sensor,
    scene: RayScene | MovingScene,
    T_world_target: np.ndarray,
    T_world_source: np.ndarray,
    rng: np.random.Generator,
    seconds_apart: float = 0.0,
) -> TwoScans:
    """The target's scan, and the source's `seconds_apart` later."""
    target = scan_from(sensor, scene, T_world_target, rng)
    source = scan_from(sensor, scene, T_world_source, rng, seconds_apart)
    return TwoScans(name, source, target, se3.invert(T_world_target) @ T_world_source)


def room_pair(room: int, rotation_deg: float = 180.0, seed: int = 0) -> TwoScans:
    """Room `room` of a series of furnished rectangular rooms of four sizes in turn, scanned with 32 rings.

    The second pose is 0.6 m away and rotated by `rotation_deg` about the vertical.
    """
    rng = np.random.default_rng([seed, room])
    size = ROOM_SIZES[room % len(ROOM_SIZES)]
    scene = RayScene.from_solids(furnished_room(rng, size))
    direction, yaw = rng.uniform(0.0, 2 * np.pi), rng.uniform(-180.0, 180.0)
    step = 0.6 * np.array([np.cos(direction), np.sin(direction)])
    reach = 0.12 * np.array(size)
    first = rng.uniform(-reach, reach) - step / 2
    height = rng.uniform(0.9, 1.3)
    target = sensor_pose((*first, height), yaw, tuple(rng.normal(0.0, 2.0, 2)))
    source = sensor_pose((*(first + step), height), yaw + rotation_deg, tuple(rng.normal(0.0, 2.0, 2)))
    return two_scans(f"room {seed}-{room}", SpinningLidar(columns=720), scene, target, source, rng)


def corridor_pair(number: int, along: float = 2.0, rotation_deg: float = 0.0, seed: int = 0) -> TwoScans:
    """Two scans of corridor `number`, `along` metres apart on its axis."""
    rng = np.random.default_rng([seed, number, 1])
    length = rng.uniform(18.0, 30.0)
    scene = RayScene.from_solids(corridor(rng, length, rng.uniform(1.8, 2.6)))
    first = rng.uniform(-length / 4, length / 4 - along)
    height = rng.uniform(0.9, 1.5)
    target = sensor_pose((first, rng.uniform(-0.3, 0.3), height), rng.uniform(-10.0, 10.0))
    source = sensor_pose((first + along, rng.uniform(-0.3, 0.3), height), rotation_deg + rng.uniform(-10.0, 10.0))
    return two_scans(f"corridor {seed}-{number}", SpinningLidar(max_range=40.0), scene, target, source, rng)
