"""The meshes' ray caster against the analytic one."""

import numpy as np
import pytest
from oracles.analytic_ray_casting import cast_rays

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.solids import BOX, CYLINDER, ELLIPSOID, Solids

IDENTITY = np.eye(3)


def solids(*items):
    kinds, centres, axes, half_sizes = (np.array(column) for column in zip(*items, strict=True))
    return Solids(kinds, centres.astype(float), axes.astype(float), half_sizes.astype(float))


def scene_distance(solids, origin, rays):
    return RayScene.from_solids(solids).cast(np.asarray(origin, float), np.asarray(rays, float)).distance


@pytest.mark.parametrize("cast", [lambda s, o, r: cast_rays(o, r, s), scene_distance])
@pytest.mark.parametrize(
    ("kind", "half_sizes", "distance"),
    [(BOX, [1, 2, 3], 9.0), (CYLINDER, [1, 1, 3], 9.0), (ELLIPSOID, [2, 2, 1], 8.0)],
)
def test_known_distances_along_x(cast, kind, half_sizes, distance):
    scene = solids((kind, [10, 0, 0], IDENTITY, half_sizes))
    rays = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert cast(scene, np.zeros(3), rays) == pytest.approx([distance, np.inf, np.inf], rel=5e-3)


@pytest.mark.parametrize("kind", [BOX, CYLINDER, ELLIPSOID])
def test_meshes_agree_with_the_analytic_caster(kind):
    rng = np.random.default_rng(kind)
    axes, centre, half_sizes = any_rotation(rng), rng.normal(size=3), rng.uniform(0.5, 2.0, 3)
    origin = centre + 8.0 * any_rotation(rng)[0]
    rays = centre - origin + rng.normal(size=(4000, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    scene = solids((kind, centre, axes, half_sizes))
    expected, measured = cast_rays(origin, rays, scene), scene_distance(scene, origin, rays)
    both = np.isfinite(expected) & np.isfinite(measured)
    assert 0.1 < both.mean() < 1.0
    assert (np.isfinite(expected) != np.isfinite(measured)).mean() < 0.01  # at the silhouette
    difference = np.abs(expected[both] - measured[both])
    assert np.median(difference) < 0.003 * half_sizes.max()
    if kind == BOX:
        assert difference.max() < 1e-4


def test_the_nearest_of_several_is_hit_and_the_incidence_is_known():
    scene = RayScene.from_solids(
        solids((BOX, [5, 0, 0], IDENTITY, [1, 1, 1]), (ELLIPSOID, [3, 0, 0], IDENTITY, [0.5, 0.5, 0.5]))
    )
    slanted = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    hits = scene.cast(np.zeros(3), np.array([[1.0, 0.0, 0.0], -slanted]))
    assert hits.distance[0] == pytest.approx(2.5, rel=1e-3)
    assert np.isinf(hits.distance[1]) and hits.cos_incidence[1] == 0.0
    wall = RayScene.from_solids(solids((BOX, [5, 0, 0], IDENTITY, [1, 9, 9])))
    assert wall.cast(np.zeros(3), slanted[None]).cos_incidence == pytest.approx([np.cos(0.5)], abs=1e-5)
    assert wall.surface_distance(np.array([[3.5, 0.0, 0.0]])) == pytest.approx([0.5], abs=1e-5)


def test_a_ray_of_any_length_measures_in_its_own_unit():
    scene = RayScene.from_solids(solids((BOX, [5, 0, 0], IDENTITY, [1, 1, 1])))
    assert scene.cast(np.zeros(3), np.array([[2.0, 0.0, 0.0]])).distance == pytest.approx([2.0], abs=1e-5)


def test_contain_knows_inside_and_margin():
    scene = solids((BOX, [0, 0, 0], IDENTITY, [1, 1, 1]), (CYLINDER, [5, 0, 0], IDENTITY, [1, 1, 1]))
    points = np.array([[0.5, 0.5, 0.5], [1.1, 0, 0], [5.9, 0.9, 0], [5.5, 0, 0]])
    assert scene.contain(points).tolist() == [True, False, False, True]
    assert scene.contain(points, margin=0.2).tolist() == [True, True, False, True]
