"""Depth images of simulated rooms, and fragments: some depth images of a short path, fused.

A fragment is what RGB-D mapping registers: 50 frames or so, fused under slightly incorrect poses, on a grid of 2.5 cm.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.simulation.depth_camera import OPTICAL, DepthCamera
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.scene_builder import Scene
from prnet_core.simulation.two_scans import scan_from
from prnet_core.simulation.views import View

FRAGMENT_VOXEL = 0.025
MIN_HITS = 2


def random_stereo_camera(rng: np.random.Generator, noisy: bool) -> DepthCamera:
    """Field of view 55 to 85 degrees, range to 3 to 6 m; `noisy`: as a single frame, else as a filtered one."""
    width, half_width = 160, np.tan(np.radians(rng.uniform(55.0, 85.0)) / 2)
    return DepthCamera(
        focal=width / 2 / half_width,
        min_depth=0.4,
        max_depth=rng.uniform(3.0, 6.0),
        disparity_scale=rng.uniform(30.0, 60.0),
        disparity_noise=rng.uniform(0.05, 0.4 if noisy else 0.2),
        shared_noise=rng.uniform(0.0, 0.3 if noisy else 0.15),
        subpixels=rng.choice([8.0, 16.0, 32.0]),
        dropout=rng.uniform(0.0, 0.15),
    )


def room_fragments(scene: Scene, rng: np.random.Generator, count: int = 6) -> list[View]:
    """`count` fragments along one walk through the room; fewer where too few points are visible."""
    rays = scene.rays
    camera = random_stereo_camera(rng, noisy=False)
    fragments = []
    position, yaw, pitch = free_position(scene, rng), rng.uniform(-np.pi, np.pi), rng.uniform(-0.6, 0.2)
    for _ in range(3 * count):
        views = int(rng.integers(6, 11))
        target_yaw, target_pitch = (yaw + rng.normal(0.0, 0.5), np.clip(pitch + rng.normal(0.0, 0.2), -0.9, 0.3))
        end = clip_to_region(scene, position + rng.normal(0.0, 0.35, 3) * (1.0, 1.0, 0.3))
        poses = [
            camera_pose(position + s * (end - position), yaw + s * (target_yaw - yaw),
                        pitch + s * (target_pitch - pitch), rng.normal(0.0, 0.05))
            for s in np.linspace(0.0, 1.0, views)
        ]  # fmt: skip
        fragment = fuse(rays, camera, poses, rng)
        if len(fragment) > 2000:
            fragments.append(View(fragment, poses[0]))
        if len(fragments) == count:
            break
        yaw = target_yaw + rng.normal(0.0, 0.55)
        pitch = target_pitch
        position = clip_to_region(scene, end + rng.normal(0.0, 0.5, 3) * (1.0, 1.0, 0.2))
        if scene.solids.contain(position[None], margin=0.15).any():
            position = free_position(scene, rng)
    return fragments


def fuse(rays: RayScene, camera: DepthCamera, poses: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Points (N, 3) in the world: views with drifting poses, averaged in each voxel that has enough points."""
    drift, points = np.eye(4), []
    angle, shift = rng.uniform(0.0, np.radians(0.25)), rng.uniform(0.0, 0.004)
    for pose in poses:
        points.append(se3.apply(drift @ pose @ OPTICAL, scan_from(camera, rays, pose @ OPTICAL, rng)))
        step = np.eye(4)
        step[:3, :3] = Rotation.from_rotvec(rng.normal(0.0, angle, 3)).as_matrix()
        step[:3, 3] = pose[:3, 3] - step[:3, :3] @ pose[:3, 3] + rng.normal(0.0, shift, 3)
        drift = step @ drift
    points = np.concatenate(points)
    return voxel_centroids(points, FRAGMENT_VOXEL, MIN_HITS) if len(points) else points


def camera_pose(position: np.ndarray, yaw: float, pitch: float, roll: float) -> np.ndarray:
    """T_world_sensor (4, 4) of a camera that looks along yaw and pitch (up is positive), radians."""
    return se3.make_transform(Rotation.from_euler("ZYX", [yaw, -pitch, roll]).as_matrix(), position)


def free_position(scene: Scene, rng: np.random.Generator) -> np.ndarray:
    """A random position (3,) for a camera, outside all solids if one is found in 50 attempts."""
    for _ in range(50):
        position = rng.uniform(*scene.sensor_region)
        if not scene.solids.contain(position[None], margin=0.15).any():
            break
    return position


def clip_to_region(scene: Scene, position: np.ndarray) -> np.ndarray:
    """The nearest position (3,) in the scene's region for sensors."""
    return np.clip(position, *scene.sensor_region)
