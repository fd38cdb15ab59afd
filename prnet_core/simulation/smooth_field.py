"""Smooth deformation of shapes: it makes many shapes of a few, and removes symmetries."""

import numpy as np

from prnet_core.simulation.views import unit

NUM_WAVES = 6


class SmoothField:
    """A displacement of space by a few sine waves of wavelengths between 0.4 and 3.

    `amplitude` is that of a wave of length 2; it is proportional to the wavelength.
    """

    def __init__(self, rng: np.random.Generator, amplitude: float):
        directions = _random_directions(rng)
        wavelengths = np.exp(rng.uniform(np.log(0.4), np.log(3.0), (NUM_WAVES, 1)))
        self.wave_vectors = directions * (2 * np.pi / wavelengths)
        self.phases = rng.uniform(0.0, 2 * np.pi, NUM_WAVES)
        self.displacements = _random_directions(rng) * amplitude * wavelengths / 2

    def apply(self, points: np.ndarray) -> np.ndarray:
        """(N, 3) -> (N, 3)."""
        return points + np.sin(points @ self.wave_vectors.T + self.phases) @ self.displacements


def _random_directions(rng: np.random.Generator) -> np.ndarray:
    return unit(rng.normal(size=(NUM_WAVES, 3)))
