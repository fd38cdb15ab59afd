"""The promises of ScanOdometry on scans made here."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import prepare_cloud


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


def test_time_jumping_back_is_a_reset_once_the_next_stamp_confirms_it():
    odometry = ScanOdometry(Registration(None))
    odometry.register_scan(scan(0)[0], 1000.0)
    odometry.register_scan(scan(1)[0], 1000.1)
    assert odometry.register_scan(scan(2)[0], 10.0).status == "ignored"
    update = odometry.register_scan(scan(3)[0], 10.1)
    assert update.status == "reset"
    np.testing.assert_array_equal(update.T_odom_sensor, np.eye(4))
    assert odometry.register_scan(scan(4)[0], 10.2).status == "accepted"


def test_one_stamp_far_ahead_is_an_outlier():
    odometry = ScanOdometry(Registration(None))
    statuses = []
    for i, stamp in enumerate((0.0, 0.1, 0.2, 100.3, 0.4, 0.5)):
        points, truth = scan(i)
        update = odometry.register_scan(points, stamp)
        statuses.append(update.status)
    assert statuses == ["first", "accepted", "accepted", "ignored", "accepted", "accepted"]
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


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


def drive_through_the_forest(odometry, interval):
    """Eleven places, 1.2 m apart; the last update."""
    for i in range(11):
        update = odometry.register_scan(forest_scan(1.2 * i, 0.0, i)[0], interval * i)
        assert update.status in ("first", "accepted"), update.reason
    return update


def test_kidnapped_back_to_an_old_keyframe_odom_continues_and_the_map_is_corrected():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    last = drive_through_the_forest(odometry, 0.2)
    num_keyframes = len(odometry.keyframes)
    for i in range(11, 30):
        points, truth = forest_scan(0.5, 2.0, i)
        update = odometry.register_scan(points, 0.2 * i)
        if update.status == "accepted":
            break
        assert update.status == "rejected" and not update.is_relocated
    _, start = forest_scan(0.0, 0.0, 0)
    assert update.is_relocated and update.elapsed is None
    np.testing.assert_array_equal(update.twist, 0.0)
    assert len(odometry.keyframes) >= num_keyframes
    in_map = se3.invert(se3.invert(start) @ truth) @ update.T_map_odom @ update.T_odom_sensor
    assert np.linalg.norm(in_map[:3, 3]) < 0.2
    step = se3.invert(last.T_odom_sensor) @ update.T_odom_sensor
    assert np.linalg.norm(step[:3, 3]) <= 1.1 * np.linalg.norm(last.twist[:3]) * min(0.2 * (i - 10), 3.0) + 1e-9
    points, moved = forest_scan(1.0, 2.0, 100)
    following = odometry.register_scan(points, 0.2 * (i + 1))
    assert following.status == "accepted" and not following.is_relocated, following.reason
    step = se3.invert(update.T_odom_sensor) @ following.T_odom_sensor
    np.testing.assert_allclose(step, se3.invert(truth) @ moved, atol=0.1)
    np.testing.assert_array_equal(following.T_map_odom, update.T_map_odom)


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


def test_an_unusable_first_scan_is_given_up():
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


def test_the_update_carries_the_deskewed_cloud_and_its_rows():
    twist = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.5])
    odometry = ScanOdometry(Registration(None))
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


def test_a_guess_frame_follows_a_turn_that_no_velocity_predicts():
    """180 degrees between two scans, then a guess frame that says nothing moved."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    poses = [se3.make_transform(se3.rotation_exp(np.array([0, 0, np.pi * i])), np.zeros(3)) for i in range(4)]
    for i, pose in enumerate(poses):
        points = se3.apply(se3.invert(pose), world(np.random.default_rng(i)))
        turn = se3.make_transform(se3.rotation_exp(np.array([0, 0, np.pi])), np.zeros(3))
        update = odometry.register_scan(points, 0.1 * i, predicted_motion=turn)
        assert update.status == ("first" if i == 0 else "accepted"), update.reason
        error = se3.invert(pose) @ update.T_odom_sensor
        assert np.degrees(se3.rotation_angle(error[:3, :3])) < 1.0


def test_a_stale_guess_frame_is_noticed():
    odometry = ScanOdometry(Registration(None))
    for i in range(6):
        points, truth = scan(10 * i)
        update = odometry.register_scan(points, 0.1 * i, predicted_motion=np.eye(4))
    assert update.status == "accepted" and "the guess frame disagrees with the scans" in update.notes
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.05


def test_from_a_closet_into_a_hall_and_back():
    """The voxel size follows the scene: neither far too many nor too few points are registered."""
    odometry = ScanOdometry(Registration(None))
    sizes = []
    for i, scale in enumerate((0.1, 0.1, 1.0, 1.0, 1.0, 0.1, 0.1)):
        points = scale * world(np.random.default_rng(i), 24_000)
        odometry.register_scan(points, 0.1 * i)
        sizes.append(len(prepare_cloud(points, odometry._scale.voxel_size, odometry.registration.config)))
    assert min(sizes) > 2000 and max(sizes) < 8000


def test_min_range_is_applied_once_in_the_sensors_own_frame():
    """A map that a scan has been joined to keeps what is near its origin."""
    config = RegistrationConfig(min_range=1.0)
    odometry = ScanOdometry(Registration(None, config))
    for i in range(20):
        odometry.register_scan(scan(i)[0], 0.1 * i)
    target = odometry._map.target(odometry._scale.voxel_size, np.zeros(3), 100.0)
    points = target.points * target.voxel_size + target.centre
    assert (np.linalg.norm(points[:, :2], axis=1) < 0.8).any()


def test_times_of_a_sweep_longer_than_the_scans_are_apart_are_not_used():
    odometry = ScanOdometry(Registration(None))
    for i in range(4):
        points, truth = scan(i)
        times = np.linspace(0.0, 0.1 if i < 3 else 3600.0, len(points))
        update = odometry.register_scan(points, 0.1 * i, times * 0.0 if i < 3 else times)
    assert "point times not used" in update.notes[0]
    assert update.status == "accepted"
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.02


def test_while_lost_each_scan_makes_one_search_at_most():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    drive_through_the_forest(odometry, 0.2)
    searches = []
    register = odometry.registration.register_prepared
    odometry.registration.register_prepared = lambda *a, **k: (
        searches.append(k.get("hypotheses", "all")),
        register(*a, **k),
    )[1]
    for i in range(11, 14):
        searches.clear()
        odometry.register_scan(np.random.default_rng(i).normal(size=(4000, 3)) * 5.0, 0.2 * i)
        assert searches.count("all") <= 1


def test_a_scan_without_time_left_is_rejected_and_the_next_one_followed():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=1e-9))
    for i in range(4):
        update = odometry.register_scan(scan(i)[0], 0.1 * i)
        assert update.status in ("first", "accepted")
    rubbish = np.random.default_rng(7).normal(size=(4000, 3)) * 5.0
    lost = odometry.register_scan(rubbish, 0.4)
    assert lost.status == "rejected" and "time" in lost.reason
    assert odometry.register_scan(scan(5)[0], 0.5).status == "accepted"


def test_a_new_local_map_after_lost_scans_continues_odom():
    """Carried to a place that no keyframe has seen: without new_map_after the odometry would stay lost."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0, new_map_after=3))
    last = drive_through_the_forest(odometry, 0.2)
    updates = []
    for i in range(11, 17):
        points, truth = forest_scan(26.0 + 0.1 * i, 1.0, i)
        updates.append((odometry.register_scan(points, 0.2 * i), truth))
    statuses = [update.status for update, _ in updates]
    assert statuses == ["rejected"] * 3 + ["accepted"] * 3, [update.reason for update, _ in updates]
    assert [update.map_id for update, _ in updates] == [last.map_id] * 2 + [last.map_id + 1] * 4
    assert "a new local map starts" in updates[2][0].reason
    (lost, at_lost), (found, at_found) = updates[2], updates[-1]
    step = se3.invert(lost.T_odom_sensor) @ found.T_odom_sensor
    np.testing.assert_allclose(step, se3.invert(at_lost) @ at_found, atol=0.1)
    assert np.linalg.norm(lost.T_odom_sensor[:3, 3] - last.T_odom_sensor[:3, 3]) < 1.0
