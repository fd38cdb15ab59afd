"""Scans with few rings: their normals, and a drive with them."""

from dataclasses import replace

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry import ScanOdometry
from prnet_core.odometry.ring_normals import without_ring_planes
from prnet_core.registration import Registration
from prnet_core.simulation.drives import Drive
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.outdoors import park

NUM_NEIGHBORS = 15


def rings(elevations_deg, distances):
    """Points (R, 400, 3) of rings, a quarter of a turn each, at horizontal distances (R, 400)."""
    azimuth = np.linspace(-np.pi / 4, np.pi / 4, 400)
    height = distances * np.tan(np.radians(elevations_deg))[:, None]
    return np.stack([distances * np.cos(azimuth), distances * np.sin(azimuth), height], axis=-1)


def test_the_plane_of_a_ring_on_a_bush_is_no_surface_and_that_on_the_ground_is():
    rng = np.random.default_rng(0)
    elevations = np.array([-15.0, -10.0, -2.0])
    ground = 1.5 / np.tan(np.radians([[15.0], [10.0]])) * np.ones(400)
    bush = 12.0 + 1.5 * np.sin(np.linspace(0.0, 12.0, 400))
    points = rings(elevations, np.vstack([ground, bush])) + rng.normal(0.0, 0.003, (3, 400, 3))
    cloud, tree = small_gicp.preprocess_points(points.reshape(-1, 3), 0.27, NUM_NEIGHBORS, 1)
    points, before = cloud.points()[:, :3], cloud.normals()[:, :3]
    after = without_ring_planes(points, before, tree, 1)
    is_ground = points[:, 2] < -1.0
    assert np.median(np.abs(before[~is_ground, 2])) > 0.9 and np.median(np.abs(after[~is_ground, 2])) < 0.1
    np.testing.assert_array_equal(after[is_ground], before[is_ground])
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1.0)


def test_a_drive_with_eight_rings_shows_how_the_sensor_pitches_and_rises():
    lidar = replace(SpinningLidar.with_beams(16), channels=8)
    odometry, scans = ScanOdometry(Registration()), list(Drive(park(3), lidar, 30, seed=3))
    T_odom_world, errors = se3.invert(scans[0].T_world_sensor), []
    for scan in scans:
        update = odometry.register_scan(scan.points, scan.stamp, scan.point_times)
        errors.append(se3.log(se3.invert(T_odom_world @ scan.T_world_sensor) @ update.T_odom_sensor))
    _, _, rise, roll, pitch, _ = np.sqrt(np.mean(np.square(errors[10:]), axis=0))
    assert rise < 0.01 and np.degrees([roll, pitch]).max() < 0.1
