"""Alignment quality, verification and covariance on scenes whose answer is known."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality, information_of, measure_alignment
from prnet_core.registration.result import UNKNOWN_VARIANCE
from prnet_core.registration.verify import confidence, score, verify

CONFIG = RegistrationConfig(voxel_size=0.25)


def noisy(points, rng):
    return points + 0.01 * rng.normal(size=points.shape)


def plane(rng):
    return noisy(np.c_[rng.uniform(-5, 5, (6000, 2)), np.zeros(6000)], rng)


def corridor(rng):
    walls = [np.c_[rng.uniform(-10, 10, 1500), np.full(1500, y), rng.uniform(-1, 1.5, 1500)] for y in (-1.5, 1.5)]
    floors = [np.c_[rng.uniform(-10, 10, 1500), rng.uniform(-1.5, 1.5, 1500), np.full(1500, z)] for z in (-1, 1.5)]
    return noisy(np.vstack(walls + floors), rng)


def corner(rng):
    return noisy(np.vstack([np.insert(rng.uniform(0, 5, (2000, 2)), axis, 0.0, axis=1) for axis in range(3)]), rng)


def register(scene, config=CONFIG):
    return Registration(None, config).register(
        scene(np.random.default_rng(0)), scene(np.random.default_rng(1)), np.eye(4)
    )


def test_a_corridor_is_weak_and_says_along_which_direction():
    result = register(corridor)
    assert result.status == "weak"
    assert "translation along (1.00" in result.reason
    deviation = np.sqrt(np.diag(result.covariance))
    assert deviation[0] > 0.5
    assert deviation[1] < 0.05 and deviation[2] < 0.05


def test_a_plane_is_weak():
    result = register(plane)
    assert result.status == "weak"
    assert "does not constrain" in result.reason
    assert result.degeneracy < CONFIG.min_information


def test_a_corner_is_held_and_its_covariance_is_small_and_positive():
    result = register(corner)
    assert result.status == "accepted"
    assert result.degeneracy > CONFIG.min_information
    eigenvalues = np.linalg.eigvalsh(result.covariance)
    assert 0.0 < eigenvalues[0] and eigenvalues[-1] < 0.01


def test_different_scenes_are_rejected_with_an_unknown_covariance():
    rng = np.random.default_rng(5)
    ball = rng.normal(size=(3000, 3))
    ball = 2.0 * ball / np.linalg.norm(ball, axis=1, keepdims=True)
    result = Registration(None).register(ball, corner(rng))
    assert result.status == "rejected"
    assert "agree too little" in result.reason
    np.testing.assert_array_equal(result.covariance, np.eye(6) * UNKNOWN_VARIANCE)


def test_the_covariance_is_of_motions_about_the_origin_of_the_target():
    """A cloud far from the origin: a small rotation about it moves the cloud far, so both correlate."""
    near = register(corner)
    shift = np.array([100.0, 0.0, 0.0])
    rng = [np.random.default_rng(seed) for seed in (0, 1)]
    far = Registration(None, CONFIG).register(corner(rng[0]) + shift, corner(rng[1]) + shift, np.eye(4))
    to_near = se3.adjoint(se3.make_transform(np.eye(3), -shift))
    np.testing.assert_allclose(to_near @ far.covariance @ to_near.T, near.covariance, atol=2e-6)


def test_quality_of_a_cloud_on_itself_is_full():
    registration = Registration(None, CONFIG)
    cloud = registration.prepare(corner(np.random.default_rng(0)), 0.25)
    quality = measure_alignment(cloud, cloud, np.eye(4), CONFIG)
    assert quality.inlier_ratio == quality.overlap_source == quality.overlap_target == 1.0
    assert confidence(quality) > 0.9
    assert verify(quality, CONFIG)[0] == "accepted"


def without_origin(agreement, overlap):
    return AlignmentQuality(0.9, 0.1, overlap, overlap, agreement, (), 2000, np.zeros(3), 1.0, 0.1 * np.eye(6))


def test_clouds_without_an_origin_are_accepted_where_the_surfaces_of_their_overlap_meet():
    small, large = without_origin(0.25, 0.3), without_origin(0.4, 0.65)
    assert verify(small, CONFIG)[0] == "accepted"
    assert verify(large, CONFIG)[0] == "weak"
    assert verify(without_origin(0.15, 0.16), CONFIG)[0] == "rejected"  # too little to say
    assert score(small) > score(large) and confidence(small) > confidence(large)


def test_quality_of_clouds_apart_is_none():
    registration = Registration(None, CONFIG)
    cloud = registration.prepare(corner(np.random.default_rng(0)), 0.25)
    away = se3.make_transform(np.eye(3), np.array([1e4, 0, 0]))
    quality = measure_alignment(cloud, cloud, away, CONFIG)
    assert quality.num_inliers == 0
    assert confidence(quality) < 1e-6
    assert verify(quality, CONFIG)[0] == "rejected"


def test_information_of_one_plane_holds_three_directions():
    rng = np.random.default_rng(6)
    points = np.c_[rng.uniform(-1, 1, (500, 2)), np.zeros(500)]
    _, _, information = information_of(points, *[np.tile([0.0, 0.0, 1.0], (500, 1))] * 2)
    eigenvalues = np.linalg.eigvalsh(information)
    np.testing.assert_allclose(eigenvalues[:3], 0.0, atol=1e-12)
    assert eigenvalues[3] > 0.1


def test_noisy_clouds_that_overlap_fully_are_weak_rather_than_lost():
    noise = np.random.default_rng(8)
    clouds = [corner(np.random.default_rng(seed)) for seed in (0, 1)]
    clouds = [cloud + 0.09 * noise.normal(size=cloud.shape) for cloud in clouds]
    result = Registration(None, CONFIG).register(*clouds, np.eye(4))
    assert result.status in ("accepted", "weak"), (result.status, result.reason)
    assert np.linalg.norm(result.T_target_source[:3, 3]) < 0.1
