"""The promises of ScanOdometry on scans made here."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import ScanOdometry
from prnet_core.registration import Registration


def world(rng, count=6000):
    """Points on floor, walls and pillars of a hall, metres."""
    share = count // 6
    uniform = rng.uniform
    parts = [
        np.c_[uniform(-6, 6, share), uniform(-6, 6, share), np.full(share, -1.0)],
        np.c_[uniform(-6, 6, share), np.full(share, 6.0), uniform(-1, 2, share)],
        np.c_[uniform(-6, 6, share), np.full(share, -6.0), uniform(-1, 2, share)],
        np.c_[np.full(share, 6.0), uniform(-6, 6, share), uniform(-1, 2, share)],
    ]
    for x, y in ((2.0, 3.0), (-3.0, 1.0), (0.5, -4.0)):
        angle = uniform(0, 2 * np.pi, share // 3)
        parts.append(np.c_[x + 0.4 * np.cos(angle), y + 0.4 * np.sin(angle), uniform(-1, 2, share // 3)])
    return np.vstack(parts)


MOTION = np.array([0.15, 0.02, 0.0, 0.0, 0.0, 0.06])


def scan(index):
    """Scan number `index` of a steady motion, with samples of its own; and its true pose."""
    pose = se3.exp(MOTION * index)
    return se3.apply(se3.invert(pose), world(np.random.default_rng(index))), pose


def test_follows_a_steady_motion():
    odometry = ScanOdometry(Registration(None))
    for i in range(8):
        points, truth = scan(i)
        update = odometry.register_scan(points, 100.0 + 0.1 * i)
        assert update.status == ("first" if i == 0 else "accepted"), update.reason
        error = se3.invert(truth) @ update.T_odom_sensor
        assert np.linalg.norm(error[:3, 3]) < 0.02
        assert np.degrees(se3.rotation_angle(error[:3, :3])) < 0.3
    np.testing.assert_allclose(update.twist, MOTION / 0.1, atol=0.1)


def test_covariance_grows_and_is_never_zero():
    odometry = ScanOdometry(Registration(None))
    traces = [np.trace(odometry.register_scan(scan(i)[0], 0.1 * i).covariance) for i in range(4)]
    assert traces[0] > 0.0
    assert traces[-1] > traces[0]


def test_stamps_must_increase():
    odometry = ScanOdometry(Registration(None))
    statuses = [odometry.register_scan(scan(i)[0], s).status for i, s in enumerate((1.0, 2.0, 2.0, 1.5, 3.0))]
    assert statuses[0] == "first"
    assert statuses[2:4] == ["ignored", "ignored"]
    assert statuses[4] == "accepted"


def test_time_jumping_back_is_a_reset():
    odometry = ScanOdometry(Registration(None))
    odometry.register_scan(scan(0)[0], 1000.0)
    odometry.register_scan(scan(1)[0], 1000.1)
    update = odometry.register_scan(scan(2)[0], 10.0)
    assert update.status == "reset"
    np.testing.assert_array_equal(update.T_odom_sensor, np.eye(4))
    assert odometry.register_scan(scan(3)[0], 10.1).status == "accepted"


def test_an_empty_scan_is_rejected_and_the_next_one_found():
    odometry = ScanOdometry(Registration(None))
    odometry.register_scan(scan(0)[0], 0.0)
    odometry.register_scan(scan(1)[0], 0.1)
    lost = odometry.register_scan(np.zeros((0, 3)), 0.2)
    assert lost.status == "rejected"
    assert "0 usable points" in lost.reason
    points, truth = scan(3)
    found = odometry.register_scan(points, 0.3)
    assert found.status == "accepted"
    assert np.linalg.norm((se3.invert(truth) @ found.T_odom_sensor)[:3, 3]) < 0.02


def test_reset_starts_again():
    odometry = ScanOdometry(Registration(None))
    odometry.register_scan(scan(0)[0], 5.0)
    odometry.reset()
    assert odometry.register_scan(scan(1)[0], 1.0).status == "first"


def test_an_empty_first_scan_does_not_start_the_trajectory():
    odometry = ScanOdometry(Registration(None))
    assert odometry.register_scan(np.zeros((0, 3)), 0.0).status == "rejected"
    assert odometry.register_scan(scan(0)[0], 0.1).status == "first"


@pytest.mark.parametrize("stamp", [np.nan, np.inf])
def test_a_stamp_must_be_finite(stamp):
    with pytest.raises(ValueError, match="stamp"):
        ScanOdometry(Registration(None)).register_scan(scan(0)[0], stamp)
