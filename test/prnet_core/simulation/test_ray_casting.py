import numpy as np
import pytest

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.ray_casting import BOX, CYLINDER, ELLIPSOID, Solids, cast_rays

IDENTITY = np.eye(3)


def solids(*items):
    kinds, centres, axes, half_sizes = (np.array(column) for column in zip(*items, strict=True))
    return Solids(kinds, centres.astype(float), axes.astype(float), half_sizes.astype(float))


@pytest.mark.parametrize(
    ("kind", "half_sizes", "distance"),
    [(BOX, [1, 2, 3], 9.0), (CYLINDER, [1, 1, 3], 9.0), (ELLIPSOID, [2, 2, 1], 8.0)],
)
def test_known_distances_along_x(kind, half_sizes, distance):
    scene = solids((kind, [10, 0, 0], IDENTITY, half_sizes))
    rays = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0]])
    assert cast_rays(np.zeros(3), rays, scene) == pytest.approx([distance, np.inf, np.inf])


def test_a_cylinder_is_closed_by_its_caps():
    scene = solids((CYLINDER, [0, 0, 5], IDENTITY, [1, 1, 2]))
    assert cast_rays(np.zeros(3), np.array([[0, 0, 1.0]]), scene) == pytest.approx([3.0])
    beside = cast_rays(np.array([1.5, 0, 0]), np.array([[0, 0, 1.0]]), scene)
    assert beside == pytest.approx([np.inf])


def test_the_nearest_of_several_is_hit():
    scene = solids((BOX, [5, 0, 0], IDENTITY, [1, 1, 1]), (ELLIPSOID, [3, 0, 0], IDENTITY, [0.5, 0.5, 0.5]))
    assert cast_rays(np.zeros(3), np.array([[1.0, 0, 0]]), scene) == pytest.approx([2.5])


@pytest.mark.parametrize("kind", [BOX, CYLINDER, ELLIPSOID])
def test_hits_lie_on_the_surface_of_a_turned_solid(kind):
    rng = np.random.default_rng(kind)
    axes, centre, half_sizes = any_rotation(rng), rng.normal(size=3), rng.uniform(0.5, 2.0, 3)
    origin = centre + 8.0 * any_rotation(rng)[0]
    rays = centre - origin + rng.normal(size=(2000, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    ranges = cast_rays(origin, rays, solids((kind, centre, axes, half_sizes)))
    hit = np.isfinite(ranges)
    assert 0.1 < hit.mean() < 1.0
    unit = np.abs((origin + rays[hit] * ranges[hit, None] - centre) @ axes / half_sizes)
    flat = np.hypot(unit[:, 0], unit[:, 1])
    level = {
        BOX: unit.max(1),
        CYLINDER: np.maximum(flat, unit[:, 2]),
        ELLIPSOID: np.linalg.norm(unit, axis=1),
    }[kind]
    assert np.allclose(level, 1.0, atol=1e-3)


def test_contain_knows_inside_and_margin():
    scene = solids((BOX, [0, 0, 0], IDENTITY, [1, 1, 1]), (CYLINDER, [5, 0, 0], IDENTITY, [1, 1, 1]))
    points = np.array([[0.5, 0.5, 0.5], [1.1, 0, 0], [5.9, 0.9, 0], [5.5, 0, 0]])
    assert scene.contain(points).tolist() == [True, False, False, True]
    assert scene.contain(points, margin=0.2).tolist() == [True, True, False, True]
