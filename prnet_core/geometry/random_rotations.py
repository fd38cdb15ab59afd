"""Random rotations as (3, 3) matrices (numpy)."""

import numpy as np
from scipy.spatial.transform import Rotation


def any_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniform over SO(3)."""
    return Rotation.random(None, rng).as_matrix()


def about_vertical(rng: np.random.Generator, max_vertical: float, max_other: float) -> np.ndarray:
    """Rotation about z by up to +-max_vertical, then about a random horizontal axis by up to max_other (radians)."""
    heading = rng.uniform(0.0, 2 * np.pi)
    tilt = rng.uniform(0.0, max_other) * np.array([np.cos(heading), np.sin(heading), 0.0])
    yaw = Rotation.from_rotvec([0, 0, rng.uniform(-max_vertical, max_vertical)])
    return (Rotation.from_rotvec(tilt) * yaw).as_matrix()


def about_any_axis(rng: np.random.Generator, max_angle: float) -> np.ndarray:
    """Axis uniform on the sphere, angle uniform in [0, max_angle] radians."""
    axis = rng.normal(size=3)
    return Rotation.from_rotvec(axis / np.linalg.norm(axis) * rng.uniform(0.0, max_angle)).as_matrix()
