"""Labelled pairs of simulated scans for the verification benchmark: one generator a kind of place and sensor."""

from collections.abc import Iterator

import numpy as np
from survey import Surveys
from surveys import ALL_SURVEYS, LIDAR_32

from prnet_core.simulation.buildings import building
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.moving_scene import MovingScene
from prnet_core.simulation.places import Place
from prnet_core.simulation.trajectories import PathTrajectory
from prnet_core.simulation.two_scans import (
    Sensor,
    TwoScans,
    corridor_pair,
    room_pair,
    scan_from,
    sensor_pose,
    two_scans,
)

NUM_RECORDINGS = 10


def room_pairs(seed: int = 0) -> Iterator[TwoScans]:
    """Twelve furnished rooms of four sizes; the second pose 0.6 m away, rotated by 135 or 180 degrees."""
    for room in range(12):
        for rotation_deg in (135.0, 180.0):
            yield room_pair(room, rotation_deg, seed)


def corridor_pairs(seed: int = 0) -> Iterator[TwoScans]:
    """Ten corridors, 1 to 4 m along them, in the same direction and rotated by 180 degrees."""
    for number in range(NUM_RECORDINGS):
        yield corridor_pair(number, 1.0 + 0.3 * number, 0.0, seed)
        yield corridor_pair(number, 1.0, 180.0, seed)


def survey_pairs(name: str, seed: int = 0, surveys: Surveys = ALL_SURVEYS) -> Iterator[TwoScans]:
    """Pairs of a survey in NUM_RECORDINGS places."""
    make_place, survey = surveys[name]
    for number in range(NUM_RECORDINGS):
        place = make_place(100 * seed + number)
        scene, rng = place.scene(), np.random.default_rng([seed, number, 40])
        path = _path(place)
        for _ in range(survey.pairs_a_recording):
            first = rng.uniform(0.0, path.length)
            second = first + rng.uniform(*survey.metres)
            target = _sensor_at(place, path, first, 0.0, survey.sensor, rng)
            source = _sensor_at(place, path, second, rng.uniform(-survey.degrees, survey.degrees), survey.sensor, rng)
            yield two_scans(place.name, survey.sensor, scene, target, source, rng, survey.seconds)


def single_scans(
    name: str, scans_a_place: int, seed: int = 0, surveys: Surveys = ALL_SURVEYS
) -> Iterator[tuple[str, list[tuple[np.ndarray, np.ndarray]]]]:
    """For each recording of a survey its name, and `scans_a_place` scans (points, T_world_sensor) along its path."""
    make_place, survey = surveys[name]
    for number in range(NUM_RECORDINGS):
        place = make_place(100 * seed + number)
        scene, rng = place.scene(), np.random.default_rng([seed, number, 41])
        path = _path(place)
        offsets = path.length * (np.arange(scans_a_place) + rng.random()) / scans_a_place
        poses = [_sensor_at(place, path, along, 0.0, survey.sensor, rng) for along in offsets]
        yield place.name, [(scan_from(survey.sensor, scene, pose, rng), pose) for pose in poses]


def twin_rooms(seed: int = 0) -> tuple[MovingScene, np.ndarray, np.ndarray]:
    """A building with eight equal rooms: its scene, the middles of the twins (8, 3) and of the other rooms (32, 3).

    A twin on the right of the corridor is the one on the left rotated by 180 degrees.
    """
    place = building(seed)
    is_twin = np.isin(np.arange(len(place.rooms)), place.twins)
    return place.scene(moving=False), place.rooms[is_twin], place.rooms[~is_twin]


def room_scan(scene: MovingScene, middle: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A scan with 32 rings near a room's middle, and T_world_sensor."""
    position = middle + rng.uniform((-0.6, -0.6, 1.0), (0.6, 0.6, 1.4))
    pose = sensor_pose(position, rng.uniform(-180.0, 180.0), tuple(rng.normal(0.0, 2.0, 2)))
    return scan_from(LIDAR_32, scene, pose, rng), pose


def _path(place: Place) -> PathTrajectory:
    """The place's path by metres: the distance takes the place of the time."""
    return PathTrajectory(place.path, lambda along: along, closed=True)


def _sensor_at(
    place: Place, path: PathTrajectory, along: float, yaw_deg: float, sensor: Sensor, rng: np.random.Generator
) -> np.ndarray:
    """T_world_sensor on the path, rotated by yaw_deg, with a handheld tilt and height."""
    body = path(np.float64(along)) @ sensor_pose((0.0, 0.0, 0.0), yaw_deg, tuple(rng.normal(0.0, 3.0, 2)))
    body[2, 3] += place.sensor_height + rng.normal(0.0, 0.05)
    return body @ place.camera_view() if isinstance(sensor, DepthCamera) else body
