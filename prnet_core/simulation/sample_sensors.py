"""A spinning LiDAR and a depth camera, by ray casting, with the faults of real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import open3d as o3d

Scene = o3d.t.geometry.RaycastingScene
Motion = Callable[[np.ndarray], np.ndarray]
"""T_map_sensor (N, 4, 4) at times (N,) in seconds."""

RESOLUTION = 1.0 / 1024.0
"""Coordinates are rounded to this many metres: float32 with short mantissas packs to half the size."""


@dataclass(frozen=True)
class SpinningLidar:
    """Each column is measured at its own time, from where the sensor then is: the scan is distorted by the motion.

    Angles in degrees, lengths in metres, times in seconds.
    """

    channels: int = 32
    columns: int = 360
    lowest_deg: float = -32.0
    highest_deg: float = 32.0
    sweep: float = 0.1
    max_range: float = 20.0
    range_noise: float = 0.008
    dropout: float = 0.02
    grazing_deg: float = 82.0

    def scan(
        self, scene: Scene, motion: Motion, start: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """One sweep: points (N, 3) float32 as measured, each in the sensor's frame at its own time, and those
        times (N,) after `start`. Columns follow one another; lost returns are left out."""
        column_times = np.arange(self.columns) * (self.sweep / self.columns)
        T_map_sensor = motion(start + column_times)
        directions = self._directions()
        origins = np.broadcast_to(T_map_sensor[:, None, :3, 3], directions.shape)
        rays = np.concatenate(
            [origins, np.einsum("cij,crj->cri", T_map_sensor[:, :3, :3], directions)], axis=-1
        )
        distance, slant_deg = _cast(scene, rays)
        measured = distance + random.normal(0.0, self.range_noise, distance.shape)
        seen = (distance < self.max_range) & (slant_deg < self.grazing_deg)
        seen &= random.random(distance.shape) >= self.dropout
        points = np.where(seen, measured, 0.0)[..., None] * directions
        times = np.broadcast_to(column_times[:, None], distance.shape)
        return _rounded(points[seen]), times[seen]

    def _directions(self) -> np.ndarray:
        """Unit vectors (columns, channels, 3); turning clockwise from straight behind, as seen from above."""
        azimuth = np.pi - np.arange(self.columns) * (2.0 * np.pi / self.columns)
        elevation = np.deg2rad(np.linspace(self.lowest_deg, self.highest_deg, self.channels))
        azimuth, elevation = np.meshgrid(azimuth, elevation, indexing="ij")
        flat = np.cos(elevation)
        return np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=-1)


@dataclass(frozen=True)
class DepthCamera:
    """A pinhole depth camera in its optical frame (z forward, x right, y down), all pixels at once.

    Lengths in metres. The depth is rounded as a disparity is, and lost at the edges of things, like a Kinect's.
    """

    width: int = 160
    height: int = 120
    focal: float = 135.0
    min_depth: float = 0.5
    max_depth: float = 6.0
    disparity_noise: float = 0.12
    disparity_scale: float = 350.0
    dropout: float = 0.01
    edge: float = 0.15

    def frame(self, scene: Scene, T_map_camera: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Points (height, width, 3) float32, NaN where nothing was measured."""
        columns, rows = np.meshgrid(np.arange(self.width), np.arange(self.height))
        plane = np.stack(
            [
                (columns - (self.width - 1) / 2.0) / self.focal,
                (rows - (self.height - 1) / 2.0) / self.focal,
                np.ones(columns.shape),
            ],
            axis=-1,
        )
        origins = np.broadcast_to(T_map_camera[:3, 3], plane.shape)
        depth, slant_deg = _cast(scene, np.concatenate([origins, plane @ T_map_camera[:3, :3].T], axis=-1))
        disparity = self.disparity_scale / depth + random.normal(0.0, self.disparity_noise, depth.shape)
        measured = self.disparity_scale * 8.0 / np.maximum(np.round(disparity * 8.0), 1.0)
        seen = (depth > self.min_depth) & (depth < self.max_depth) & (slant_deg < 80.0) & ~self._edges(depth)
        seen &= random.random(depth.shape) >= self.dropout
        return _rounded(np.where(seen[..., None], measured[..., None] * plane, np.nan))

    def _edges(self, depth: np.ndarray) -> np.ndarray:
        finite = np.where(np.isfinite(depth), depth, 1e3)
        jump = np.zeros(depth.shape, dtype=bool)
        for axis in (0, 1):
            step = np.abs(np.diff(finite, axis=axis)) > self.edge
            before = [(0, 1) if a == axis else (0, 0) for a in (0, 1)]
            after = [(1, 0) if a == axis else (0, 0) for a in (0, 1)]
            jump |= np.pad(step, before) | np.pad(step, after)
        return jump


def _cast(scene: Scene, rays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Length of each ray (..., 6) in units of its direction (inf without a hit), and the angle between the ray and
    the normal of what it hits, in degrees."""
    hits = scene.cast_rays(o3d.core.Tensor(rays.astype(np.float32)))
    distance = hits["t_hit"].numpy().astype(float)
    direction = rays[..., 3:] / np.linalg.norm(rays[..., 3:], axis=-1, keepdims=True)
    cosine = np.abs(np.sum(hits["primitive_normals"].numpy() * direction, axis=-1))
    return distance, np.rad2deg(np.arccos(np.clip(cosine, 0.0, 1.0)))


def _rounded(points: np.ndarray) -> np.ndarray:
    return (np.round(points / RESOLUTION) * RESOLUTION).astype(np.float32)
