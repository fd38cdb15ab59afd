"""Loops are closed: drift goes, and nothing is closed where there is nothing to close."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.mapping.builder import MapBuilder
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.keyframe_map import MapError
from prnet_core.mapping.merge import merge_maps
from prnet_core.registration import Registration
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.rooms import furnished_room
from prnet_core.simulation.two_scans import scan_from, sensor_pose

pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
SENSOR = SpinningLidar(channels=24, columns=240)


def poses_on_a_circle(count, radius):
    angles = np.linspace(0.0, 2.0 * np.pi, count)
    return [
        sensor_pose((radius * np.cos(a), radius * np.sin(a), 1.2), np.degrees(a)) for a in angles
    ]


@pytest.fixture(scope="module")
def room():
    return RayScene.from_solids(furnished_room(np.random.default_rng(2), (10.0, 8.0)))


def build(room, poses, drift, seed, config=None):
    rng = np.random.default_rng(seed)
    builder = MapBuilder(Registration(None), config or MappingConfig(keyframe_distance=0.05, closure_gap=6))
    odom = poses[0]
    for k, pose in enumerate(poses):
        if k:
            odom = odom @ se3.invert(poses[k - 1]) @ pose @ se3.exp(np.array([0, 0, 0, 0, 0, drift]))
        builder.add_scan(scan_from(SENSOR, room, pose, rng), odom, float(k), np.eye(6) * 1e-4)
    return builder


def test_a_loop_is_closed_and_the_drift_goes(room):
    poses = poses_on_a_circle(16, 1.6)
    builder = build(room, poses, drift=0.01, seed=0)
    end = len(poses) - 1
    before = np.linalg.norm(builder.odometry_poses[end][:3, 3] - poses[end][:3, 3])
    after = np.linalg.norm(builder.map.poses[end][:3, 3] - poses[end][:3, 3])
    assert len(builder.map.closures) >= 1
    assert before > 0.2 and after < 0.25 * before
    np.testing.assert_allclose(builder.T_map_odom @ builder.odometry_poses[end], builder.map.poses[end], atol=1e-9)


def test_two_maps_of_one_room_are_joined_and_those_of_two_rooms_refused(room):
    config = MappingConfig(keyframe_distance=0.1, closure_gap=50)
    first = build(room, poses_on_a_circle(8, 1.5), 0.0, 1, config).map
    second = build(room, poses_on_a_circle(7, 1.0), 0.0, 2, config)
    moved = se3.make_transform(se3.rotation_exp(np.array([0.0, 0.0, 1.0])), np.array([3.0, -2.0, 0.5]))
    second.map.poses = [moved @ pose for pose in second.map.poses]
    joined, T_first_second = merge_maps(first, second.map, Registration(None))
    assert len(joined) == len(first) + len(second.map)
    np.testing.assert_allclose(T_first_second @ moved, np.eye(4), atol=0.1)

    other = RayScene.from_solids(furnished_room(np.random.default_rng(9), (6.0, 4.0)))
    foreign = build(other, [sensor_pose((0.4 * k - 0.8, 0.0, 1.2), 0.0) for k in range(4)], 0.0, 3, config).map
    with pytest.raises(MapError, match="do not overlap enough"):
        merge_maps(first, foreign, Registration(None))
