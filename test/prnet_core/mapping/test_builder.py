"""Loop closures remove drift, and none is found where there is no loop."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.mapping.builder import MapBuilder
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError, MapKeyframe, PoseConstraint
from prnet_core.mapping.merge import merge_maps
from prnet_core.registration import Registration
from prnet_core.registration.range_noise import precise_range
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.rooms import furnished_room, table_place
from prnet_core.simulation.two_scans import scan_from, sensor_pose

pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
SENSOR = SpinningLidar(channels=24, columns=240)


def poses_on_a_circle(count, radius):
    angles = np.linspace(0.0, 2.0 * np.pi, count)
    return [sensor_pose((radius * np.cos(a), radius * np.sin(a), 1.2), np.degrees(a)) for a in angles]


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


def test_at_the_limit_the_most_redundant_keyframes_go_and_the_loop_stays_closed(room):
    poses = poses_on_a_circle(16, 1.6)
    config = MappingConfig(keyframe_distance=0.05, closure_gap=6, max_keyframes=12)
    builder = build(room, poses, drift=0.01, seed=0, config=config)
    built = builder.map
    assert len(built) == len(builder.odometry_poses) == 12 and builder.num_dropped == 4
    assert built.keyframes[0].stamp == 0.0 and built.keyframes[-1].stamp == 15.0
    chain = [(c.first, c.second) for c in built.constraints if not c.is_closure]
    assert sorted(chain) == [(k, k + 1) for k in range(11)]
    assert built.closures and all(0 <= c.first < c.second < 12 for c in built.closures)
    for frame, pose in zip(built.keyframes, built.poses):
        assert np.linalg.norm(pose[:3, 3] - poses[int(frame.stamp)][:3, 3]) < 0.1


def test_a_dropped_keyframe_leaves_its_measurements():
    poses = [se3.exp(np.array([float(k), 0.3 * k, 0.0, 0.0, 0.1, 0.4 * k])) for k in range(4)]
    keyframe_map = KeyframeMap()
    for k, pose in enumerate(poses):
        keyframe_map.add(MapKeyframe(np.ones((1, 3), dtype=np.float32), float(k)), pose)

    def constraint(first, second, is_closure=False):
        return PoseConstraint(first, second, se3.invert(poses[first]) @ poses[second], np.eye(6), is_closure)

    keyframe_map.constraints = [constraint(0, 1), constraint(1, 2), constraint(2, 3), constraint(0, 2, True)]
    keyframe_map.remove(2)
    found = [(c.first, c.second, c.is_closure) for c in keyframe_map.constraints]
    assert found == [(0, 1, False), (1, 2, False), (0, 1, True)] and len(keyframe_map) == 3
    for c in keyframe_map.constraints:
        expected = keyframe_map.poses[c.second]
        np.testing.assert_allclose(keyframe_map.poses[c.first] @ c.T_first_second, expected, atol=1e-9)


def test_two_maps_of_one_room_are_joined_and_those_of_two_rooms_refused(room):
    """Few keyframes: each is searched for in the whole first map."""
    config = MappingConfig(keyframe_distance=0.1, closure_gap=50)
    first = build(room, poses_on_a_circle(5, 1.5), 0.0, 1, config).map
    second = build(room, poses_on_a_circle(4, 1.0)[:3], 0.0, 2, config)
    moved = se3.make_transform(se3.rotation_exp(np.array([0.0, 0.0, 1.0])), np.array([3.0, -2.0, 0.5]))
    second.map.poses = [moved @ pose for pose in second.map.poses]
    joined, T_first_second = merge_maps(first, second.map, Registration(None))
    assert len(joined) == len(first) + len(second.map)
    np.testing.assert_allclose(T_first_second @ moved, np.eye(4), atol=0.1)

    other = RayScene.from_solids(furnished_room(np.random.default_rng(9), (6.0, 4.0)))
    foreign = build(other, [sensor_pose((0.4 * k - 0.8, 0.0, 1.2), 0.0) for k in range(3)], 0.0, 3, config).map
    with pytest.raises(MapError, match="do not overlap enough"):
        merge_maps(first, foreign, Registration(None))


def test_keyframes_of_a_noisy_stereo_camera_have_its_precise_points():
    place, camera = table_place(2), DepthCamera.table_top_stereo()
    pose = sensor_pose((1.1, 0.0, 1.25), 90.0) @ place.camera_view()
    points = scan_from(camera, place.scene(), pose, np.random.default_rng(1))
    builder = MapBuilder(Registration(None))
    assert builder.add_scan(points, np.eye(4), 0.0, np.eye(6) * 1e-4)
    ranges, limit = np.linalg.norm(points, axis=1), precise_range(points)
    kept = np.linalg.norm(builder.map.keyframes[0].points, axis=1)
    assert kept.max() <= limit < ranges.max()
