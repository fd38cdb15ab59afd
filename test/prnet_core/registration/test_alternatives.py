"""Clouds that fit in several poses are ambiguous, and the alternatives are given."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.registration import Registration
from prnet_core.registration.alternatives import cube_rotations, normal_frame, point_frame


def cube(rng, count=4000, knob=False, is_open=False):
    """Points on a cube of 1 m; with a ball on one face, or an open box without its lid."""
    face = rng.integers(0, 5 if is_open else 6, count)
    points = rng.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), face // 2] = np.where(face % 2, 0.5, -0.5)
    if is_open:
        points *= (1.3, 1.0, 0.7)
    if knob:
        ball = rng.normal(size=(count // 12, 3))
        ball = 0.12 * ball / np.linalg.norm(ball, axis=1, keepdims=True) + (0.3, 0.25, 0.52)
        points = np.vstack([points[len(ball) :], ball])
    return points + 0.003 * rng.normal(size=points.shape)


def register(seed, **shape):
    """Result and ground truth of two samples of a shape, at any rotation."""
    rng = np.random.default_rng(seed)
    truth = se3.exp(rng.normal(size=6) * (1.0, 1.0, 1.0, 2.0, 2.0, 2.0))
    source, target = se3.apply(se3.invert(truth), cube(rng, **shape)), cube(rng, **shape)
    return Registration(None).register(source, target), truth


def rotation_error_deg(transform, truth):
    return np.degrees(se3.rotation_angle(truth[:3, :3].T @ transform[:3, :3]))


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cube_and_an_open_box_are_ambiguous(seed, is_open):
    result, truth = register(seed, is_open=is_open)
    assert result.status == "ambiguous", result.reason
    assert not result.usable
    found = [result.T_target_source, *result.alternatives]
    assert len(found) > 1
    for transform in found:
        np.testing.assert_allclose(transform[:3, :3] @ transform[:3, :3].T, np.eye(3), atol=1e-9)
    if is_open:
        assert min(rotation_error_deg(transform, truth) for transform in found) < 3.0


@pytest.mark.parametrize("seed", [0, 1])
def test_a_knob_makes_the_cube_unique(seed):
    result, truth = register(seed, knob=True)
    assert result.status == "accepted", result.reason
    assert result.alternatives == []
    assert rotation_error_deg(result.T_target_source, truth) < 3.0


def test_a_near_guess_decides():
    rng = np.random.default_rng(3)
    truth = se3.exp(np.array([0.02, 0.01, 0.0, 0.1, 0.05, 0.1]))
    result = Registration(None).register(se3.apply(se3.invert(truth), cube(rng)), cube(rng), np.eye(4))
    assert result.status == "accepted", result.reason
    assert rotation_error_deg(result.T_target_source, truth) < 3.0


def test_the_cube_has_24_rotations():
    rotations = cube_rotations()
    assert len(rotations) == 24
    np.testing.assert_array_equal(rotations[0], np.eye(3))
    np.testing.assert_allclose(np.linalg.det(rotations), 1.0)


def test_frames_are_rotations():
    rng = np.random.default_rng(4)
    normals = rng.normal(size=(500, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    flat = np.tile([0.0, 0.0, 1.0], (500, 1))
    for axes in (normal_frame(normals), normal_frame(flat), point_frame(cube(rng))):
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-9)
        assert np.linalg.det(axes) == pytest.approx(1.0)
