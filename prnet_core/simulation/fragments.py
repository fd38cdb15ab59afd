"""Depth images of simulated rooms, and fragments: some depth images of a short path, fused.

A fragment is what RGB-D mapping registers: 50 frames or so, fused under slightly wrong poses, on a grid of 2.5 cm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import zoom
from scipy.spatial.transform import Rotation

from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.scenes import Scene
from prnet_core.simulation.views import View

FRAGMENT_VOXEL = 0.025
MIN_HITS = 2


@dataclass(frozen=True)
class DepthCamera:
    """A pinhole depth camera of `width` x `height` pixels; x forward, y left, z up in its frame. Ranges in metres.

    Its noise is a stereo camera's: `disparity_noise` pixels of disparity, part of it shared by neighbouring pixels,
    rounded to steps of `disparity_step`; depth = focal_baseline / disparity.
    """

    width: int = 160
    height: int = 120
    half_width: float = 0.55  # tangent of half the horizontal field of view
    min_depth: float = 0.4
    max_depth: float = 3.5
    focal_baseline: float = 43.5  # pixels times metres
    disparity_noise: float = 0.1
    shared_noise: float = 0.1
    disparity_step: float = 0.125
    dropout: float = 0.05

    def directions(self) -> np.ndarray:
        """(height * width, 3), depth 1 along x."""
        half_height = self.half_width * self.height / self.width
        v, u = np.meshgrid(
            np.linspace(half_height, -half_height, self.height),
            np.linspace(self.half_width, -self.half_width, self.width),
            indexing="ij",
        )
        return np.stack([np.ones_like(u), u, v], axis=-1).reshape(-1, 3)

    def scan(self, scene: RayScene, T_world_sensor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Measured points (N, 3) in the camera's frame."""
        directions = self.directions()
        hits = scene.cast(T_world_sensor[:3, 3], directions @ T_world_sensor[:3, :3].T)
        depth = hits.distance
        seen = np.isfinite(depth) & (hits.cos_incidence > 0.12) & (rng.random(len(depth)) >= self.dropout)
        disparity = self.focal_baseline / np.where(seen, depth, 1.0)
        coarse = rng.normal(size=(self.height // 8 + 1, self.width // 8 + 1))
        shared = zoom(coarse, 8, order=1)[: self.height, : self.width].ravel()
        disparity = disparity + self.disparity_noise * rng.normal(size=len(depth)) + self.shared_noise * shared
        disparity = np.round(disparity / self.disparity_step) * self.disparity_step
        measured = self.focal_baseline / np.maximum(disparity, 1e-3)
        seen &= (measured > self.min_depth) & (measured < self.max_depth)
        return directions[seen] * measured[seen, None]


def random_stereo_camera(rng: np.random.Generator, noisy: bool) -> DepthCamera:
    """Field of view 55 to 85 degrees, range to 3 to 6 m; `noisy` is a single frame's noise, else a smoothed one's."""
    return DepthCamera(
        half_width=np.tan(np.radians(rng.uniform(55.0, 85.0)) / 2),
        max_depth=rng.uniform(3.0, 6.0),
        focal_baseline=rng.uniform(30.0, 60.0),
        disparity_noise=rng.uniform(0.05, 0.4 if noisy else 0.2),
        shared_noise=rng.uniform(0.0, 0.3 if noisy else 0.15),
        disparity_step=rng.choice([0.03125, 0.0625, 0.125]),
        dropout=rng.uniform(0.0, 0.15),
    )


def room_fragments(scene: Scene, rng: np.random.Generator, count: int = 6) -> list[View]:
    """`count` fragments along one walk through the room; fewer where it sees too little."""
    rays = RayScene.from_solids(scene.solids)
    camera = random_stereo_camera(rng, noisy=False)
    fragments = []
    position, yaw, pitch = _free_position(scene, rng), rng.uniform(-np.pi, np.pi), rng.uniform(-0.6, 0.2)
    for _ in range(3 * count):
        views = int(rng.integers(6, 11))
        target_yaw, target_pitch = yaw + rng.normal(0.0, 0.5), np.clip(pitch + rng.normal(0.0, 0.2), -0.9, 0.3)
        end = _clip(scene, position + rng.normal(0.0, 0.35, 3) * (1.0, 1.0, 0.3))
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
        position = _clip(scene, end + rng.normal(0.0, 0.5, 3) * (1.0, 1.0, 0.2))
        if scene.solids.contain(position[None], margin=0.15).any():
            position = _free_position(scene, rng)
    return fragments


def fuse(
    rays: RayScene, camera: DepthCamera, poses: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Points (N, 3) in the world: the views under drifting poses, one mean a voxel that was hit often enough."""
    drift, points = np.eye(4), []
    angle, shift = rng.uniform(0.0, np.radians(0.25)), rng.uniform(0.0, 0.004)
    for pose in poses:
        points.append(camera.scan(rays, pose, rng) @ (drift @ pose)[:3, :3].T + (drift @ pose)[:3, 3])
        step = np.eye(4)
        step[:3, :3] = Rotation.from_rotvec(rng.normal(0.0, angle, 3)).as_matrix()
        step[:3, 3] = pose[:3, 3] - step[:3, :3] @ pose[:3, 3] + rng.normal(0.0, shift, 3)
        drift = step @ drift
    points = np.concatenate(points)
    if len(points) == 0:
        return points
    keys = np.floor(points / FRAGMENT_VOXEL).astype(np.int64) + (1 << 20)
    _, index, hits = np.unique((keys[:, 0] << 42) | (keys[:, 1] << 21) | keys[:, 2], return_inverse=True, return_counts=True)
    sums = np.stack([np.bincount(index, weights=axis, minlength=len(hits)) for axis in points.T], axis=1)
    often = hits >= MIN_HITS
    return sums[often] / hits[often, None]


def camera_pose(position: np.ndarray, yaw: float, pitch: float, roll: float) -> np.ndarray:
    """T_world_sensor (4, 4) of a camera that looks along yaw and pitch (up is positive), radians."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("ZYX", [yaw, -pitch, roll]).as_matrix()
    pose[:3, 3] = position
    return pose


def _free_position(scene: Scene, rng: np.random.Generator) -> np.ndarray:
    for _ in range(50):
        position = rng.uniform(*scene.sensor_region)
        if not scene.solids.contain(position[None], margin=0.15).any():
            break
    return position


def _clip(scene: Scene, position: np.ndarray) -> np.ndarray:
    return np.clip(position, *scene.sensor_region)
