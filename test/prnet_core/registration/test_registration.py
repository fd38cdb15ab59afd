"""The promises of Registration.register on clouds made here."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.registration import Registration, RegistrationConfig, RegistrationError


def room(rng, count=4000):
    """Points on a floor, two walls, a box and a cylinder, metres, seen from the origin."""
    share = count // 5
    uniform = rng.uniform
    floor = np.c_[uniform(-4, 4, share), uniform(-3, 5, share), np.full(share, -1.0)]
    wall_a = np.c_[uniform(-4, 4, share), np.full(share, 5.0), uniform(-1, 2, share)]
    wall_b = np.c_[np.full(share, 4.0), uniform(-3, 5, share), uniform(-1, 2, share)]
    angle = uniform(0, 2 * np.pi, share)
    cylinder = np.c_[-2 + 0.5 * np.cos(angle), 2 + 0.5 * np.sin(angle), uniform(-1, 1.5, share)]
    box = np.c_[uniform(1, 2.5, share), np.full(share, 1.0), uniform(-1, 0.3, share)]
    box[::2, :2] = np.c_[np.full(len(box[::2]), 1.0), uniform(1, 2.2, len(box[::2]))]
    return np.vstack([floor, wall_a, wall_b, cylinder, box])


@pytest.fixture(scope="module")
def pair():
    """Two different samples of the room, the source moved: (source, target, T_target_source)."""
    rng = np.random.default_rng(0)
    truth = se3.exp(np.array([0.4, -0.2, 0.1, 0.05, -0.03, 0.2]))
    source = se3.apply(se3.invert(truth), room(rng))
    return source, room(rng), truth


def assert_close(result, truth, metres=0.01, degrees=0.2):
    difference = se3.invert(truth) @ result.T_target_source
    assert np.linalg.norm(difference[:3, 3]) < metres
    assert np.degrees(se3.rotation_angle(difference[:3, :3])) < degrees


def test_finds_the_transform_without_a_guess(pair):
    source, target, truth = pair
    result = Registration(None).register(source, target)
    assert result.status == "accepted", result.reason
    assert_close(result, truth)
    assert np.linalg.det(result.T_target_source[:3, :3]) == pytest.approx(1.0, abs=1e-12)


def test_a_good_guess_wins(pair):
    source, target, truth = pair
    result = Registration(None).register(source, target, truth)
    assert result.hypothesis == "guess"
    assert_close(result, truth)


def test_points_that_are_not_finite_are_dropped(pair):
    source, target, truth = pair
    dirty = np.vstack([source, np.full((50, 3), np.nan), [[np.inf, 0, 0]]])
    assert_close(Registration(None).register(dirty, target), truth)


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.full((100, 3), np.nan), np.ones((100, 3))])
def test_unusable_clouds_are_rejected_with_a_reason(pair, points):
    _, target, _ = pair
    for result in (
        Registration(None).register(points, target),
        Registration(None).register(target, points),
    ):
        assert result.status == "rejected"
        assert result.reason


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_transform_does_not_depend_on_the_unit(pair, factor):
    source, target, _ = pair
    metres = Registration(None).register(source, target).T_target_source
    other = Registration(None).register(source * factor, target * factor).T_target_source
    np.testing.assert_allclose(other[:3, :3], metres[:3, :3], atol=1e-6)
    np.testing.assert_allclose(other[:3, 3] / factor, metres[:3, 3], rtol=1e-4, atol=1e-6)


def test_the_transform_does_not_depend_on_an_offset(pair):
    source, target, _ = pair
    offset = np.array([1e6, -2e6, 500.0])
    near = Registration(None).register(source, target).T_target_source
    far = Registration(None).register(source + offset, target + offset).T_target_source
    shift = se3.make_transform(np.eye(3), offset)
    np.testing.assert_allclose(se3.invert(shift) @ far @ shift, near, atol=1e-4)


def test_incorrect_calls_raise(pair):
    source, target, _ = pair
    with pytest.raises(RegistrationError, match="points must be"):
        Registration(None).register(source[:, :2], target)
    with pytest.raises(RegistrationError, match="rigid"):
        Registration(None).register(source, target, 2.0 * np.eye(4))
    with pytest.raises(RegistrationError, match="4, 4"):
        Registration(None).register(source, target, np.eye(3))


def test_two_calls_give_the_same_bits(pair):
    source, target, _ = pair
    registration = Registration(None, RegistrationConfig())
    first, second = registration.register(source, target), registration.register(source, target)
    np.testing.assert_array_equal(first.T_target_source, second.T_target_source)


def test_far_outliers_and_values_that_mean_nothing_do_not_matter(pair):
    source, target, truth = pair
    dirty = np.vstack([source, [[1e9, 0, 0]], np.full((20, 3), np.finfo(np.float32).max)])
    result = Registration(None).register(dirty, target)
    assert result.status == "accepted", result.reason
    assert_close(result, truth)


DEGENERATE = {
    "line": np.outer(np.linspace(-1, 1, 200), [1.0, 2.0, 3.0]),
    "three points": np.repeat(np.eye(3), 50, axis=0),
    "grid": np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3),
    "few": np.random.default_rng(1).normal(size=(31, 3)),
    "tiny": 1e-9 * np.random.default_rng(2).normal(size=(200, 3)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_clouds_give_a_rigid_transform_and_a_status(pair, name):
    cloud = DEGENERATE[name]
    for source, target in ((cloud, pair[1]), (pair[1], cloud), (cloud, cloud)):
        result = Registration(None).register(source, target)
        assert result.status in ("accepted", "weak", "rejected")
        assert result.reason
        rotation = result.T_target_source[:3, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(rotation) == pytest.approx(1.0)
        assert np.isfinite(result.covariance).all()


def test_a_mirrored_target_is_never_met_by_a_mirror(pair):
    source, target, _ = pair
    result = Registration(None).register(source, target * [1.0, 1.0, -1.0])
    assert np.linalg.det(result.T_target_source[:3, :3]) == pytest.approx(1.0)


def test_points_that_are_there_twice_or_at_the_origin_change_nothing(pair):
    source, target, truth = pair
    small = Registration(None)
    for repeat in (1, 2, 5):
        repeated = [np.repeat(cloud, repeat, axis=0) for cloud in (source, target)]
        result = small.register(*(np.vstack([cloud, np.zeros((2000, 3))]) for cloud in repeated))
        assert result.status == "accepted", (repeat, result.reason)
        assert small.voxel_size_for(repeated[0]) == pytest.approx(small.voxel_size_for(source), rel=0.02)


def test_clouds_of_different_size_register(pair):
    source, target, truth = pair
    assert_close(Registration(None).register(source[::3], target), truth, metres=0.03, degrees=0.5)
