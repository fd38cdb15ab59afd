"""Simulated sensors in procedural scenes: a spinning LiDAR and a depth camera, with their typical faults."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry.subsets import at_most
from prnet_core.simulation.scene_builder import Scene
from prnet_core.simulation.views import spherical, unit

MAX_RAYS = 8000
"""Rays per scan; many more than the points the network gets."""


@dataclass(frozen=True)
class Scanner:
    """Directions in the sensor's frame (x forward, y left, z up), and the faults of the ranges (metres)."""

    directions: np.ndarray  # (R, 3) unit length
    min_range: float
    max_range: float
    noise: float  # standard deviation, constant part
    noise_at_squared_range: float  # part that grows with the squared range, as a depth camera's
    dropout: float  # share of returns lost at random
    field_of_view: float  # horizontal, radians

    def scan(self, scene: Scene, position: np.ndarray, rotation: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Points (N, 3) in the world seen from position (3,) with rotation (3, 3) sensor -> world."""
        rays = self.directions @ rotation.T
        ranges = scene.rays.cast(position, rays).distance
        returned = (ranges > self.min_range) & (ranges < self.max_range) & (rng.random(len(rays)) >= self.dropout)
        rays, ranges = rays[returned], ranges[returned]
        ranges = ranges + rng.normal(size=len(ranges)) * (self.noise + self.noise_at_squared_range * ranges**2)
        return position + rays * ranges[:, None]


def random_lidar(rng: np.random.Generator, max_rays: int = MAX_RAYS) -> Scanner:
    """16 to 128 rings over +-15 to 45 degrees, or downwards as on a car; sometimes a blocked sector."""
    rings = int(rng.choice([16, 32, 64, 128]))
    top = np.radians(rng.choice([15.0, 16.6, 22.5, 45.0, 45.0]))
    bottom = -top
    if rng.random() < 0.2:
        top, bottom = np.radians(3.0), np.radians(-25.0)
    columns = 4096 // rings * 4
    elevation, azimuth = np.meshgrid(
        np.linspace(bottom, top, rings), np.arange(columns) * 2 * np.pi / columns, indexing="ij"
    )
    azimuth = azimuth + rng.uniform(0.0, 2 * np.pi / columns, (rings, 1))
    if rng.random() < 0.3:  # the operator's or the robot's own body
        start, width = rng.uniform(0, 2 * np.pi), np.radians(rng.uniform(20.0, 120.0))
        visible = (azimuth - start) % (2 * np.pi) > width
        elevation, azimuth = elevation[visible], azimuth[visible]
    return Scanner(
        directions=at_most(spherical(elevation.ravel(), azimuth.ravel()), max_rays, rng),
        min_range=rng.uniform(0.3, 2.0),
        max_range=rng.choice([15.0, 30.0, 60.0, 100.0]),
        noise=rng.uniform(0.003, 0.03),
        noise_at_squared_range=0.0,
        dropout=rng.uniform(0.0, 0.2),
        field_of_view=2 * np.pi,
    )


def random_depth_camera(rng: np.random.Generator) -> Scanner:
    """A pinhole depth camera of 55 to 95 degrees, 4 to 10 metres; its noise grows with the squared range."""
    half_width = np.tan(np.radians(rng.uniform(55.0, 95.0)) / 2)
    half_height = half_width * rng.uniform(0.56, 0.8)
    v, u = np.meshgrid(np.linspace(-half_height, half_height, 80), np.linspace(-half_width, half_width, 100))
    directions = np.stack([np.ones_like(u), -u, -v], axis=-1).reshape(-1, 3)
    return Scanner(
        directions=at_most(unit(directions), MAX_RAYS, rng),
        min_range=rng.uniform(0.2, 0.6),
        max_range=rng.uniform(4.0, 10.0),
        noise=rng.uniform(0.001, 0.003),
        noise_at_squared_range=rng.uniform(0.0005, 0.003),
        dropout=rng.uniform(0.0, 0.2),
        field_of_view=2 * np.arctan(half_width),
    )
