"""The sign of normals."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.geometry.normals import orient_away

TRANSFORM = se3.exp(np.array([1.0, -2.0, 0.5, 0.4, -1.1, 1.9]))


@pytest.fixture
def sphere():
    """Points on a unit sphere and their outward normals with random signs."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, points * rng.choice([-1.0, 1.0], (300, 1))


def test_without_a_sensor_normals_point_away_from_the_centroid(sphere):
    np.testing.assert_array_equal(orient_away(*sphere), sphere[0])


def test_normals_point_away_from_the_sensor(sphere):
    points, normals = sphere
    sensor = np.array([[0.0, 0.0, 4.0]])
    oriented = orient_away(points, normals, sensor)
    assert (np.sum(oriented * (points - sensor), axis=1) >= 0.0).all()
    seen = points[:, 2] > 0.5
    np.testing.assert_array_equal(oriented[seen], -points[seen])


def test_of_several_sensor_positions_the_nearest_counts(sphere):
    points, normals = sphere
    sensors = np.array([[0.0, 0.0, 4.0], [0.0, 0.0, -4.0]])
    oriented = orient_away(points, normals, sensors)
    facing = np.abs(points[:, 2]) > 0.5
    np.testing.assert_array_equal(oriented[facing], -points[facing])


@pytest.mark.parametrize("sensor", [None, np.array([[0.3, 0.1, 4.0]])])
def test_the_orientation_moves_with_the_cloud(sphere, sensor):
    points, normals = sphere
    here = orient_away(points, normals, sensor)
    moved = None if sensor is None else se3.apply(TRANSFORM, sensor)
    there = orient_away(se3.apply(TRANSFORM, points), normals @ TRANSFORM[:3, :3].T, moved)
    np.testing.assert_allclose(there, here @ TRANSFORM[:3, :3].T, atol=1e-9)
