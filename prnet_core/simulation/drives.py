"""Drives through simulated places: sequences of scans with exact ground truth."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from prnet_core.geometry import se3
from prnet_core.simulation.buildings import building, office
from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.garage import garage
from prnet_core.simulation.lidar import DomeLidar, NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.moving_scene import Trajectory
from prnet_core.simulation.outdoors import park, street
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room, table_place
from prnet_core.simulation.stairs import stairs
from prnet_core.simulation.trajectories import PathTrajectory, Sway, sensor_trajectory, steady, stop_and_go

PLACES: dict[str, Callable[[int], Place]] = {
    "street": street,
    "park": park,
    "office": office,
    "stairs": stairs,
    "garage": garage,
    "building": building,
    "closet": closet_and_hall,
    "crowd": crowded_room,
    "table": table_place,
}
SENSORS: dict[str, Callable[[], SpinningLidar | NonRepetitiveLidar | DepthCamera]] = {
    **{f"lidar{beams}": lambda beams=beams: SpinningLidar.with_beams(beams) for beams in (16, 32, 64, 128)},
    "livox": NonRepetitiveLidar,
    "livox360": DomeLidar,
    "kinect": DepthCamera.kinect_like,
    "stereo": DepthCamera.table_top_stereo,
}
LIDAR_RATE, CAMERA_RATE = 10.0, 30.0


class DriveScan(NamedTuple):
    """One scan of a drive.

    `scene` is the place's name. `index` counts scans from 0; a gap is a lost scan. `stamp` in seconds is the header's.
    points (N, 3) float32 in the sensor's frame, each at its own time: point_times (N,) in seconds after the scan's
    true start. T_world_sensor (4, 4) is the exact pose at the true start; the stamp differs from it by the jitter.
    """

    scene: str
    index: int
    stamp: float
    points: np.ndarray
    point_times: np.ndarray
    T_world_sensor: np.ndarray


class Drive:
    """A sensor on its trajectory through a place; the same arguments give the same scans.

    Iterating yields `DriveScan`s; `trajectory` gives the exact T_world_sensor at any time in seconds.
    """

    def __init__(
        self,
        place: Place,
        sensor: SpinningLidar | NonRepetitiveLidar | DepthCamera,
        num_scans: int,
        seed: int = 0,
        rate: float | None = None,
        moving_objects: bool = True,
        lost_share: float = 0.0,
        stamp_jitter: float = 0.0,
        stops: bool = False,
        num_bumps: int = 0,
    ) -> None:
        """num_scans: including lost ones, which are a random `lost_share`. rate: scans per second, by default 10 for
        LiDARs and 30 for cameras. stamp_jitter: standard deviation of the stamps in seconds. stops: stop and go every
        20 s instead of steady speed. num_bumps: speed bumps on the path. The path is a loop."""
        is_camera = isinstance(sensor, DepthCamera)
        self.place, self.sensor, self.num_scans, self.seed = place, sensor, num_scans, seed
        self.rate = rate or (CAMERA_RATE if is_camera else LIDAR_RATE)
        self._lost_share, self._stamp_jitter = lost_share, stamp_jitter
        self._scene = place.scene(moving_objects)
        travelled = stop_and_go(place.speed, 20.0) if stops else steady(place.speed)
        length = PathTrajectory(place.path, travelled, closed=True).length
        bumps = [(number + 0.4) * length / num_bumps for number in range(num_bumps)]
        sway = Sway(frequency=0.0, cycles_per_metre=1.8 / place.speed)
        body = PathTrajectory(place.path, travelled, closed=True, sway=sway, bumps=bumps)
        self.trajectory: Trajectory = sensor_trajectory(body, _extrinsics(place, is_camera))

    def __iter__(self) -> Iterator[DriveScan]:
        rng = np.random.default_rng([self.seed, 30])
        for index in range(self.num_scans):
            noise, is_lost = rng.spawn(1)[0], rng.random() < self._lost_share
            jitter = self._stamp_jitter * rng.normal()
            if not is_lost:
                yield self._scan(index, jitter, noise)

    def _scan(self, index: int, jitter: float, rng: np.random.Generator) -> DriveScan:
        start = index / self.rate
        points, times = self.sensor.scan(self._scene, self.trajectory, start, rng)
        pose = self.trajectory(np.float64(start))
        return DriveScan(self.place.name, index, start + jitter, points, times, pose)


def make_drive(place: str, sensor: str, num_scans: int, seed: int = 0, **options) -> Drive:
    """A drive through `PLACES[place]` with `SENSORS[sensor]`; `seed` chooses the place and the noise.

    `options` as in `Drive`. Raises ValueError for an unknown name.
    """
    for name, known in ((place, PLACES), (sensor, SENSORS)):
        if name not in known:
            raise ValueError(f"{name} is not known: {', '.join(known)}")
    return Drive(PLACES[place](seed), SENSORS[sensor](), num_scans, seed, **options)


def _extrinsics(place: Place, is_camera: bool) -> np.ndarray:
    """T_body_sensor (4, 4)."""
    T_body_sensor = se3.make_transform(np.eye(3), np.array([0.0, 0.0, place.sensor_height]))
    return T_body_sensor @ place.camera_view() if is_camera else T_body_sensor
