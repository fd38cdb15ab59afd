"""ScanOdometry when scans cannot be followed: rejection, relocation, bounded cost, predictions by others."""

import numpy as np
from odometry_scenes import drive_through_the_forest, forest_scan, scan, world

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration


def test_an_empty_scan_is_rejected_and_the_next_one_found():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    odometry.register_scan(scan(0)[0], 0.0)
    odometry.register_scan(scan(1)[0], 0.1)
    lost = odometry.register_scan(np.zeros((0, 3)), 0.2)
    assert lost.status == "rejected"
    assert "0 usable points" in lost.reason
    points, truth = scan(3)
    found = odometry.register_scan(points, 0.3)
    assert found.status == "accepted"
    assert np.linalg.norm((se3.invert(truth) @ found.T_odom_sensor)[:3, 3]) < 0.02


def test_an_empty_first_scan_does_not_start_the_trajectory():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    assert odometry.register_scan(np.zeros((0, 3)), 0.0).status == "rejected"
    assert odometry.register_scan(scan(0)[0], 0.1).status == "first"


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
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    odometry.register_scan(scan(0)[0], 0.0)
    before = odometry.register_scan(scan(1)[0], 0.1)
    rubbish = np.random.default_rng(7).normal(size=(4000, 3)) * 5.0
    lost = odometry.register_scan(rubbish, 0.2)
    assert lost.status == "rejected", lost.reason
    points, truth = scan(2)
    found = odometry.register_scan(points, 0.3)
    assert found.status == "accepted"
    np.testing.assert_allclose(found.T_previous_sensor, se3.invert(before.T_odom_sensor) @ truth, atol=0.03)


def test_an_unusable_first_scan_is_given_up():
    """The hand over the sensor when the robot was switched on."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    covered = np.random.default_rng(0).normal(size=(300, 3)) * 0.1
    assert odometry.register_scan(covered, 0.0).status == "first"
    statuses = [odometry.register_scan(scan(i)[0], 0.1 * i).status for i in range(1, 9)]
    assert statuses == ["rejected"] * 4 + ["accepted"] * 4


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
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(6):
        points, truth = scan(10 * i)
        update = odometry.register_scan(points, 0.1 * i, predicted_motion=np.eye(4))
    assert update.status == "accepted" and "the guess frame disagrees with the scans" in update.notes
    assert np.linalg.norm((se3.invert(truth) @ update.T_odom_sensor)[:3, 3]) < 0.05


def test_while_lost_each_scan_makes_one_search_at_most():
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    drive_through_the_forest(odometry, 0.2)
    searches = []

    def counted(registration):
        register = registration.register_prepared
        return lambda *a, **k: (searches.append(k.get("hypotheses", "all")), register(*a, **k))[1]

    for registration in (odometry.registration, odometry._registrations.relocation):
        registration.register_prepared = counted(registration)
    for i in range(11, 14):
        searches.clear()
        odometry.register_scan(np.random.default_rng(i).normal(size=(4000, 3)) * 5.0, 0.2 * i)
        assert "all" not in searches and len([kind for kind in searches if kind != "guess"]) <= 1


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
    assert statuses == ["rejected"] * 2 + ["accepted"] * 4, [update.reason for update, _ in updates]
    assert [update.map_id for update, _ in updates] == [last.map_id] * 2 + [last.map_id + 1] * 4
    assert "a new local map continues" in updates[2][0].reason
    (lost, at_lost), (found, at_found) = updates[0], updates[-1]
    assert np.diag(found.covariance).min() > 100.0 * np.diag(last.covariance).max()  # of the step that was predicted
    step = se3.invert(lost.T_odom_sensor) @ found.T_odom_sensor
    np.testing.assert_allclose(step, se3.invert(at_lost) @ at_found, atol=0.1)
    carried = np.linalg.norm(lost.T_odom_sensor[:3, 3] - last.T_odom_sensor[:3, 3])
    assert carried <= 1.1 * 0.6 * np.linalg.norm(last.twist[:3])


def test_a_tracked_sensor_does_not_turn_faster_than_it_can():
    """A scan that fits the map rotated by 120 degrees within 0.1 s is no motion: such places fit by symmetry."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=60.0))
    for i in range(4):
        odometry.register_scan(forest_scan(0.1 * i, 0.0, i)[0], 0.1 * i)
    turn = se3.rotation_exp(np.array([0.0, 0.0, np.radians(120.0)]))
    turned = [forest_scan(0.1 * i, 0.0, i)[0] @ turn for i in range(4, 10)]
    updates = [odometry.register_scan(points, 0.1 * (i + 4)) for i, points in enumerate(turned)]
    assert updates[0].status == "rejected"
    found = next(update for update in updates if update.status == "accepted")
    assert found.is_relocated
    assert se3.rotation_angle(found.T_odom_sensor[:3, :3]) < 0.2
    assert abs(np.degrees(se3.rotation_angle((found.T_map_odom @ found.T_odom_sensor)[:3, :3])) - 120.0) < 2.0
