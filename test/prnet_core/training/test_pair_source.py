"""Batches: a function of seed and step alone, mixed as configured, from shapes that validation never sees."""

import numpy as np
import pytest
import torch

from prnet_core.shapes.load import load_shapes
from prnet_core.simulation.scan_views import load_views, save_views, scan_scene
from prnet_core.training import make_training_config
from prnet_core.training.pair_source import PairSource, split_by_group
from prnet_core.training.validation import protocol_batch, validation_sets

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def values(tmp_path_factory) -> dict:
    """A run on four ellipsoids, one pair in two from scans."""
    folder = tmp_path_factory.mktemp("source")
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4, 1500, 3))
    points = directions / np.linalg.norm(directions, axis=2, keepdims=True) * rng.uniform(0.4, 1.0, (4, 1, 3))
    np.savez(folder / "shapes.npz", points=points.astype(np.float32))
    save_views(folder / "views.npz", [scan_scene(rng) for _ in range(2)])
    return {
        "shapes": str(folder / "shapes.npz"),
        "scan_views": str(folder / "views.npz"),
        "scan_share": 0.5,
        "pairs": {"num_points": 160},
        "batch_size": 4,
        "held_out": 1,
        "validation_pairs": 2,
    }


def source_of(values: dict, **changes) -> PairSource:
    return PairSource(make_training_config({**values, **changes}), CPU)


def assert_equal(first, second):
    for name, value in vars(first).items():
        assert torch.equal(value, getattr(second, name)), name


def test_a_batch_depends_on_seed_and_step_alone(values):
    source = source_of(values)
    batches = [source.batch(step) for step in range(3)]
    assert_equal(source.batch(1), batches[1])
    assert_equal(source_of(values).batch(2), batches[2])
    assert not torch.equal(batches[0].source, batches[1].source)
    other = source_of(values, seed=1).batch(0)
    assert not torch.equal(other.source[:2], batches[0].source[:2])
    assert not torch.equal(other.source[2:], batches[0].source[2:])


def test_both_kinds_are_in_each_batch_with_equal_sizes(values):
    pairs = source_of(values).batch(0)
    assert pairs.source.shape == pairs.target.shape == (4, 120, 3)
    assert pairs.matches.dtype == torch.long and pairs.source.dtype == torch.float32
    exact = [bool((distances < 1e-4).all()) for distances in match_distances(pairs)]
    assert exact == [True, True, False, False]  # objects are the same points, scans are not


def match_distances(pairs):
    moved = pairs.source @ pairs.T_target_source[:, :3, :3].transpose(1, 2) + pairs.T_target_source[:, None, :3, 3]
    for row in range(len(moved)):
        known = pairs.matches[row] >= 0
        assert known.any()
        yield (moved[row][known] - pairs.target[row][pairs.matches[row][known]]).norm(dim=1)


def test_workers_change_nothing_but_who_does_the_work(values):
    alone, helped = source_of(values), source_of(values, workers=2)
    for step in (3, 4, 5, 1):
        assert_equal(helped.batch(step), alone.batch(step))


def test_without_views_all_pairs_are_objects(values):
    source = source_of(values, scan_views=None)
    assert source.num_scans == 0 and source.validation_scans is None
    assert source.batch(0).source.shape == (4, 120, 3)
    assert set(validation_sets(source, source.config)) == {"objects"}


def test_all_pairs_may_be_scans(values):
    assert source_of(values, scan_share=1.0).batch(0).source.shape == (4, 120, 3)


def test_validation_has_shapes_of_its_own(values):
    shapes = load_shapes(values["shapes"])
    training, held_out = split_by_group(shapes, 1)
    assert (len(training), len(held_out)) == (3, 1)
    assert not set(training.names) & set(held_out.names)
    source = source_of(values)
    assert len(source.shapes) == 3
    assert len(source.scans.objects.shapes) == 3 and len(source.validation_scans.objects.shapes) == 1
    sets = validation_sets(source, source.config)
    assert sets["objects"].source.shape == (2, 768, 3) and sets["scans"].source.shape == (2, 512, 3)


def test_groups_are_never_split(values):
    shapes = load_shapes(values["shapes"])
    shapes = type(shapes)(shapes.points, shapes.names, shapes.classes, np.array([0, 1, 1, 2]), shapes.sources)
    training, held_out = split_by_group(shapes, 1)
    assert not set(training.groups) & set(held_out.groups)


def test_validation_pairs_are_the_same_every_time(values):
    shapes = load_shapes(values["shapes"])
    assert_equal(protocol_batch(shapes, 2), protocol_batch(shapes, 2))


def test_scenes_of_the_validation_are_not_trained_on(values):
    source = source_of(values)
    training, held_out = source.scans.scenes, source.validation_scans.scenes
    assert len(training) == len(held_out) == 1
    every = load_views(values["scan_views"])
    kept = [view.points for scenes in (training, held_out) for view in scenes[0]]
    assert len(kept) == len(every[0]) + len(every[1])
    shared = [np.array_equal(a.points, b.points) for a in training[0] for b in held_out[0]]
    assert not any(shared)
    restored = {view.points.tobytes() for scene in (0, 1) for view in every[scene]}
    assert {points.tobytes() for points in kept} == restored
