"""Several views of one random place by one kind of sensor, with large and small overlap, for training pairs."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.random_rotations import about_vertical
from prnet_core.simulation import scenes
from prnet_core.simulation.cluttered_rooms import cluttered_room
from prnet_core.simulation.depth_camera import OPTICAL
from prnet_core.simulation.fragments import (
    camera_pose,
    clip_to_region,
    free_position,
    random_stereo_camera,
    room_fragments,
)
from prnet_core.simulation.scanners import Scanner, random_lidar
from prnet_core.simulation.scene_builder import Scene
from prnet_core.simulation.two_scans import scan_from
from prnet_core.simulation.views import View, spherical

MIN_RETURNS, MIN_PIXELS = 1000, 2500
LIDAR_RAYS = 16_000
DRIVE_REACH, DRIVE_HEIGHT = 25.0, (1.6, 1.9)


def fragment_views(rng: np.random.Generator) -> list[View]:
    """Up to six fragments of a cluttered room."""
    return room_fragments(cluttered_room(rng), rng, 6)


def lidar_views(rng: np.random.Generator) -> list[View]:
    """Up to six LiDAR scans of a building, a hall, a park, or a street walked or driven along."""
    kind = rng.choice(["building", "hall", "street", "park", "drive"], p=(0.25, 0.3, 0.12, 0.08, 0.25))
    makers = {
        "building": scenes.building_floor, "hall": scenes.hall, "park": scenes.park,
        "street": scenes.street, "drive": scenes.street,
    }  # fmt: skip
    scene = makers[str(kind)](rng)
    low, high = scene.sensor_region
    if kind == "drive":
        scanner, tilt, reach = _car_lidar(), 0.02, 2 * DRIVE_REACH
        low = np.array([-DRIVE_REACH, -2.0, DRIVE_HEIGHT[0]])
        high = np.array([DRIVE_REACH, 2.0, DRIVE_HEIGHT[1]])
    else:
        scanner, tilt = random_lidar(rng, LIDAR_RAYS), np.radians(rng.choice([5.0, 25.0]))
        reach = np.clip(np.ptp(scene.sensor_region, axis=0)[:2].mean() * rng.uniform(0.4, 1.2), 2.0, 14.0)
    return _scan_around(scene, scanner, (low, high), reach, tilt, rng)


def camera_views(rng: np.random.Generator) -> list[View]:
    """Up to five single frames of a stereo depth camera, mostly noisy, at one part of a cluttered room."""
    room, views = cluttered_room(rng), []
    camera = random_stereo_camera(rng, noisy=rng.random() < 0.75)
    middle, yaw, pitch = free_position(room, rng), rng.uniform(-np.pi, np.pi), rng.uniform(-0.7, 0.1)
    spread = rng.uniform(0.15, 0.6)
    for _ in range(15):
        position = clip_to_region(room, middle + rng.normal(0.0, spread, 3) * (1.0, 1.0, 0.4))
        if room.solids.contain(position[None], margin=0.1).any():
            continue
        turn, nod = rng.normal(0.0, 0.7 * spread), rng.normal(0.0, 0.25 * spread)
        pose = camera_pose(position, yaw + turn, pitch + nod, rng.normal(0.0, 0.1))
        points = scan_from(camera, room.rays, pose @ OPTICAL, rng)
        if len(points) > MIN_PIXELS:
            views.append(View(se3.apply(pose @ OPTICAL, points), pose))
        if len(views) == 5:
            break
    return views


def _scan_around(
    scene: Scene, scanner: Scanner, region, reach: float, tilt: float, rng: np.random.Generator
) -> list[View]:
    middle, views = rng.uniform(*region), []
    for _ in range(72):
        offset = rng.uniform(-reach / 2, reach / 2, 3) * (1.0, 1.0, 0.1)
        pose = np.eye(4)
        pose[:3, 3] = np.clip(middle + offset, *region)
        if scene.solids.contain(pose[None, :3, 3], margin=0.25).any():
            continue
        pose[:3, :3] = about_vertical(rng, np.pi, tilt)
        points = scanner.scan(scene, pose[:3, 3], pose[:3, :3], rng)
        if len(points) > MIN_RETURNS:
            views.append(View(points, pose))
        if len(views) == 6:
            break
    return views


def _car_lidar() -> Scanner:
    """64 rings from -24.8 to 2 degrees, as on a car's roof."""
    elevation, azimuth = np.meshgrid(
        np.linspace(np.radians(-24.8), np.radians(2.0), 64), np.arange(1024) * 2 * np.pi / 1024, indexing="ij"
    )
    directions = spherical(elevation.ravel(), azimuth.ravel())
    return Scanner(directions, 2.0, 80.0, 0.02, 0.0, 0.1, 2 * np.pi)
