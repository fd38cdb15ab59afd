"""A view: one scan of a place or an object in the world frame with the pose of its sensor."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3


@dataclass(frozen=True)
class View:
    """points (N, 3) in the world, and T_world_sensor (4, 4) of the sensor that saw them."""

    points: np.ndarray
    T_world_sensor: np.ndarray


def look_at_origin(camera: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """T_world_camera (4, 4), z forward, x right, y down, of a camera at (3,).

    The world's y axis is down in the image, except for a roll, which is mostly small.
    """
    forward = -unit(camera)
    right = np.cross([0.0, 1.0, 0.0], forward)
    right = unit(right) if np.linalg.norm(right) > 1e-3 else np.array([1.0, 0.0, 0.0])
    roll = rng.normal(0.0, np.radians(15.0)) if rng.random() < 0.7 else rng.uniform(-np.pi, np.pi)
    axes = np.stack([right, np.cross(forward, right), forward], axis=1)
    return se3.make_transform(axes @ Rotation.from_rotvec([0.0, 0.0, roll]).as_matrix(), camera)


def spherical(elevation: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    """Unit vectors (..., 3), x forward and z up, of elevations and azimuths (...) in radians."""
    cos = np.cos(elevation)
    return np.stack([cos * np.cos(azimuth), cos * np.sin(azimuth), np.sin(elevation)], axis=-1)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) scaled to length one."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
