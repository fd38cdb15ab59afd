"""A simulated depth camera with the typical faults of structured light and stereo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from prnet_core.simulation.lidar import RESOLUTION
from prnet_core.simulation.moving_scene import MovingScene, Trajectory
from prnet_core.simulation.ray_scene import RayScene

OPTICAL = np.array([[0.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Pose (4, 4) of a camera's optical frame (z forward, x right) in a frame with x forward and z up."""


@dataclass(frozen=True)
class DepthCamera:
    """A pinhole depth camera in its optical frame (z forward, x right, y down), all pixels at once.

    Lengths in metres. The depth is disparity_scale / disparity; `disparity_scale` is the focal length times the
    baseline of the matcher (pixels times metres). The disparity's noise, in pixels, is `disparity_noise` of each pixel
    and `shared_noise` that is correlated over `shared_pixels`; the disparity is rounded to 1 / `subpixels`. Pixels at
    a step in depth of more than `edge` are lost; a share `bleeding` of them get a depth between both sides instead.
    `holes` is the share of the image lost in patches.
    """

    width: int = 160
    height: int = 120
    focal: float = 135.0
    min_depth: float = 0.5
    max_depth: float = 6.0
    disparity_noise: float = 0.12
    disparity_scale: float = 350.0
    subpixels: float = 8.0
    shared_noise: float = 0.0
    shared_pixels: float = 2.5
    dropout: float = 0.01
    edge: float = 0.15
    bleeding: float = 0.0
    holes: float = 0.0
    grazing_deg: float = 80.0

    @staticmethod
    def kinect_like() -> DepthCamera:
        """320 x 240, 58 degrees wide, 0.5 to 4.5 m; about 3 mm of noise at 1 m and 12 mm at 2 m."""
        return DepthCamera(
            320, 240, focal=288.0, max_depth=4.5, disparity_noise=0.1, disparity_scale=43.5, dropout=0.02
        )  # fmt: skip

    @staticmethod
    def table_top_stereo() -> DepthCamera:
        """320 x 240, 80 degrees wide, 0.2 to 3 m: strong correlated noise, holes, bleeding edges.

        About 7 mm of noise at 0.6 m and 20 mm at 1 m.
        """
        return DepthCamera(
            320, 240, focal=190.0, min_depth=0.2, max_depth=3.0, disparity_noise=0.12, shared_noise=0.33,
            disparity_scale=19.0, subpixels=32.0, dropout=0.03, edge=0.06, bleeding=0.6, holes=0.08,
        )  # fmt: skip

    def frame(
        self, scene: RayScene | MovingScene, T_world_camera: np.ndarray, random: np.random.Generator, time: float = 0.0
    ) -> np.ndarray:
        """Points (height, width, 3) float32 in the optical frame at `time`, NaN where nothing was measured."""
        plane = self._image_plane()
        rays = plane.reshape(-1, 3) @ T_world_camera[:3, :3].T
        origin = np.broadcast_to(T_world_camera[:3, 3], rays.shape)
        hits = scene.cast(origin, rays, np.full(len(rays), time))
        depth, cosine = hits.distance.reshape(plane.shape[:2]), hits.cos_incidence.reshape(plane.shape[:2])
        edges = self._edges(depth)
        seen = cosine > np.cos(np.deg2rad(self.grazing_deg))
        depth, lost = self._bleed(depth, edges, random) if self.bleeding else (depth, edges)
        disparity = self.disparity_scale / depth + self._noise(depth.shape, random)
        measured = self.disparity_scale * self.subpixels / np.maximum(np.round(disparity * self.subpixels), 1.0)
        seen &= (depth > self.min_depth) & (depth < self.max_depth) & ~lost
        seen &= random.random(depth.shape) >= self.dropout
        if self.holes:
            seen &= ~self._hole_mask(depth.shape, random)
        points = np.where(seen[..., None], measured[..., None] * plane, np.nan)
        return (np.round(points / RESOLUTION) * RESOLUTION).astype(np.float32)

    def scan(
        self, scene: RayScene | MovingScene, trajectory: Trajectory, start: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The measured points (N, 3) of a frame at `start`, as `SpinningLidar.scan`; their times (N,) are 0."""
        points = self.frame(scene, trajectory(np.float64(start)), random, start).reshape(-1, 3)
        points = points[np.isfinite(points).all(axis=1)]
        return points, np.zeros(len(points))

    def _image_plane(self) -> np.ndarray:
        """Rays (height, width, 3) with z = 1."""
        columns, rows = np.meshgrid(np.arange(self.width), np.arange(self.height))
        x = (columns - (self.width - 1) / 2.0) / self.focal
        y = (rows - (self.height - 1) / 2.0) / self.focal
        return np.stack([x, y, np.ones(columns.shape)], axis=-1)

    def _noise(self, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
        noise = random.normal(0.0, self.disparity_noise, shape)
        if self.shared_noise:
            noise += self.shared_noise * _smooth(random.normal(size=shape), self.shared_pixels)
        return noise

    def _edges(self, depth: np.ndarray) -> np.ndarray:
        """Pixels on either side of a step in depth."""
        finite = np.where(np.isfinite(depth), depth, 1e3)
        jump = np.zeros(depth.shape, dtype=bool)
        for axis in (0, 1):
            step = np.abs(np.diff(finite, axis=axis)) > self.edge
            before = [(0, 1) if a == axis else (0, 0) for a in (0, 1)]
            after = [(1, 0) if a == axis else (0, 0) for a in (0, 1)]
            jump |= np.pad(step, before) | np.pad(step, after)
        return jump

    def _bleed(
        self, depth: np.ndarray, edges: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Depths with a share of the edge pixels between both sides, and the edge pixels that are lost."""
        finite = np.where(np.isfinite(depth), depth, 2.0 * self.max_depth)
        padded = np.pad(finite, 1, mode="edge")
        around = np.stack([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
        share = random.random(depth.shape)
        between = share * around.min(axis=0) + (1.0 - share) * around.max(axis=0)
        bleeding = edges & (random.random(depth.shape) < self.bleeding)
        return np.where(bleeding, between, depth), edges & ~bleeding

    def _hole_mask(self, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
        field = _smooth(random.normal(size=shape), 6.0)
        return field < np.quantile(field, self.holes)


def _smooth(noise: np.ndarray, pixels: float) -> np.ndarray:
    """White noise smoothed over `pixels`, with the same standard deviation."""
    return gaussian_filter(noise, pixels, mode="wrap") * (2.0 * np.sqrt(np.pi) * pixels)
