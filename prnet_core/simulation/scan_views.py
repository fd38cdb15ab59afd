"""Partial views of procedural scenes, precomputed because scenes take too long to build at every training step.

Rotations, stretching, mirroring, sampling and noise are added at every draw (`scan_pairs`).
"""

from pathlib import Path

import numpy as np

from prnet_core.geometry.random_rotations import about_vertical
from prnet_core.geometry.voxels import pair_voxel_size, voxel_centroids
from prnet_core.simulation.procedural_objects import scan_figure
from prnet_core.simulation.scanners import random_depth_camera, random_lidar
from prnet_core.simulation.scene_builder import Scene
from prnet_core.simulation.scenes import random_scene
from prnet_core.simulation.views import View

INT16_RANGE = 32000
FIGURE_SHARE = 0.35
MIN_POINTS, MAX_POINTS = 300, 1400  # of a view


def save_views(path: Path | str, scenes: list[list[View]]) -> None:
    """Write the views of each scene as a compressed npz.

    points: (P, 3) int16 of all V views one after the other, relative to the sensor's position, along the world's axes.
    scales: (V,) metres per unit. starts: (V + 1,). poses: (V, 4, 4) T_world_sensor. scenes: (V,) index of the scene.
    """
    views = [view for scene in scenes for view in scene]
    clouds = [view.points - view.T_world_sensor[:3, 3] for view in views]
    scales = [np.abs(cloud).max() / INT16_RANGE for cloud in clouds]
    packed = [np.round(cloud / scale).astype(np.int16) for cloud, scale in zip(clouds, scales, strict=True)]
    np.savez_compressed(
        path,
        points=np.concatenate(packed),
        scales=np.array(scales, np.float32),
        starts=np.cumsum([0] + [len(cloud) for cloud in clouds]),
        poses=np.array([view.T_world_sensor for view in views], np.float32),
        scenes=np.repeat(np.arange(len(scenes)), [len(scene) for scene in scenes]),
    )


def load_views(path: Path | str) -> list[list[View]]:
    """The views of each scene, as `save_views` wrote them. Raises OSError or KeyError for another file."""
    with np.load(path) as file:
        points, scales, starts = file["points"], file["scales"], file["starts"]
        poses, owners = file["poses"], file["scenes"]
    scenes: list[list[View]] = [[] for _ in range(int(owners[-1]) + 1)]
    for owner, cloud, scale, pose in zip(owners, np.split(points, starts[1:-1]), scales, poses, strict=True):
        scenes[owner].append(View(cloud * scale.astype(np.float64) + pose[:3, 3], pose.astype(np.float64)))
    return scenes


def scan_scene(rng: np.random.Generator, num_views: int = 3) -> list[View]:
    """A random place, or a figure, seen from `num_views` poses by a random sensor.

    Of the places 85 % are scanned by a LiDAR from poses within about 3 m, or a quarter of a small place's
    size, and the others by a depth camera within 1 m; upright with a handheld tilt of up to 20 degrees. The views are
    downsampled with one voxel size to at most MAX_POINTS each. Scenes with too few points are drawn again.
    """
    while True:
        views = scan_figure(rng, num_views) if rng.random() < FIGURE_SHARE else _scan_place(rng, num_views)
        sparsest = min((view.points for view in views), key=len, default=np.zeros((0, 3)))
        if len(sparsest) < MIN_POINTS:
            continue
        voxel = pair_voxel_size(sparsest, sparsest, min(MAX_POINTS, int(0.9 * len(sparsest))), rng)
        return [
            View(_at_most(voxel_centroids(view.points, voxel), MAX_POINTS, rng), view.T_world_sensor) for view in views
        ]


def _scan_place(rng: np.random.Generator, num_views: int) -> list[View]:
    """`num_views` views, or none if not enough poses are found."""
    scene = random_scene(rng)
    camera = rng.random() < 0.15
    scanner = random_depth_camera(rng) if camera else random_lidar(rng)
    extent = np.ptp(scene.sensor_region, axis=0)[:2].mean()
    reach = 1.0 if camera else np.clip(0.25 * extent, 1.0, 3.0)
    poses = _sensor_poses(scene, scanner.field_of_view, num_views, reach, rng)
    return [View(scanner.scan(scene, pose[:3, 3], pose[:3, :3], rng), pose) for pose in poses]


def _sensor_poses(
    scene: Scene, field_of_view: float, num_views: int, reach: float, rng: np.random.Generator
) -> list[np.ndarray]:
    low, high = scene.sensor_region
    middle, yaw = rng.uniform(low, high), rng.uniform(-np.pi, np.pi)
    poses: list[np.ndarray] = []
    for _ in range(10 * num_views):
        offset = rng.uniform(-reach / 2, reach / 2, 3) * (1.0, 1.0, 0.2)
        position = np.clip(middle + offset, low, high)
        if scene.solids.contain(position[None], margin=0.25).any():
            continue
        pose = np.eye(4)
        narrow = field_of_view < 2 * np.pi
        spread = 0.35 * field_of_view if narrow else np.pi
        turn = yaw + rng.uniform(-spread, spread)
        cos, sin = np.cos(turn), np.sin(turn)
        heading = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        pose[:3, :3] = heading @ about_vertical(rng, 0.0, np.radians(20.0))
        pose[:3, 3] = position
        poses.append(pose)
        if len(poses) == num_views:
            return poses
    return []


def _at_most(points: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return points if len(points) <= count else points[np.sort(rng.choice(len(points), count, replace=False))]
