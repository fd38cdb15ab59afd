"""Simulated LiDARs: every point is measured at its own time, from where the sensor then is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prnet_core.simulation.moving_scene import MovingScene, Trajectory
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.views import spherical

RESOLUTION = 1.0 / 1024.0
"""Coordinates are rounded to this many metres: float32 with short mantissas packs to half the size."""


@dataclass(frozen=True)
class SpinningLidar:
    """A spinning LiDAR with evenly spaced rings; the columns of a sweep are measured one after the other.

    Angles in degrees, lengths in metres, times in seconds. The range's noise has a constant part `range_noise` and one
    that grows with the range (standard deviations). Surfaces whose normal is more than `grazing_deg` from the ray
    return nothing.
    """

    channels: int = 32
    columns: int = 360
    lowest_deg: float = -32.0
    highest_deg: float = 32.0
    sweep: float = 0.1
    min_range: float = 0.0
    max_range: float = 20.0
    range_noise: float = 0.008
    range_noise_per_metre: float = 0.0
    dropout: float = 0.02
    grazing_deg: float = 82.0

    @staticmethod
    def with_beams(channels: int) -> SpinningLidar:
        """A typical sensor of 16, 32, 64 or 128 beams at 10 Hz. Raises ValueError for another number."""
        models = {16: (1800, -15.0, 15.0), 32: (1024, -25.0, 15.0), 64: (1024, -22.5, 22.5), 128: (1024, -22.5, 22.5)}
        if channels not in models:
            raise ValueError(f"{channels} beams: known are {', '.join(map(str, models))}")
        columns, lowest, highest = models[channels]
        return SpinningLidar(
            channels,
            columns,
            lowest,
            highest,
            min_range=0.5,
            max_range=100.0,
            range_noise=0.01,
            range_noise_per_metre=0.0004,
            grazing_deg=86.0,
        )

    def scan(
        self, scene: RayScene | MovingScene, trajectory: Trajectory, start: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """One sweep: points (N, 3) float32 as measured, each in the sensor's frame at its own time, and those
        times (N,) in seconds after `start`. `trajectory` gives T_world_sensor. Lost returns are left out."""
        column_times = np.arange(self.columns) * (self.sweep / self.columns)
        T_world_sensor = trajectory(start + column_times)
        directions = self._directions()
        rays = np.einsum("cij,crj->cri", T_world_sensor[:, :3, :3], directions, optimize=True).reshape(-1, 3)
        origins = np.repeat(T_world_sensor[:, :3, 3], self.channels, axis=0)
        times = np.repeat(column_times, self.channels)
        points, seen = measured_points(self, scene, origins, rays, start + times, directions.reshape(-1, 3), random)
        return points, times[seen]

    def _directions(self) -> np.ndarray:
        """Unit vectors (columns, channels, 3); turning clockwise from straight behind, as seen from above."""
        azimuth = np.pi - np.arange(self.columns) * (2.0 * np.pi / self.columns)
        elevation = np.deg2rad(np.linspace(self.lowest_deg, self.highest_deg, self.channels))
        azimuth, elevation = np.meshgrid(azimuth, elevation, indexing="ij")
        return spherical(elevation, azimuth)


@dataclass(frozen=True)
class NonRepetitiveLidar:
    """A Livox-like solid-state LiDAR: two prisms draw a rosette that differs from scan to scan.

    Angles in degrees, lengths in metres, times in seconds. The field of view is a cone about x.
    """

    points: int = 20000
    field_of_view_deg: float = 70.0
    prism_hz: tuple[float, float] = (257.93, -243.15)
    sweep: float = 0.1
    min_range: float = 0.5
    max_range: float = 100.0
    range_noise: float = 0.01
    range_noise_per_metre: float = 0.0004
    dropout: float = 0.02
    grazing_deg: float = 86.0

    def scan(
        self, scene: RayScene | MovingScene, trajectory: Trajectory, start: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """One frame, as `SpinningLidar.scan`."""
        times = np.arange(self.points) * (self.sweep / self.points)
        T_world_sensor = trajectory(start + times)
        directions = self._directions(start + times)
        rays = np.einsum("rij,rj->ri", T_world_sensor[:, :3, :3], directions)
        points, seen = measured_points(self, scene, T_world_sensor[:, :3, 3], rays, start + times, directions, random)
        return points, times[seen]

    def _directions(self, times: np.ndarray) -> np.ndarray:
        """Unit vectors (N, 3): the deflections of two equal prisms that turn at different rates add up."""
        first, second = (2.0 * np.pi * rate * times for rate in self.prism_hz)
        half = np.deg2rad(self.field_of_view_deg) / 4.0
        azimuth, elevation = half * (np.cos(first) + np.cos(second)), half * (np.sin(first) + np.sin(second))
        return spherical(elevation, azimuth)


@dataclass(frozen=True)
class DomeLidar(NonRepetitiveLidar):
    """A Livox-like LiDAR that sees all around, between two elevations; its pattern differs from scan to scan."""

    min_range: float = 0.1
    max_range: float = 40.0
    elevations_deg: tuple[float, float] = (-7.0, 52.0)
    rates_hz: tuple[float, float] = (32.7, 487.3)
    """Rotations, and nods between the elevations."""

    def _directions(self, times: np.ndarray) -> np.ndarray:
        azimuth = 2.0 * np.pi * self.rates_hz[0] * times
        lowest, highest = np.deg2rad(self.elevations_deg)
        nod = np.abs(2.0 * (self.rates_hz[1] * times % 1.0) - 1.0)
        return spherical(lowest + (highest - lowest) * nod, azimuth)


def measured_points(
    lidar: SpinningLidar | NonRepetitiveLidar,
    scene: RayScene | MovingScene,
    origins: np.ndarray,
    rays: np.ndarray,
    times: np.ndarray,
    directions: np.ndarray,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, 3) float32 in the sensor's frame, and which of the R rays (R,) returned.

    origins and rays (R, 3) in the world at times (R,); directions (R, 3) are the unit rays in the sensor's frame.
    """
    distance, cosine = scene.cast(origins, rays, times)
    noise = random.normal(0.0, lidar.range_noise, distance.shape)
    if lidar.range_noise_per_metre:
        finite = np.where(np.isfinite(distance), distance, 0.0)
        noise += random.normal(0.0, 1.0, distance.shape) * lidar.range_noise_per_metre * finite
    seen = (distance < lidar.max_range) & (distance >= lidar.min_range)
    seen &= cosine > np.cos(np.deg2rad(lidar.grazing_deg))
    seen &= random.random(distance.shape) >= lidar.dropout
    points = (distance[seen] + noise[seen])[:, None] * directions[seen]
    return (np.round(points / RESOLUTION) * RESOLUTION).astype(np.float32), seen
