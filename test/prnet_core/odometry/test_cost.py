"""What keeps a scan's time short and changes no result: fewer points of large scans, a map prepared beforehand."""

import numpy as np
from odometry_scenes import scan

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.deskew import CHUNK, deskew
from prnet_core.odometry.scale import SceneScale
from prnet_core.odometry.sweep import make_sweep
from prnet_core.registration import Registration, RegistrationConfig


def test_a_large_scan_keeps_all_far_points_and_an_even_share_of_each_surface():
    rng = np.random.default_rng(0)
    distance = np.r_[np.full(90_000, 2.0), np.full(9_000, 20.0), np.full(1_000, 200.0)]
    directions = rng.normal(size=(len(distance), 3))
    points = directions / np.linalg.norm(directions, axis=1, keepdims=True) * distance[:, None]
    times = rng.uniform(0.0, 0.1, len(points))
    sweep = make_sweep(points, times, RegistrationConfig(), None)
    limited = sweep.limited(12_000)
    assert 11_000 < len(limited) < 13_000
    ranges = np.linalg.norm(limited.points, axis=1).round()
    assert np.sum(ranges == 200.0) == 1_000 and np.sum(ranges == 20.0) > 8_500
    np.testing.assert_array_equal(limited.points, points[limited.rows])
    np.testing.assert_array_equal(limited.times, sweep.times[limited.rows])
    assert sweep.limited(len(points)) is sweep


def test_points_beyond_one_part_are_deskewed_too():
    rng = np.random.default_rng(0)
    twist = np.array([1.0, -0.5, 0.2, 0.3, -0.1, 2.0])
    points, times = rng.normal(size=(2 * CHUNK + 5, 3)), rng.uniform(-0.1, 0.1, 2 * CHUNK + 5)
    moved = deskew(points, times, twist)
    for row in (0, CHUNK - 1, CHUNK, 2 * CHUNK + 4):
        expected = se3.apply(se3.exp(twist * times[row]), points[row : row + 1])[0]
        np.testing.assert_allclose(moved[row], expected, atol=1e-12)


def test_a_map_prepared_beforehand_changes_no_result():
    config = OdometryConfig(max_scan_time=60.0)
    waiting, prepared = (ScanOdometry(Registration(None), config) for _ in range(2))
    prepared.prepare_next()  # before the first scan there is nothing to prepare
    for i in range(4):
        points, _ = scan(2 * i)
        expected = waiting.register_scan(points, 0.1 * i)
        update = prepared.register_scan(points, 0.1 * i)
        prepared.prepare_next()
        assert update.status == expected.status
        np.testing.assert_array_equal(update.T_odom_sensor, expected.T_odom_sensor)


def test_while_lost_the_voxel_size_is_chosen_again_only_when_the_scene_changes(monkeypatch):
    registration, chosen = Registration(None), []
    choose = registration.voxel_size_for
    monkeypatch.setattr(registration, "voxel_size_for", lambda *args: chosen.append(1) or choose(*args))
    near, far = (make_sweep(scale * scan(0)[0], None, registration.config, None) for scale in (1.0, 1.3))
    scene = SceneScale(registration)
    for sweep, is_lost, expected in (
        (near, False, 1),
        (far, False, 1),
        (far, True, 2),
        (far, True, 2),
        (near, True, 3),
    ):
        scene.update(sweep, is_lost)
        assert len(chosen) == expected
