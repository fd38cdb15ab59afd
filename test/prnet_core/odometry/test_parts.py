"""Deskewing, covariances, keyframes, local map, stamps and sweep motion against values known by construction."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry.combined_motion import combined_motion
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import Keyframe, Keyframes
from prnet_core.odometry.local_map import LocalMap
from prnet_core.odometry.metrics import segment_drift
from prnet_core.odometry.prediction import Prediction
from prnet_core.odometry.stamps import StampFilter
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.velocity import SweepVelocity
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import prepare_cloud

TWIST = np.array([1.0, -0.5, 0.2, 0.3, -0.1, 2.0])


@pytest.mark.parametrize("twist", [TWIST, np.array([2.0, 1.0, 0.0, 0.0, 0.0, 0.0]), np.zeros(6)])
def test_deskew_is_the_exponential_of_each_point(twist):
    rng = np.random.default_rng(0)
    points, times = rng.normal(size=(50, 3)), rng.uniform(-0.1, 0.1, 50)
    expected = [se3.apply(se3.exp(twist * t), p[None])[0] for p, t in zip(points, times, strict=True)]
    np.testing.assert_allclose(deskew(points, times, twist), expected, atol=1e-12)


def test_deskew_needs_one_time_a_point():
    with pytest.raises(ValueError, match="need times"):
        deskew(np.zeros((5, 3)), np.zeros(4), TWIST)


def test_a_turn_that_ends_within_one_scan_is_predicted():
    turning, elapsed, change = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 6.5]), 0.2, np.array([0.0, 0.0, 0.0, 0.0, 0.0, -5.5])
    true = se3.exp((turning + 0.5 * change) * elapsed)
    predictions = Prediction(max_seconds=3.0).by_turning(np.eye(4), turning, elapsed)
    assert min(se3.difference(true, predicted.pose)[1] for predicted in predictions) < 0.1
    np.testing.assert_allclose(predictions[0].pose, se3.exp(turning * elapsed))


def test_a_motion_follows_the_prediction_where_it_is_the_less_certain_one():
    measured, predicted = se3.exp(TWIST), se3.exp(TWIST) @ se3.exp(np.array([0.2, 0.1, 0.0, 0.0, 0.0, 0.02]))
    certain, last = np.full(6, 1e-10), TWIST + np.array([0.4, 0.3, 0.2, 0.1, 0.1, 0.1])
    pose, twist = combined_motion(measured, TWIST, np.diag(certain), predicted, last, 0.1, 2.0)
    np.testing.assert_allclose(pose, measured, atol=1e-4)
    np.testing.assert_allclose(twist, TWIST, atol=1e-4)
    about_sensor = se3.moved_covariance(measured, np.diag(certain + np.array([1e4, 0.0, 0.0, 0.0, 0.0, 0.0])))
    pose, twist = combined_motion(measured, TWIST, about_sensor, predicted, last, 0.1, 2.0)
    moved = se3.log(se3.invert(measured) @ pose)
    np.testing.assert_allclose(
        moved, [se3.log(se3.invert(measured) @ predicted)[0], 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-3
    )
    np.testing.assert_allclose(twist, [last[0], *TWIST[1:]], atol=1e-3)


def test_the_motion_between_sweeps_corrects_their_velocities_where_stamps_are_exact():
    true, bias = TWIST, np.array([0.4, 0.2, 0.0, 0.0, 0.1, 0.3])
    exact, jittering = SweepVelocity(), SweepVelocity()
    errors = [bias]
    for number in range(8):  # the middles of the sweeps, by their points, are not as regular as the stamps
        elapsed = 0.1 + 0.002 * (number % 2)
        corrected = exact.corrected(true + bias, true + errors[-1], true, elapsed, 0.1, 0.1 * number)
        errors.append(corrected - true)
    np.testing.assert_allclose(errors[2], bias)
    assert (np.abs(errors[-1]) < 0.6 * np.abs(bias) + 1e-9).all()
    stamps = np.cumsum([0.1, 0.1, 0.103, 0.1, 0.2, 0.4, 0.4, 0.4])
    for elapsed, stamp in zip(np.diff(stamps, prepend=0.0), stamps):
        np.testing.assert_array_equal(jittering.corrected(true + bias, true, true, elapsed, 0.1, stamp), true + bias)


def test_covariance_of_a_chain_agrees_with_sampling():
    rng = np.random.default_rng(1)
    first, second = se3.exp(TWIST), se3.exp(np.array([3.0, 1.0, 0.5, -0.2, 0.4, 0.6]))
    spread = np.diag([0.02, 0.01, 0.03, 0.01, 0.02, 0.015])
    covariance = spread @ spread
    samples = []
    for _ in range(4000):
        position, turn = np.split(spread @ rng.normal(size=6), 2)
        noisy_first = se3.make_transform(se3.rotation_exp(turn) @ first[:3, :3], first[:3, 3] + position)
        noisy = noisy_first @ se3.exp(spread @ rng.normal(size=6)) @ second
        exact = first @ second
        samples.append(np.r_[noisy[:3, 3] - exact[:3, 3], se3.rotation_log(noisy[:3, :3] @ exact[:3, :3].T)])
    composed = compose_covariance(first, covariance, second, covariance)
    np.testing.assert_allclose(np.cov(np.array(samples).T), composed, atol=0.1 * composed.max())


def frames_along_x(count, spacing=10.0):
    rng = np.random.default_rng(2)
    frames = Keyframes(max_frames=count, max_points=1000, num_protected=2)
    for i in range(count):
        frames.add(rng.uniform(-1, 1, (500, 3)), pose_at(spacing * i), np.eye(6), np.zeros(6))
    return frames


def pose_at(x):
    return se3.make_transform(np.eye(3), np.array([x, 0.0, 0.0]))


def test_the_local_map_joins_the_last_keyframes():
    local_map = LocalMap(RegistrationConfig(), num_keyframes=2)
    for frame in frames_along_x(3):
        local_map.add(frame)
    target = local_map.target(0.1, np.zeros(3), 100.0)
    x = target.points[:, 0] * target.voxel_size + target.centre[0]
    assert x.min() == pytest.approx(9, abs=0.1) and x.max() == pytest.approx(21, abs=0.1)
    assert len(local_map) == 2 and local_map.newest.T_map_sensor[0, 3] == 20.0
    assert local_map.target(0.1, np.zeros(3), 100.0) is target
    assert len(local_map.target(0.2, np.zeros(3), 100.0)) < len(target)


def test_a_smaller_voxel_is_taken_over_keyframe_by_keyframe():
    """Only some keyframes are filtered again at each position, the newest first; in the end all are."""
    size = lambda local_map, voxel, y: len(local_map.target(voxel, np.array([0.0, y, 0.0]), 100.0))  # noqa: E731
    local_map, expected = (LocalMap(RegistrationConfig(), num_keyframes=8) for _ in range(2))
    for frame in frames_along_x(8):
        local_map.add(frame)
        expected.add(frame)
    sizes = [size(local_map, 0.4, 0.0), *(size(local_map, 0.1, 0.01 * i) for i in range(4))]
    assert sizes == sorted(sizes) and sizes[0] < sizes[1] < sizes[2] < sizes[3] == sizes[4]
    assert size(expected, 0.1, 0.0) == pytest.approx(sizes[4], rel=0.01)


def test_the_local_map_leaves_out_what_is_out_of_reach():
    local_map = LocalMap(RegistrationConfig(), num_keyframes=3)
    local_map.restart(frames_along_x(3)[::-1])
    target = local_map.target(0.1, np.zeros(3), 5.0)
    assert (target.points[:, 0] * target.voxel_size + target.centre[0]).max() < 1.1
    assert local_map.newest.T_map_sensor[0, 3] == 20.0


def test_a_thin_wall_is_seen_from_the_sensors_side_alone():
    """Two keyframes on both sides of a wall 0.1 m thick: the map at either shows one side."""
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 80), np.linspace(-1, 1, 40)), axis=-1).reshape(-1, 2)
    local_map = LocalMap(RegistrationConfig(), num_keyframes=3)
    for x, wall in ((-2.0, -0.05), (2.0, 0.05)):
        points = np.c_[np.full(len(grid), wall - x), grid]
        local_map.add(Keyframe(points, pose_at(x), np.eye(6), np.zeros(6)))
    for x in (-2.0, 2.0, -1.5):
        target = local_map.target(0.1, np.array([x, 0.0, 0.0]), 5.0)
        walls = target.points[:, 0] * target.voxel_size + target.centre[0]
        np.testing.assert_allclose(walls, np.sign(x) * 0.05, atol=1e-6)


def test_the_fine_target_keeps_the_surface_of_a_column():
    """A column of a voxel's radius: its points in the target lie farther inside it than those of the fine target."""
    rng = np.random.default_rng(0)
    angles, height = rng.uniform(np.pi / 2, 3 * np.pi / 2, 20000), rng.uniform(-2.0, 2.0, 20000)
    column = np.c_[5.0 + 0.3 * np.cos(angles), 0.3 * np.sin(angles), height]
    local_map = LocalMap(RegistrationConfig(), num_keyframes=3)
    local_map.add(Keyframe(column, np.eye(4), np.eye(6), np.zeros(6)))
    target, fine = local_map.target(0.3, np.zeros(3), 100.0), local_map.fine_target(0.3, np.zeros(3), 100.0)
    depths = []
    for cloud in (target, fine):
        points = cloud.points * cloud.voxel_size + cloud.centre
        depths.append(0.3 - np.hypot(points[:, 0] - 5.0, points[:, 1]).mean())
    assert len(fine) > 1.5 * len(target) and depths[1] < depths[0]
    assert local_map.fine_target(0.3, np.zeros(3), 100.0) is fine


def test_a_noisy_sensor_has_no_fine_target():
    rng = np.random.default_rng(0)
    wall = np.c_[np.full(20000, 5.0), rng.uniform(-2.0, 2.0, (20000, 2))]
    local_map = LocalMap(RegistrationConfig(), num_keyframes=3)
    for noise, is_fine in ((0.01, True), (0.06, False)):
        local_map.restart([Keyframe(wall + rng.normal(0.0, noise, wall.shape), np.eye(4), np.eye(6), np.zeros(6))])
        views = 0.3, np.zeros(3), 100.0
        assert (local_map.fine_target(*views) is not local_map.target(*views)) == is_fine


def test_keyframes_of_an_earlier_map_are_kept_in_their_own_segment():
    frames, earlier = Keyframes(10, 1000, 2), Keyframes(10, 1000, 2)
    earlier.add(np.zeros((10, 3)), pose_at(1.0), np.eye(6), np.zeros(6))
    for x in (0.0, 3.0):
        frames.add(np.zeros((10, 3)), pose_at(x), np.eye(6), np.zeros(6))
    frames.add_earlier(earlier, pose_at(-5.0))
    assert [frame.T_map_sensor[0, 3] for frame in frames] == [-4.0, 0.0, 3.0]
    assert [frame.T_map_sensor[0, 3] for frame in frames.around(frames[2])] == [3.0, 0.0]
    assert [frame.T_map_sensor[0, 3] for frame in frames.around(frames[0])] == [-4.0]


def test_of_too_many_keyframes_one_at_a_crowded_place_goes():
    frames = Keyframes(max_frames=4, max_points=1000, num_protected=2)
    for x in (0.0, 10.0, 11.0, 20.0, 30.0):
        frames.add(np.zeros((10, 3)), pose_at(x), np.eye(6), np.zeros(6))
    assert [frame.T_map_sensor[0, 3] for frame in frames] == [0.0, 11.0, 20.0, 30.0]
    assert frames.around(frames[-2])[0].T_map_sensor[0, 3] == 20.0


def test_the_most_similar_keyframe_is_that_of_the_same_place_rotated():
    rng = np.random.default_rng(3)
    frames = Keyframes(10, 1000, 1)
    for size in (1.0, 2.0, 4.0, 8.0):
        frames.add(size * rng.uniform(-1, 1, (900, 3)), pose_at(size), np.eye(6), np.zeros(6))
    turn = se3.rotation_exp(np.array([0, 0, 2.0]))
    assert frames.most_similar_first(4.0 * rng.uniform(-1, 1, (900, 3)) @ turn.T)[0] is frames[2]


def test_a_large_keyframe_keeps_points_of_every_laser():
    firings = np.zeros((500, 16, 3))
    firings[..., 2] = np.arange(16)
    kept = Keyframes(1, 1000, 1).add(firings.reshape(-1, 3), np.eye(4), np.eye(6), np.zeros(6)).points
    assert len(kept) == 1000 and kept.base is None
    assert np.bincount(kept[:, 2].astype(int), minlength=16).min() > 30


@pytest.mark.parametrize("num_new", [0, 2000])
def test_the_motion_of_a_sweep_is_estimated_with_its_pose(num_new):
    """Three walls, seen by a sensor that moves faster than was predicted; the first rows may see a new place."""
    rng = np.random.default_rng(4)
    walls = rng.uniform(-4, 4, (6000, 3))
    walls[np.arange(6000), np.arange(6000) % 3] = 5.0
    target = prepare_cloud(walls, 0.2, RegistrationConfig(), np.zeros((1, 3)))
    twist, pose = np.array([1.5, -0.5, 0.2, 0.1, -0.2, 1.0]), se3.exp(np.array([0.1, 0.05, 0, 0, 0, 0.05]))
    times = rng.uniform(-0.05, 0.05, 6000)
    walls[:num_new] += 50.0
    seen = np.array(
        [se3.apply(se3.invert(pose @ se3.exp(twist * t)), p[None])[0] for p, t in zip(walls, times, strict=True)]
    )
    guess = pose @ se3.exp(np.array([0.05, -0.04, 0.03, 0.01, 0.0, -0.01]))
    found, estimated = refine_sweep(seen, times, guess, np.zeros(6), target)
    np.testing.assert_allclose(found, pose, atol=0.01)
    np.testing.assert_allclose(estimated, twist, atol=0.15)


@pytest.mark.parametrize(
    ("stamps", "verdicts"),
    [
        ((0.0, 0.1, 0.2), "uuu"),
        ((0.0, 0.1, 100.0, 0.2, 0.3), "uuiuu"),  # one outlier ahead
        ((0.0, 0.1, 0.2, 60.0, 60.1, 60.2), "uuuiuu"),  # a gap
        ((0.0, 0.1, 0.2, 60.0, 65.0, 70.0), "uuuiuu"),  # a gap, then rare scans
        ((50.0, 50.1, 50.2, 0.0, 50.3, 50.4), "uuuiuu"),  # one outlier behind
        ((50.0, 50.1, 0.0, 0.1, 0.2), "uuiru"),  # a bag that starts again
        ((0.0, 5.0, 10.0, 15.0), "uuuu"),  # rare scans
        ((1.0, 2.0, 2.0, 1.5, 3.0), "uuiiu"),  # late scans
        ((1000.0, 0.0, 0.1, 0.2), "uiru"),  # the first one incorrect
    ],
)
def test_stamps_that_jump_need_confirmation(stamps, verdicts):
    stamp_filter = StampFilter(jump=1.0)
    assert "".join(stamp_filter.check(stamp)[0][0] for stamp in stamps) == verdicts


def test_drift_is_the_error_of_a_segment_by_its_length():
    truth = np.array([pose_at(0.5 * i) for i in range(41)])
    estimate = np.array([pose_at(0.505 * i) for i in range(41)])
    translation, rotation = segment_drift(estimate, truth, (5.0, 10.0))
    assert translation == pytest.approx(0.01) and rotation == pytest.approx(0.0, abs=1e-9)
    assert segment_drift(estimate, truth, (50.0,)) is None


def test_the_normals_of_curved_surfaces_need_more_neighbours_only_of_a_noisy_sensor():
    rng = np.random.default_rng(0)
    angles, height = rng.uniform(np.pi / 2, 3 * np.pi / 2, (2, 20000)), rng.uniform(-2.0, 2.0, 20000)
    columns = np.c_[5.0 + 0.3 * np.cos(angles[0]), np.sign(angles[1] - np.pi) + 0.3 * np.sin(angles[0]), height]
    local_map = LocalMap(RegistrationConfig(), num_keyframes=3)
    for noise, num_neighbors in ((0.003, RegistrationConfig().num_neighbors), (0.06, None)):
        noisy = columns + rng.normal(0.0, noise, columns.shape)
        local_map.restart([Keyframe(noisy, np.eye(4), np.eye(6), np.zeros(6))])
        local_map.target(0.3, np.zeros(3), 100.0)
        assert local_map.num_neighbors == num_neighbors
