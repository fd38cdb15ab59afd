"""Rigid transforms in numpy: exponential and logarithm, distance of transforms."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 9e-4, 1.1e-3, 0.3, 3.0, np.pi - 1e-6])
def test_exp_is_the_matrix_exponential_and_log_inverts_it(angle):
    twist = np.concatenate([[1.0, -2.0, 0.5], angle * np.array([1.0, 2.0, -2.0]) / 3.0])
    generator = np.zeros((4, 4))
    generator[:3, :3], generator[:3, 3] = se3.skew(twist[3:]), twist[:3]
    np.testing.assert_allclose(se3.exp(twist), expm(generator), atol=1e-9)
    np.testing.assert_allclose(se3.log(se3.exp(twist)), twist, atol=1e-6)


@pytest.mark.parametrize("angle", [1e-12, 1e-7, 1e-3, 0.3, 2.0, 3.0, np.pi - 1e-9])
def test_rotation_vector_and_angle_are_precise_about_every_axis(angle):
    for axis in [*np.eye(3), *-np.eye(3), np.array([0.6, -0.8, 0.0]), np.array([1.0, 2.0, -2.0]) / 3.0]:
        rotation = se3.rotation_exp(angle * axis)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(rotation, Rotation.from_rotvec(angle * axis).as_matrix(), atol=1e-14)
        np.testing.assert_allclose(se3.rotation_log(rotation), angle * axis, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(se3.rotation_angle(rotation), angle, rtol=1e-12)


def test_adjoint_maps_twists_between_frames():
    T_a_b, twist_b = se3.exp(np.array([1.0, 2.0, 3.0, 0.3, -0.4, 0.5])), np.array([0.1, 0.2, -0.3, 0.4, 0.5, 0.6])
    expected = T_a_b @ se3.exp(twist_b) @ se3.invert(T_a_b)
    np.testing.assert_allclose(se3.exp(se3.adjoint(T_a_b) @ twist_b), expected, atol=1e-12)


def test_transform_distance_bounds_the_distance_of_moved_points():
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, second = (se3.exp(rng.normal(size=6)) for _ in range(2))
        points = rng.normal(size=(100, 3))
        points *= 5.0 / np.linalg.norm(points, axis=1, keepdims=True)
        distances = np.linalg.norm(se3.apply(first, points) - se3.apply(second, points), axis=1)
        assert distances.max() <= se3.transform_distance(first, second, 5.0) + 1e-9
    assert se3.transform_distance(first, first, 5.0) == pytest.approx(0.0, abs=1e-6)
