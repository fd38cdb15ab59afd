"""A registration method as the tables see it, and the trivial methods."""

from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3


class Method(Protocol):
    """A method that registers one pair."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """source (N, 3), target (M, 3) in the unit sphere -> T_target_source (4, 4) float64."""
        ...


class Identity:
    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.eye(4)


class ConstantRotation:
    """The mean of the protocol's rotation range (22.5 degrees about each axis), no translation."""

    T_target_source = se3.make_transform(Rotation.from_euler("XYZ", [22.5] * 3, degrees=True).as_matrix(), np.zeros(3))

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return self.T_target_source


class Centroid:
    """The translation that aligns the centroids, no rotation."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        translation = target.mean(axis=0, dtype=np.float64) - source.mean(axis=0, dtype=np.float64)
        return se3.make_transform(np.eye(3), translation)
