"""Sweeps whose motion no prediction gives: the first two, and those of a sensor that accelerates."""

import numpy as np
import pytest
from odometry_scenes import world

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration
from prnet_core.simulation.drives import make_drive


def sweep_of(pose_at, start, rng):
    """A sweep of 0.1 s of the hall: points (N, 3) and times (N,) after its start, in 50 columns."""
    points = world(rng)
    column = rng.integers(0, 50, len(points))
    seen = np.empty_like(points)
    for i in range(50):
        chosen = column == i
        seen[chosen] = se3.apply(se3.invert(pose_at(start + i * 0.002)), points[chosen])
    return seen, column * 0.002


def run(scans):
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    return [odometry.register_scan(points, stamp, times) for stamp, points, times in scans]


@pytest.mark.parametrize("rate", [1.0, 1.8])
def test_a_sensor_that_rotates_from_the_first_scan_on_is_followed(rate):
    """The first scan is deskewed when the second shows the velocity; odom is the sensor's frame at the first stamp."""
    twist = np.array([1.5, 0.3, 0.0, 0.0, 0.0, rate])

    def pose_at(time):
        return se3.exp(twist * time)

    updates = run([(0.1 * i, *sweep_of(pose_at, 0.1 * i, np.random.default_rng(i))) for i in range(5)])
    assert [update.status for update in updates] == ["first"] + ["accepted"] * 4
    for i, update in enumerate(updates):
        error = se3.invert(pose_at(0.1 * i)) @ update.T_odom_sensor
        assert np.linalg.norm(error[:3, 3]) < 0.03
        assert se3.rotation_angle(error[:3, :3]) < 0.01
    np.testing.assert_allclose([update.twist for update in updates[1:]], np.tile(twist, (4, 1)), atol=0.15)


def test_a_sensor_that_starts_to_rotate_is_followed():
    """From rest to 1.6 rad/s within two sweeps: the last velocity deskews and predicts incorrectly."""

    def pose_at(time):
        moving = np.clip(time - 0.3, 0.0, None)
        angle = np.where(moving < 0.2, 4.0 * moving**2, 0.16 + 1.6 * (moving - 0.2))
        return se3.exp(np.array([0.0, 0.0, 0.0, 0.0, 0.0, float(angle)]))

    updates = run([(0.1 * i, *sweep_of(pose_at, 0.1 * i, np.random.default_rng(i))) for i in range(9)])
    assert [update.status for update in updates] == ["first"] + ["accepted"] * 8
    for i, update in enumerate(updates):
        error = se3.invert(pose_at(0.1 * i)) @ update.T_odom_sensor
        assert np.linalg.norm(error[:3, 3]) < 0.05
        assert se3.rotation_angle(error[:3, :3]) < 0.03


def test_a_narrow_non_repetitive_lidar_is_followed_from_its_first_scan_on():
    """It starts in a turn: 2, 6, and 9 degrees in its first sweeps."""
    scans = list(make_drive("office", "livox", 6))
    updates = run([(scan.stamp, scan.points, scan.point_times) for scan in scans])
    assert [update.status for update in updates] == ["first"] + ["accepted"] * 5
    first = scans[0].T_world_sensor
    for scan, update in zip(scans, updates):
        error = se3.invert(se3.invert(first) @ scan.T_world_sensor) @ update.T_odom_sensor
        assert np.linalg.norm(error[:3, 3]) < 0.05
        assert se3.rotation_angle(error[:3, :3]) < 0.02


def test_a_sparse_lidar_that_sees_all_around_is_followed_in_a_street():
    """8,400 points over 40 m: few surfaces show in voxels that hold a point each."""
    scans = list(make_drive("street", "livox360", 8))
    updates = run([(scan.stamp, scan.points, scan.point_times) for scan in scans])
    assert "rejected" not in [update.status for update in updates]
    motion = se3.invert(scans[0].T_world_sensor) @ scans[-1].T_world_sensor
    error = se3.invert(motion) @ updates[-1].T_odom_sensor
    assert np.linalg.norm(motion[:3, 3]) > 1.5
    assert np.linalg.norm(error[:3, 3]) < 0.3


def test_a_start_in_a_closet_is_followed():
    """Surfaces are 1 m away, so the motion between the first two scans is many voxels."""
    scans = list(make_drive("closet", "lidar32", 5, 11))
    updates = run([(scan.stamp, scan.points, scan.point_times) for scan in scans])
    assert [update.status for update in updates] == ["first"] + ["accepted"] * 4
