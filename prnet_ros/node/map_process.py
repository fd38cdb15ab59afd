"""Messages between the node and the map process."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.tracker import MapPose
from prnet_core.registration import RegistrationConfig


@dataclass(frozen=True)
class MapSetup:
    """Settings that the process receives at its start.

    folder: of the saved map; empty: a map is built. checkpoint: folder that keeps the map while it is built, so that a
    restarted process continues it.
    """

    title: ClassVar[str] = "the map process"
    folder: str
    weights: str
    device: str
    num_threads: int
    registration: RegistrationConfig
    mapping: MappingConfig = field(default_factory=MappingConfig)
    checkpoint: str = ""

    def make_server(self):
        """The object whose methods the process serves."""
        from prnet_ros.node.map_server import LocalizationServer, MappingServer

        return LocalizationServer(self) if self.folder else MappingServer(self)


@dataclass(frozen=True)
class LoadedMap:
    """The map that the process has loaded, or read from a checkpoint.

    megabytes: memory of the points. problem: why there is no map; note: further information, both as text.
    """

    num_keyframes: int
    megabytes: float
    problem: str = ""
    note: str = ""


@dataclass(frozen=True)
class MapScan:
    """A scan that the odometry has registered: points (N, 3) float32, metres, in the sensor's frame.

    T_odom_sensor: (4, 4) in the odometry's map of keyframes, expressed in the published odometry frame. trajectory:
    number of that map. covariance: (6, 6) of the registration, or None. T_base_sensor: (4, 4) extrinsics.
    T_map_base_guess: (4, 4), an initial pose that this scan is to confirm, or None.
    """

    points: np.ndarray
    stamp: float
    T_odom_sensor: np.ndarray
    trajectory: int
    covariance: np.ndarray | None
    T_base_sensor: np.ndarray
    T_map_base_guess: np.ndarray | None = None


@dataclass(frozen=True)
class MapAnswer:
    """Answer to a scan or a search. megabytes: memory of the map's points."""

    pose: MapPose
    num_keyframes: int
    megabytes: float
    num_closures: int = 0
