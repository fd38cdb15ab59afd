"""The sign of normals."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.geometry.normals import estimated_viewpoint, orient_away

TRANSFORM = se3.exp(np.array([1.0, -2.0, 0.5, 0.4, -1.1, 1.9]))


@pytest.fixture
def sphere():
    """Points on a unit sphere and their outward normals with random signs."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, points * rng.choice([-1.0, 1.0], (300, 1))


def test_of_a_closed_object_normals_point_outwards(sphere):
    np.testing.assert_array_equal(orient_away(*sphere), sphere[0])


def room_corner(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on a floor and two walls, seen from (2, 2, 2), and their normals with random signs."""
    rng = np.random.default_rng(seed)
    points, axis = rng.uniform(0.0, 4.0, (3000, 3)), rng.integers(3, size=3000)
    points[np.arange(3000), axis] = 0.0
    return points, np.eye(3)[axis] * rng.choice([-1.0, 1.0], (3000, 1))


def test_a_viewpoint_is_found_from_the_surfaces_alone():
    points, normals = room_corner(0)
    oriented = orient_away(points, normals)
    assert (oriented.max(axis=1) <= 0.0).mean() > 0.99
    part = points[:, 0] < 0.5  # mostly one wall: its other surfaces lie on both sides of the centroid
    oriented = orient_away(points[part], normals[part], estimated_viewpoint(points[part], normals[part])[None])
    assert (oriented.max(axis=1) <= 0.0).mean() > 0.95
    assert estimated_viewpoint(points[:3], normals[:3]) == pytest.approx(points[:3].mean(axis=0))


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


def test_the_orientation_moves_with_the_cloud(sphere):
    points, normals = sphere
    sensor = np.array([[0.3, 0.1, 4.0]])
    here = orient_away(points, normals, sensor)
    there = orient_away(se3.apply(TRANSFORM, points), normals @ TRANSFORM[:3, :3].T, se3.apply(TRANSFORM, sensor))
    np.testing.assert_allclose(there, here @ TRANSFORM[:3, :3].T, atol=1e-9)
