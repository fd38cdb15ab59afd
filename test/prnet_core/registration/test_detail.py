"""Places that agree on their largest planes: a corner of walls fits another, what stands in it does not."""

from dataclasses import replace

import numpy as np
import pytest

from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality, measure_alignment
from prnet_core.registration.config import without_alternatives
from prnet_core.registration.detail import Detail, is_distinctive, measure_detail
from prnet_core.registration.free_space import FreeSpace
from prnet_core.registration.registration import to_voxels
from prnet_core.simulation.depth_camera import OPTICAL, DepthCamera
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.solids import SolidsBuilder
from prnet_core.simulation.two_scans import sensor_pose

ORIGIN = np.zeros(3)


def corner_view(along, yaw_deg, seed, is_furnished=False):
    """A depth camera's points (N, 3) of a corner of two walls and the floor, and T_world_camera (4, 4)."""
    scene = SolidsBuilder()
    scene.box((0.0, 0.0, -0.1), (6.0, 6.0, 0.2))
    scene.box((1.5, 0.0, 1.2), (0.2, 6.0, 2.4))
    scene.box((0.0, 1.5, 1.2), (6.0, 0.2, 2.4))
    if is_furnished:
        scene.box((1.0, 0.4, 0.35), (0.5, 0.4, 0.7), yaw=0.4)
        scene.box((0.2, 1.1, 0.5), (0.3, 0.5, 1.0), yaw=0.2)
        scene.blob((0.75, 0.8, 0.25), (0.45, 0.4, 0.5))
    pose = sensor_pose((-1.0 + along, -1.0, 1.2), 45.0 + yaw_deg, (0.0, 12.0))
    pose[:3, :3] = pose[:3, :3] @ OPTICAL[:3, :3]
    points = DepthCamera.kinect_like().frame(RayScene.from_solids(scene.solids()), pose, np.random.default_rng(seed))
    points = points.reshape(-1, 3)
    return points[np.isfinite(points).all(axis=1)], pose


def register(views, guess=None, config=None, origin=ORIGIN):
    (source, T_world_source), (target, T_world_target) = views
    relative = np.linalg.inv(T_world_target) @ T_world_source
    guess = relative if guess is not None else None
    origins = {"source_origin": origin, "target_origin": origin}
    return Registration(None, config).register(source, target, guess, **origins), relative


@pytest.fixture(scope="module")
def corners():
    return corner_view(0.0, 0.0, 1), corner_view(0.15, 5.0, 2)


@pytest.mark.parametrize("origin", [ORIGIN, None])
def test_corners_of_walls_are_weak_without_a_guess(corners, origin):
    """No sensor can see whether they are the same corner."""
    result, _ = register(corners, origin=origin)
    assert result.status == "weak" and not result.usable
    assert "largest planes" in result.reason


@pytest.mark.parametrize("config", [None, without_alternatives(RegistrationConfig())])
def test_the_same_corner_near_a_guess_is_accepted(corners, config):
    result, relative = register(corners, "near", config)
    assert result.status == "accepted", result.reason
    np.testing.assert_allclose(result.T_target_source, relative, atol=0.03)


@pytest.mark.parametrize("origin", [ORIGIN, None])
def test_what_stands_in_the_corner_makes_it_distinctive(origin):
    result, relative = register([corner_view(0.0, 0.0, 1, True), corner_view(0.15, 5.0, 2, True)], origin=origin)
    assert result.status == "accepted", result.reason
    np.testing.assert_allclose(result.T_target_source, relative, atol=0.03)


def test_detail_is_what_agrees_beside_the_planes(corners):
    details = []
    for views in (corners, (corner_view(0.0, 0.0, 1, True), corner_view(0.15, 5.0, 2, True))):
        registration = Registration(None)
        voxel = max(registration.voxel_size_for(points) for points, _ in views)
        source, target = (registration.prepare(points, voxel, ORIGIN) for points, _ in views)
        relative = np.linalg.inv(views[1][1]) @ views[0][1]
        quality = measure_alignment(source, target, to_voxels(relative, source, target), registration.config)
        details.append(measure_detail(source, target, quality, registration.config))
    empty, furnished = details
    assert empty.share < 0.05 < 0.1 < furnished.share < 0.5
    assert furnished.agreement > 0.75


@pytest.mark.filterwarnings("error")
def test_points_without_planes_are_all_detail():
    """A sphere of points that are far apart: no plane has more than one of them."""
    points = np.random.default_rng(3).normal(size=(300, 3))
    points = points / np.linalg.norm(points, axis=1, keepdims=True) + (0.0, 0.0, 4.0)
    registration = Registration(None)
    cloud = registration.prepare(points, 2e-6, ORIGIN)
    quality = measure_alignment(cloud, cloud, np.eye(4), registration.config)
    detail = measure_detail(cloud, cloud, quality, registration.config)
    assert detail.share > 0.9


def quality_with(through=0.0, information=1.0):
    space = FreeSpace(through, visible=0.5, agreeing=0.4)
    return AlignmentQuality(0.9, 0.1, 0.9, 0.9, 0.8, (space,), 2000, np.zeros(3), 1.0, information * np.eye(6))


def test_detail_must_agree_where_both_see_it_the_more_the_less_there_is():
    config, quality = RegistrationConfig(), quality_with()
    assert is_distinctive(Detail(0.2, 0.65), quality, config)
    assert not is_distinctive(Detail(0.2, 0.55), quality, config)
    assert is_distinctive(Detail(0.07, 0.9), quality, config)
    assert not is_distinctive(Detail(0.07, 0.6), quality, config)
    assert not is_distinctive(Detail(0.02, 0.9), quality, config)
    assert is_distinctive(Detail(0.0, 0.0), quality, without_alternatives(config))


def test_without_an_origin_some_detail_is_enough_and_less_that_hardly_differs():
    config, quality = RegistrationConfig(), replace(quality_with(), free_space=())
    assert is_distinctive(Detail(0.06, 0.4), quality, config)
    assert is_distinctive(Detail(0.045, 0.9), quality, config)
    assert not is_distinctive(Detail(0.045, 0.7), quality, config)
    assert not is_distinctive(Detail(0.03, 0.9), quality, config)


def test_little_detail_of_a_scene_that_moves_and_hardly_constrains_a_direction_shows_nothing():
    config = RegistrationConfig()
    assert is_distinctive(Detail(0.07, 0.9), quality_with(0.02), config)
    assert is_distinctive(Detail(0.07, 0.9), quality_with(0.0, 0.007), config)
    assert not is_distinctive(Detail(0.07, 0.9), quality_with(0.02, 0.007), config)
    assert is_distinctive(Detail(0.2, 0.9), quality_with(0.02, 0.007), config)
