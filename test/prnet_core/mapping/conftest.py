import numpy as np
import pytest

from prnet_core.mapping import KeyframeMap, MapKeyframe
from prnet_core.simulation.buildings import building
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.two_scans import scan_from, sensor_pose

SENSOR = SpinningLidar(channels=24, columns=240)


@pytest.fixture(scope="session")
def place():
    """Six rooms on one floor, two of them equal."""
    return building(3, rooms_a_side=3, floors=1, num_twins=2)


@pytest.fixture(scope="session")
def scan_at(place):
    """scan_at(room, x, y, yaw_deg, seed) -> points (N, 3) and T_world_sensor of a scan near the middle of a room."""
    scene = place.scene(moving=False)

    def scan(room, x, y, yaw_deg, seed=0):
        pose = sensor_pose(place.rooms[room] + [x, y, 1.3], yaw_deg)
        return scan_from(SENSOR, scene, pose, np.random.default_rng(seed)), pose

    return scan


@pytest.fixture(scope="session")
def building_map(place, scan_at):
    """Three keyframes in every room."""
    keyframe_map = KeyframeMap()
    for room in range(len(place.rooms)):
        for k, (x, y) in enumerate([(0.0, 0.0), (0.8, 0.5), (-0.8, -0.5)]):
            points, pose = scan_at(room, x, y, 40.0 * k, seed=10 * room + k)
            keyframe_map.add(MapKeyframe(points.astype(np.float32), float(len(keyframe_map))), pose)
    return keyframe_map
