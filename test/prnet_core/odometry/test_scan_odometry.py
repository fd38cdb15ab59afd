"""ScanOdometry follows a sensor: trajectory, deskewing, stamps, scale of the scene."""

from math import inf
from pathlib import Path

import numpy as np
import pytest
from odometry_scenes import MOTION, scan, world

from prnet_core.geometry import se3
from prnet_core.io.recordings import open_scans
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.metrics import match_stamps, relative_pose_error
from prnet_core.odometry.offline import run_odometry
from prnet_core.odometry.scale import SUDDEN_SCANS
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import prepare_cloud


def test_follows_a_steady_motion():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(8):
        points, truth = scan(i)
        update = odometry.register_scan(points, 100.0 + 0.1 * i)
        assert update.status == ("first" if i == 0 else "accepted"), update.reason
        error = se3.invert(truth) @ update.T_odom_sensor
        assert np.linalg.norm(error[:3, 3]) < 0.02
        assert np.degrees(se3.rotation_angle(error[:3, :3])) < 0.3
    np.testing.assert_allclose(update.twist, MOTION / 0.1, atol=0.1)


def test_covariance_grows_and_is_never_zero():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    traces = [np.trace(odometry.register_scan(scan(i)[0], 0.1 * i).covariance) for i in range(4)]
    assert traces[0] > 0.0
    assert traces[-1] > traces[0]


def test_stamps_must_increase():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    statuses = [odometry.register_scan(scan(i)[0], s).status for i, s in enumerate((1.0, 2.0, 2.0, 1.5, 3.0))]
    assert statuses[0] == "first"
    assert statuses[2:4] == ["ignored", "ignored"]
    assert statuses[4] == "accepted"


def test_time_jumping_back_is_a_reset_once_the_next_stamp_confirms_it():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    odometry.register_scan(scan(0)[0], 1000.0)
    odometry.register_scan(scan(1)[0], 1000.1)
    assert odometry.register_scan(scan(2)[0], 10.0).status == "ignored"
    update = odometry.register_scan(scan(3)[0], 10.1)
    assert update.status == "reset"
    np.testing.assert_array_equal(update.T_odom_sensor, np.eye(4))
    assert odometry.register_scan(scan(4)[0], 10.2).status == "accepted"


def test_one_stamp_far_ahead_is_an_outlier():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    statuses = []
    for i, stamp in enumerate((0.0, 0.1, 0.2, 100.3, 0.4, 0.5)):
        points, truth = scan(i)
        update = odometry.register_scan(points, stamp)
        statuses.append(update.status)
    assert statuses == ["first", "accepted", "accepted", "ignored", "accepted", "accepted"]
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


def test_reset_starts_again():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    odometry.register_scan(scan(0)[0], 5.0)
    odometry.reset()
    assert odometry.register_scan(scan(1)[0], 1.0).status == "first"


@pytest.mark.parametrize("stamp", [np.nan, np.inf])
def test_a_stamp_must_be_finite(stamp):
    with pytest.raises(ValueError, match="stamp"):
        ScanOdometry(Registration(None)).register_scan(scan(0)[0], stamp)


def test_a_scan_with_times_is_deskewed():
    """A sensor that starts to move and turn fast: with the points' times each scan fits better."""
    twist = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def pose_at(time):
        return se3.exp(twist * max(0.0, time - 0.1))

    def skewed(index):
        points = world(np.random.default_rng(index))
        times = np.random.default_rng(100 + index).integers(-20, 1, len(points)) * 0.005
        seen = np.empty_like(points)
        for time in np.unique(times):
            chosen = times == time
            seen[chosen] = se3.apply(se3.invert(pose_at(0.1 * index + time)), points[chosen])
        return seen, times

    errors, residuals = {}, {}
    for use_times in (True, False):
        odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
        for i in range(6):
            points, times = skewed(i)
            update = odometry.register_scan(points, 0.1 * i, times if use_times else None)
        error = se3.invert(pose_at(0.5)) @ update.T_odom_sensor
        errors[use_times] = np.linalg.norm(error[:3, 3])
        residuals[use_times] = update.registration.residual
    assert errors[True] < 0.5 * errors[False]
    assert residuals[True] < 0.8 * residuals[False]


@pytest.mark.parametrize("sweep", [(0.0, 0.1), (-0.05, 0.05), (-0.1, 0.0)])
def test_velocity_is_steady_wherever_in_its_sweep_a_scan_is_stamped(sweep):
    """A sweep that fills the whole period, as a spinning LiDAR's: an error of the velocity must not feed itself."""
    twist = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.4])
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    velocities = []
    for i in range(16):
        points = world(np.random.default_rng(i))
        times = np.linspace(*sweep, 50)[np.random.default_rng(100 + i).integers(0, 50, len(points))]
        seen = np.empty_like(points)
        for time in np.unique(times):
            chosen = times == time
            seen[chosen] = se3.apply(se3.invert(se3.exp(twist * (0.1 * i + time))), points[chosen])
        update = odometry.register_scan(seen, 0.1 * i, times)
        velocities.append(update.twist)
    np.testing.assert_allclose(velocities[4:], np.tile(twist, (12, 1)), atol=0.25)
    error = se3.invert(se3.exp(twist * 1.5)) @ update.T_odom_sensor
    assert np.linalg.norm(error[:3, 3]) < 0.03


def test_rays_that_did_not_come_back_are_no_points():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(6):
        points, truth = scan(i)
        nothing = np.zeros((4 * len(points), 3))
        update = odometry.register_scan(np.vstack([nothing, points]), 0.1 * i, np.zeros(5 * len(points)))
        assert update.status == ("first" if i == 0 else "accepted"), update.reason
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


def test_the_update_carries_the_deskewed_cloud_and_its_rows():
    twist = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(6):
        points = world(np.random.default_rng(i))
        times = np.random.default_rng(100 + i).integers(0, 20, len(points)) * 0.005
        seen = np.empty_like(points)
        for time in np.unique(times):
            chosen = times == time
            seen[chosen] = se3.apply(se3.invert(se3.exp(twist * (0.1 * i + time))), points[chosen])
        seen[:3] = np.nan
        update = odometry.register_scan(seen, 0.1 * i, times)
    assert update.rows[0] == 3 and len(update.rows) == len(update.points) == len(points) - 3
    expected = se3.apply(se3.invert(se3.exp(twist * 0.5)), points[3:])
    assert np.abs(update.points - expected).max() < 0.15
    assert np.abs(seen[3:] - expected).max() > 0.2


def test_from_a_closet_into_a_hall_and_back():
    """The voxel size follows the scene: neither far too many nor too few points are registered.

    Scans that are suddenly small must last: somebody may stand before the sensor.
    """
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    sizes = []
    for i, scale in enumerate([0.1] * 2 + [1.0] * 3 + [0.1] * (SUDDEN_SCANS + 1)):
        points = scale * world(np.random.default_rng(i), 24_000)
        odometry.register_scan(points, 0.1 * i)
        sizes.append(len(prepare_cloud(points, odometry._segment.scale.voxel_size, odometry.registration.config)))
    sudden = slice(5, 5 + SUDDEN_SCANS - 1)
    assert max(sizes[sudden]) < 200
    del sizes[sudden]
    assert min(sizes) > 2000 and max(sizes) < 8000


def test_min_range_is_applied_once_in_the_sensors_own_frame():
    """A map that a scan has been joined to keeps what is near its origin."""
    config = RegistrationConfig(min_range=1.0)
    odometry = ScanOdometry(Registration(None, config))
    for i in range(20):
        odometry.register_scan(scan(i)[0], 0.1 * i)
    target = odometry._segment.map.target(odometry._segment.scale.voxel_size, np.zeros(3), 100.0)
    points = target.points * target.voxel_size + target.centre
    assert (np.linalg.norm(points[:, :2], axis=1) < 0.8).any()


def test_times_of_a_sweep_longer_than_the_scans_are_apart_are_not_used():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(4):
        points, truth = scan(i)
        times = np.linspace(0.0, 0.1 if i < 3 else 3600.0, len(points))
        update = odometry.register_scan(points, 0.1 * i, times * 0.0 if i < 3 else times)
    assert "point times not used" in update.notes[0]
    assert update.status == "accepted"
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


def test_on_the_sample_the_pose_at_the_stamp_is_steady():
    """A robot that begins to turn: the sweep's own velocity brings the pose to the stamp, not the last one."""
    scans = open_scans(Path(__file__).parents[2] / "data" / "lidar_walk")
    run = run_odometry(ScanOdometry(Registration(None), OdometryConfig(max_scan_time=inf)), list(scans)[:40])
    assert run.counts == {"first": 1, "accepted": 39}
    error = relative_pose_error(*match_stamps(run.trajectory, scans.ground_truth))
    assert error.rotation_rmse_deg < 0.12 and error.translation_rmse < 0.005
