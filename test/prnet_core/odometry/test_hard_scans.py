"""Scans that agreed too little before: swept during a turn, of few rings, or measured by a noisy stereo camera."""

from dataclasses import replace

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.drives import PLACES, Drive
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.rooms import table_place


def follow(drive, use_times):
    """Statuses after the first scan, and the largest position error, metres."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    statuses, errors, first = [], [], None
    for scan in drive:
        first = se3.invert(scan.T_world_sensor) if first is None else first
        update = odometry.register_scan(scan.points, scan.stamp, scan.point_times if use_times else None)
        statuses.append(update.status)
        errors.append(np.linalg.norm((se3.invert(first @ scan.T_world_sensor) @ update.T_odom_sensor)[:3, 3]))
    return statuses[1:], max(errors)


def test_sweeps_at_the_beginning_of_a_turn_are_accepted():
    lidar = SpinningLidar(32, 354, sweep=0.1, min_range=0.5, max_range=100.0)
    drive = Drive(PLACES["office"](1), lidar, 27, seed=1, rate=10.0, moving_objects=False)
    statuses, error = follow(drive, use_times=True)
    assert set(statuses) == {"accepted"}
    assert error < 0.05


def test_few_rings_among_people_follow_a_turn():
    """Sixteen rings at 5 Hz: within one interval the sensor begins to turn at 180 degrees a second beside people."""
    drive = Drive(PLACES["office"](22), SpinningLidar.with_beams(16), 14, seed=22, rate=5.0)
    statuses, error = follow(drive, use_times=True)
    assert "rejected" not in statuses
    assert error < 0.2


@pytest.mark.parametrize("channels", [8, 16])
def test_few_rings_in_a_park_are_tracked(channels):
    """The gaps between the rings are larger than the voxels that leave 5,000 points, and trees are round."""
    drive = Drive(PLACES["park"](12), replace(SpinningLidar.with_beams(16), channels=channels), 16, seed=12)
    statuses, error = follow(drive, use_times=True)
    assert set(statuses) == {"accepted"}
    assert error < 0.15


def test_where_a_wall_and_people_are_all_that_is_seen_the_velocity_continues():
    """Nothing but a moving person constrains the translation along the wall."""
    drive = Drive(PLACES["crowd"](52), DepthCamera.kinect_like(), 30, seed=52, rate=30.0)
    statuses, error = follow(drive, use_times=False)
    assert "rejected" not in statuses and "weak" in statuses
    assert error < 0.2


def test_a_table_seen_by_a_noisy_stereo_camera_is_tracked():
    drive = Drive(table_place(3), DepthCamera.table_top_stereo(), 15, seed=0, rate=15.0)
    statuses, error = follow(drive, use_times=False)
    assert statuses.count("accepted") >= 13, statuses
    assert error < 0.05


@pytest.mark.parametrize("seed", [17, 72])
def test_a_narrow_view_that_turns_fast_is_tracked_on_the_last_scan(seed):
    """A Livox-like sensor turns with up to 45 rad/s^2: the local map shows little of what it sees then."""
    drive = Drive(PLACES["office"](seed), NonRepetitiveLidar(), 24, seed=seed, rate=10.0)
    statuses, error = follow(drive, use_times=True)
    assert "rejected" not in statuses
    assert error < 0.15
