"""A scene of solids, and the builder that places random parts in it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.solids import Solids, SolidsBuilder


@dataclass(frozen=True)
class Scene:
    """Solids, and the corners (2, 3) of the region where sensors are put."""

    solids: Solids
    sensor_region: np.ndarray

    @cached_property
    def rays(self) -> RayScene:
        """The solids ready for ray casting."""
        return RayScene.from_solids(self.solids)


class SceneBuilder(SolidsBuilder):
    """Collects the solids of a random scene; its parts draw their random numbers from `rng`."""

    def __init__(self, rng: np.random.Generator):
        super().__init__()
        self.rng = rng

    def build(self, sensor_region) -> Scene:
        """The scene; sensor_region (2, 3) holds the corners of the box for sensors."""
        return Scene(self.solids(), np.asarray(sensor_region, float))
