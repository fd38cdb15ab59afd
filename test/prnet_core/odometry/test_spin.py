"""Spinning LiDARs whose driver gives no point times."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.segment import Segment
from prnet_core.odometry.spin import SEAMS, Spin, SpinEstimate, sees_all_around, usual_seconds
from prnet_core.odometry.tracking import Registrations
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.simulation.drives import make_drive

INTERVAL, VOXEL = 0.1, 0.4
NUM_SCANS = 24


@pytest.fixture(scope="module")
def drive():
    return list(make_drive("street", "lidar32", NUM_SCANS, seed=5))


def true_twist(drive, index):
    motion = se3.invert(drive[index].T_world_sensor) @ drive[index + 1].T_world_sensor
    return se3.log(motion) / INTERVAL


def keyframe(drive, index, transform):
    """A scan of the drive at the middle of its turn; transform: of points, given their shares and twist."""
    twist, scan = true_twist(drive, index), drive[index]
    points = transform(scan.points.astype(np.float64), scan.point_times - 0.5 * INTERVAL, twist)
    pose = scan.T_world_sensor @ se3.exp(0.5 * INTERVAL * twist)
    return Keyframe(points, pose, np.eye(6), twist=twist)


def estimated(drive, transform):
    estimate = SpinEstimate()
    for first, second in ((4, 9), (9, 14), (14, 19), (19, 22)):
        pair = (keyframe(drive, index, transform) for index in (first, second))
        estimate.add(*pair, VOXEL, INTERVAL, RegistrationConfig())
    return estimate.spin


def test_the_share_of_a_turn_is_its_time():
    azimuth = np.radians([-170.0, 0.0, 170.0])
    points = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(3)], axis=1)
    np.testing.assert_allclose(Spin(0.1, -np.pi).times(points), np.array([-17.0, 0.0, 17.0]) / 360.0, atol=1e-12)
    np.testing.assert_allclose(Spin(-0.1, -np.pi).times(points), np.array([17.0, 0.0, -17.0]) / 360.0, atol=1e-12)


def test_two_places_show_how_a_sensor_spins(drive):
    """The simulated LiDARs turn clockwise from straight behind within a tenth of a second."""
    spin = estimated(drive, lambda points, times, twist: points)
    assert spin == Spin(-INTERVAL, float(SEAMS[0]))


def test_mirrored_scans_spin_the_other_way(drive):
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    mirrored = [
        scan._replace(points=scan.points * [1.0, -1.0, 1.0], T_world_sensor=mirror @ scan.T_world_sensor @ mirror)
        for scan in drive
    ]
    spin = estimated(mirrored, lambda points, times, twist: points)
    assert spin == Spin(INTERVAL, float(SEAMS[0]))


def test_deskewed_scans_show_no_spin(drive):
    assert estimated(drive, deskew) is None


def test_a_camera_does_not_see_all_around(drive):
    points = drive[0].points
    assert sees_all_around(points)
    assert not sees_all_around(points[points[:, 0] > np.abs(points[:, 1])])


def test_scans_without_times_are_deskewed_once_the_spin_is_known(drive):
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    updates = [odometry.register_scan(scan.points, scan.stamp) for scan in drive]
    assert "rejected" not in [update.status for update in updates]
    assert updates[0].sweep.times is None
    sweep = updates[-1].sweep
    np.testing.assert_allclose(np.ptp(sweep.times), INTERVAL, rtol=0.01)
    measured = drive[-1].point_times - 0.5 * INTERVAL
    is_true = np.abs(sweep.times - measured[sweep.rows]) < 0.02 * INTERVAL
    assert is_true.mean() > 0.99  # all but the column on the seam


def test_after_a_scan_that_took_long_a_pair_waits_for_the_next_one(drive):
    class Recorder:
        def __init__(self):
            self.pairs = []

        def add(self, first, second, *_):
            self.pairs.append((first, second))

    segment = Segment(Registrations(Registration(None)), OdometryConfig(), np.eye(6))
    for frame in (keyframe(drive, index, lambda points, times, twist: points) for index in (4, 9)):
        segment.map.add(segment.keyframes.add(frame.points, frame.T_map_sensor, np.eye(6), frame.twist))
    recorder, pair = Recorder(), (segment.keyframes[0], segment.keyframes[1])
    segment.was_far = True
    segment.estimate_spin(recorder, INTERVAL)
    assert recorder.pairs == []
    segment.estimate_spin(recorder, INTERVAL)
    assert recorder.pairs == [pair]
    segment.was_far = False
    segment.estimate_spin(recorder, INTERVAL)
    assert recorder.pairs == [pair, pair]


def test_scans_stay_as_they_are_without_deskewing(drive):
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0, deskew=False))
    assert all(odometry.register_scan(scan.points, scan.stamp).sweep.times is None for scan in drive)


def test_a_scan_that_its_distortion_would_lose_shows_the_spin():
    """In its fast turns the scans of this robot agree little with each other before they are deskewed."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    drive = make_drive("office", "lidar16", 16, seed=11, rate=5.0)
    updates = [odometry.register_scan(scan.points, scan.stamp) for scan in drive]
    assert "rejected" not in [update.status for update in updates]
    np.testing.assert_allclose(np.ptp(updates[-1].sweep.times), 0.1, rtol=0.01)  # every second turn is left out


@pytest.mark.parametrize(("seconds", "usual"), [(-0.08, -0.1), (0.13, 0.1), (-0.06, -0.05), (-0.4, -0.5)])
def test_seconds_of_a_turn_are_those_of_a_usual_rate(seconds, usual):
    assert usual_seconds(seconds, 0.5) == usual
