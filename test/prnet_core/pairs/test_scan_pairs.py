import numpy as np
import pytest
import torch
from scipy.spatial import cKDTree

from prnet_core.pairs.scan_pairs import (
    MIN_OVERLAP,
    ScanPairConfig,
    ScanPairSource,
    draw_scan_pair,
    make_scan_pair,
    scan_pair_batch,
)
from prnet_core.simulation.object_views import ObjectViewConfig, ObjectViews
from prnet_core.simulation.procedural_objects import scan_figure
from prnet_core.simulation.scan_views import load_views, save_views, scan_scene
from prnet_core.simulation.visibility import visible_points

NUM_POINTS = 256


def ball(count: int = 2048) -> np.ndarray:
    """Even points on the unit sphere (Fibonacci's lattice)."""
    index = np.arange(count) + 0.5
    z = 1.0 - 2.0 * index / count
    angle = np.pi * (1.0 + 5.0**0.5) * index
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def shapes() -> np.ndarray:
    """Two lumpy shapes without symmetry."""
    sphere = ball()
    lumps = [1.0 + 0.4 * np.sin(3.0 * sphere @ [1.0, 0.3, k]) + 0.3 * sphere[:, 2] for k in (0.2, 1.5)]
    points = np.stack([sphere * lump[:, None] for lump in lumps])
    return points / np.abs(points).max()


@pytest.fixture(scope="module")
def scenes():
    rng = np.random.default_rng(0)
    return [scan_scene(rng) for _ in range(8)]


@pytest.fixture(scope="module")
def objects():
    return ObjectViews(shapes())


@pytest.fixture(params=["scenes", "objects"])
def source(request):
    return ScanPairSource(**{request.param: request.getfixturevalue(request.param)})


def test_only_the_near_side_of_a_ball_is_visible():
    points = ball()
    camera = np.array([2.0, -3.0, 1.0])
    seen = visible_points(points, camera, cell=0.06)
    facing = ((camera - points) * points).sum(axis=1)
    assert not seen[facing < -0.3 * facing.max()].any()
    assert seen[facing > 0.6 * facing.max()].all()


def test_an_object_in_front_hides_what_is_behind():
    wall = np.stack([*np.meshgrid(np.linspace(-1, 1, 50), np.linspace(-1, 1, 50)), np.full((50, 50), -0.8)], -1)
    points = np.concatenate([0.4 * ball(), wall.reshape(-1, 3)])
    seen = visible_points(points, np.array([0.0, 0.0, 4.0]), cell=0.06)[2048:]
    beside_axis = np.linalg.norm(wall.reshape(-1, 3)[:, :2], axis=1)
    assert not seen[beside_axis < 0.4].any()
    assert seen[beside_axis > 0.7].all()


def test_views_of_an_object_are_one_sided():
    round_shape = ball()[None]
    config = ObjectViewConfig(warp_share=0.0, floor_share=0.0, clutter_share=0.0, max_noise=0.0)
    views = ObjectViews(round_shape, config)
    for seed in range(5):
        for view in views.draw(np.random.default_rng(seed)):
            camera = view.T_world_sensor[:3, 3]
            towards = view.points @ camera / np.linalg.norm(camera)
            assert towards.min() > -0.15
            assert np.linalg.det(view.T_world_sensor[:3, :3]) == pytest.approx(1.0)
            in_camera = (view.points - camera) @ view.T_world_sensor[:3, :3]
            assert (in_camera[:, 2] > 0.0).all()


def test_views_of_a_figure_are_one_sided():
    """No point lies straight behind another one's surface: in image cells of a hundredth, depths agree."""
    for seed in range(5):
        view = scan_figure(np.random.default_rng(seed), 1)[0]
        camera = view.T_world_sensor[:3, 3]
        local = (view.points - camera) @ view.T_world_sensor[:3, :3]
        directions = local / np.linalg.norm(local, axis=1, keepdims=True)
        neighbours = cKDTree(directions).query(directions, k=2)[1][:, 1]
        jump = np.abs(np.linalg.norm(local, axis=1) - np.linalg.norm(local[neighbours], axis=1))
        assert np.quantile(jump, 0.9) < 0.15


def test_matches_agree_with_the_pose(source):
    for seed in range(6):
        pair = draw_scan_pair(source, NUM_POINTS, np.random.default_rng(seed))
        rotation, translation = pair.T_target_source[:3, :3], pair.T_target_source[:3, 3]
        assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6)
        assert np.linalg.det(rotation) == pytest.approx(1.0, abs=1e-6)
        known = pair.matches >= 0
        assert known.mean() >= MIN_OVERLAP
        distance = np.linalg.norm(
            pair.source[known] @ rotation.T + translation - pair.target[pair.matches[known]], axis=1
        )
        spacing = np.median(cKDTree(pair.target).query(pair.target, k=2)[0][:, 1])
        assert distance.max() < 2.5 * spacing
        assert np.median(distance) < spacing


def test_an_incorrect_pose_would_not_have_these_matches(source):
    """The matches come from geometry: rotated by 180 degrees more, few source points meet their match."""
    pair = draw_scan_pair(source, NUM_POINTS, np.random.default_rng(3))
    known = pair.matches >= 0
    rotated = np.diag([-1.0, -1.0, 1.0]) @ pair.T_target_source[:3, :3]
    distance = np.linalg.norm(pair.source[known] @ rotated.T - pair.target[pair.matches[known]], axis=1)
    assert np.median(distance) > 0.2


def test_nothing_of_one_view_is_copied_into_the_other(objects):
    pair = draw_scan_pair(ScanPairSource(objects=objects), NUM_POINTS, np.random.default_rng(0))
    moved = pair.source @ pair.T_target_source[:3, :3].T + pair.T_target_source[:3, 3]
    distance, _ = cKDTree(pair.target).query(moved)
    assert (distance > 1e-4).mean() > 0.99


def test_the_same_view_twice_has_full_overlap(scenes):
    view = scenes[0][0]
    config = ScanPairConfig(max_noise=0.0)
    pair = make_scan_pair(view, view, np.eye(3), np.eye(3), NUM_POINTS, config, np.random.default_rng(0))
    assert (pair.matches >= 0).mean() > 0.8
    assert np.allclose(pair.T_target_source[:3, :3], np.eye(3))


def test_a_batch_is_decided_by_the_generator(scenes, objects):
    views = ScanPairSource(scenes, objects)
    first, again, other = (
        scan_pair_batch(views, 3, NUM_POINTS, torch.Generator().manual_seed(seed)) for seed in (5, 5, 6)
    )
    for name in ("source", "target", "T_target_source", "matches"):
        assert torch.equal(getattr(first, name), getattr(again, name))
    assert not torch.equal(first.source, other.source)
    assert first.source.shape == first.target.shape == (3, NUM_POINTS, 3)
    assert first.source.dtype == first.T_target_source.dtype == torch.float32
    assert first.matches.shape == (3, NUM_POINTS) and first.matches.dtype == torch.int64


def test_pairs_need_a_source_of_views():
    with pytest.raises(ValueError, match="scenes, objects or both"):
        ScanPairSource()


def test_a_file_of_views_keeps_millimetres(scenes, tmp_path):
    save_views(tmp_path / "views.npz", scenes)
    loaded = load_views(tmp_path / "views.npz")
    assert len(loaded) == len(scenes) == 8
    for scene, again in zip(scenes, loaded, strict=True):
        for before, after in zip(scene, again, strict=True):
            extent = np.abs(before.points - before.T_world_sensor[:3, 3]).max()
            assert np.abs(before.points - after.points).max() < 1e-4 * extent
            assert np.array_equal(before.T_world_sensor.astype(np.float32), after.T_world_sensor)


def test_scenes_are_decided_by_the_seed():
    first, again = (scan_scene(np.random.default_rng(9)) for _ in range(2))
    assert all(np.array_equal(a.points, b.points) for a, b in zip(first, again, strict=True))
