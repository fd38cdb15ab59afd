"""How far a sensor measures precisely, by one scan."""

import numpy as np
import pytest

from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import precise_points
from prnet_core.registration.range_noise import precise_range
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.rooms import table_place
from prnet_core.simulation.two_scans import room_pair, scan_from, sensor_pose


def room(noise):
    """Rays in all directions to the walls of a room of 8 x 6 x 3 m, with the range's noise (m) as a function of it."""
    rng = np.random.default_rng(0)
    rays = rng.normal(size=(12_000, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    ranges = (np.array([4.0, 3.0, 1.5]) / np.abs(rays)).min(axis=1)
    return rays * (ranges + noise(ranges) * rng.normal(size=len(rays)))[:, None]


def table_scans(angle_deg=15.0):
    """Two scans of a table by a noisy stereo camera, and the transform from the second to the first."""
    place, camera = table_place(2), DepthCamera.table_top_stereo()
    scene, rng = place.scene(), np.random.default_rng(1)
    poses = []
    for angle in np.radians([0.0, angle_deg]):
        yaw = np.degrees(angle)
        body = sensor_pose((1.1 * np.cos(angle), 1.1 * np.sin(angle), 1.25), yaw + 90.0)
        poses.append(body @ place.camera_view())
    scans = [scan_from(camera, scene, pose, rng) for pose in poses]
    return scans, np.linalg.inv(poses[0]) @ poses[1]


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_noise_that_grows_with_the_square_of_range_limits_the_range_at_any_scale(scale):
    assert 1.2 < precise_range(scale * room(lambda r: 0.01 * r**2)) / scale < 2.2


@pytest.mark.parametrize("noise", [lambda r: 0.02, lambda r: 0.004 * r, lambda r: 0.002 * r**2])
def test_the_range_of_other_sensors_is_not_limited(noise):
    points = room(noise)
    assert precise_range(points) > np.linalg.norm(points, axis=1).max()


def test_a_simulated_lidar_is_not_limited():
    assert precise_range(room_pair(0, 135.0).source) == np.inf


def test_points_without_an_origin_all_remain():
    points = room(lambda r: 0.01 * r**2)
    config = RegistrationConfig()
    assert len(precise_points(points, config, None)) == len(points)
    assert 0.2 * len(points) < len(precise_points(points, config, np.zeros(3))) < 0.8 * len(points)


def test_a_few_points_are_not_limited():
    assert precise_range(np.random.default_rng(0).normal(size=(50, 3))) == np.inf
    assert precise_range(np.zeros((500, 3))) == np.inf


def test_scans_of_a_table_by_a_noisy_stereo_camera_are_registered_and_accepted():
    (target, source), T_target_source = table_scans()
    result = Registration(None).register(
        source, target, T_target_source, source_origin=np.zeros(3), target_origin=np.zeros(3)
    )
    assert result.status == "accepted", result.reason
    error = np.linalg.inv(T_target_source) @ result.T_target_source
    assert np.linalg.norm(error[:3, 3]) < 0.03
    assert np.arccos(np.clip((np.trace(error[:3, :3]) - 1) / 2, -1, 1)) < np.radians(2.0)
