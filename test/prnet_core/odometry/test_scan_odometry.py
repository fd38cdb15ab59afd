"""The promises of ScanOdometry on scans made here."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
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


def forest(rng):
    """Boxes and posts of many sizes along 30 m of floor: every place looks different."""
    layout = np.random.default_rng(42)
    parts = [np.c_[rng.uniform(-6, 36, 6000), rng.uniform(-6, 6, 6000), np.zeros(6000)]]
    for x, y in zip(layout.uniform(-6, 36, 60), layout.uniform(-6, 6, 60), strict=True):
        size = layout.uniform(0.2, 1.5, 3)
        box = rng.uniform(-0.5, 0.5, (300, 3))
        face = rng.integers(3, size=300)
        box[np.arange(300), face] = np.sign(box[np.arange(300), face]) * 0.5
        parts.append(box * size + [x, y, size[2] / 2])
    return np.vstack(parts)


def forest_scan(x, yaw, seed):
    """What is within 6 m of (x, 0), turned by yaw; and the true pose."""
    pose = se3.make_transform(se3.rotation_exp(np.array([0, 0, yaw])), np.array([x, 0.0, 0.5]))
    points = se3.apply(se3.invert(pose), forest(np.random.default_rng(seed)))
    return points[np.linalg.norm(points, axis=1) < 6.0], pose


def test_kidnapped_back_to_an_old_key_frame_it_finds_itself_again():
    odometry = ScanOdometry(Registration(None))
    _, start = forest_scan(0.0, 0.0, 0)
    for i in range(11):
        points, truth = forest_scan(1.2 * i, 0.0, i)
        update = odometry.register_scan(points, float(i))
        assert update.status in ("first", "accepted"), update.reason
    for i in range(11, 16):
        points, truth = forest_scan(0.5, 2.0, i)
        update = odometry.register_scan(points, float(i))
        if update.status == "accepted":
            break
        assert update.status == "rejected"
    error = se3.invert(se3.invert(start) @ truth) @ update.T_odom_sensor
    assert np.linalg.norm(error[:3, 3]) < 0.2
    points, truth = forest_scan(1.0, 2.0, 100)
    update = odometry.register_scan(points, 17.0)
    assert update.status == "accepted", update.reason
    error = se3.invert(se3.invert(start) @ truth) @ update.T_odom_sensor
    assert np.linalg.norm(error[:3, 3]) < 0.2


def test_a_rejected_scan_leaves_pose_and_target_as_they_were():
    odometry = ScanOdometry(Registration(None))
    odometry.register_scan(scan(0)[0], 0.0)
    before = odometry.register_scan(scan(1)[0], 0.1)
    rubbish = np.random.default_rng(7).normal(size=(4000, 3)) * 5.0
    lost = odometry.register_scan(rubbish, 0.2)
    assert lost.status == "rejected", lost.reason
    points, truth = scan(2)
    found = odometry.register_scan(points, 0.3)
    assert found.status == "accepted"
    np.testing.assert_allclose(found.T_previous_sensor, se3.invert(before.T_odom_sensor) @ truth, atol=0.03)


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
        odometry = ScanOdometry(Registration(None))
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
    odometry = ScanOdometry(Registration(None))
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
    first_pose = se3.exp(twist * np.mean(sweep))  # of the first sweep's middle, where the trajectory starts
    error = se3.invert(se3.exp(twist * 1.5)) @ first_pose @ update.T_odom_sensor
    assert np.linalg.norm(error[:3, 3]) < 0.03


def test_a_jump_back_to_an_old_place_is_no_velocity():
    odometry = ScanOdometry(Registration(None))
    for i in range(11):
        odometry.register_scan(forest_scan(1.2 * i, 0.0, i)[0], 0.2 * i)
    for i in range(11, 20):
        update = odometry.register_scan(forest_scan(0.5, 2.0, i)[0], 0.2 * i)
        if update.status == "accepted":
            break
    assert update.status == "accepted" and update.elapsed is None
    np.testing.assert_array_equal(update.twist, 0.0)
    update = odometry.register_scan(forest_scan(0.5, 2.0, 100)[0], 0.2 * (i + 1))
    assert np.linalg.norm(update.twist[:3]) < 0.2 and update.elapsed == pytest.approx(0.2)


def test_a_useless_first_scan_is_given_up():
    """The hand over the sensor when the robot was switched on."""
    odometry = ScanOdometry(Registration(None))
    covered = np.random.default_rng(0).normal(size=(300, 3)) * 0.1
    assert odometry.register_scan(covered, 0.0).status == "first"
    statuses = [odometry.register_scan(scan(i)[0], 0.1 * i).status for i in range(1, 9)]
    assert statuses == ["rejected"] * 4 + ["first"] + ["accepted"] * 3


def test_rays_that_did_not_come_back_are_no_points():
    odometry = ScanOdometry(Registration(None))
    for i in range(6):
        points, truth = scan(i)
        nothing = np.zeros((4 * len(points), 3))
        update = odometry.register_scan(np.vstack([nothing, points]), 0.1 * i, np.zeros(5 * len(points)))
        assert update.status == ("first" if i == 0 else "accepted"), update.reason
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


@pytest.mark.parametrize("target", ["previous", "keyframe", "map"])
def test_every_target_follows_the_motion(target):
    odometry = ScanOdometry(Registration(None), OdometryConfig(target=target))
    for i in range(6):
        points, truth = scan(i)
        update = odometry.register_scan(points, 0.1 * i)
    assert update.status == "accepted"
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02
