"""Pairs of surface clouds: simulated, written, read, and trained on."""

import numpy as np
import pytest
import torch
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.model import PRNet, PRNetConfig
from prnet_core.simulation.views import View
from prnet_core.training import Trainer, make_training_config, surface_pair_data
from prnet_core.training.surface_pair_data import (
    PLACES,
    network_pair,
    save_pairs,
    save_sampled_pairs,
    scene_pairs,
)
from prnet_core.training.surface_pair_files import SurfacePairFiles
from prnet_core.training.weight_average import WeightAverage

pytest.importorskip("open3d", reason="the simulator casts rays with Open3D")


def box_points(count: int, seed: int) -> np.ndarray:
    """Points on the sides of three boxes of different sizes."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (count, 3))
    axis = rng.integers(3, size=count)
    points[np.arange(count), axis] = np.sign(points[np.arange(count), axis])
    box = rng.integers(3, size=count)[:, None]
    return points * (1.0 + 0.7 * box) * (1.0, 0.6, 0.4) + box * (0.5, 1.5, 0.2)


def box_view(count: int, seed: int) -> View:
    """The same from a position above them."""
    return View(box_points(count, seed), se3.make_transform(np.eye(3), np.array([0.0, 0.0, 5.0])))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of a few small pairs, for training and validation."""
    folder = tmp_path_factory.mktemp("pairs")
    for split, seed in (("train", 0), ("val", 1)):
        rng = np.random.default_rng(seed)
        pairs = [network_pair(box_view(4000, i), box_view(4000, i + 9), 64, rng) for i in range(4)]
        save_pairs(folder / split / "boxes.pt", pairs, "boxes")
    return folder


def test_the_transform_of_a_pair_brings_its_clouds_together():
    pair = network_pair(box_view(6000, 0), box_view(6000, 1), 256, np.random.default_rng(0))
    moved = se3.apply(pair.T_target_source, pair.pair.source.points)
    distance = np.linalg.norm(moved[:, None] - pair.pair.target.points, axis=2).min(axis=1)
    assert np.median(distance) < 1.0
    assert pair.overlap > 0.9


@pytest.mark.parametrize("known", [True, False])
def test_signs_of_normals_agree_whether_the_sensor_is_known_or_not(monkeypatch, known):
    monkeypatch.setattr(surface_pair_data, "KNOWN_ORIGIN_SHARE", float(known))
    rng, views = np.random.default_rng(0), []
    for low in (-3.0, 0.0):  # two parts of one ground with hills, each seen from above
        x, y = rng.uniform((low, -1.0), (low + 4.0, 1.0), (8000, 2)).T
        ground = np.stack([x, y, 0.3 * (np.sin(2.0 * x) + np.cos(3.0 * y))], axis=1)
        views.append(View(ground, se3.make_transform(np.eye(3), np.array([low + 2.0, 0.0, 4.0]))))
    pair = network_pair(*views, 256, rng)
    source, target = pair.pair.source, pair.pair.target
    distance, index = cKDTree(target.points).query(se3.apply(pair.T_target_source, source.points))
    agreement = np.sum(source.normals @ pair.T_target_source[:3, :3].T * target.normals[index], axis=1)
    assert (agreement[distance < 0.5] > 0.0).mean() > 0.95


def test_too_few_points_give_no_pair():
    assert network_pair(box_view(100, 0), box_view(100, 1), 64, np.random.default_rng(0)) is None


@pytest.mark.parametrize("kind", list(PLACES))
def test_places_give_pairs_with_a_consistent_transform(kind):
    for seed in range(6):
        pairs = list(scene_pairs(kind, 128, np.random.default_rng(seed)))
        if pairs:
            break
    assert pairs
    for pair in pairs:
        moved = se3.apply(pair.T_target_source, pair.pair.source.points)
        distance = np.linalg.norm(moved[:, None] - pair.pair.target.points, axis=2).min(axis=1)
        assert (distance < 2.0).mean() > 0.5 * pair.overlap


def test_files_give_batches_and_validation_by_overlap(folder):
    files = SurfacePairFiles(folder, 3, 0, torch.device("cpu"))
    assert len(files) == 4
    batch, again = files.batch(5), files.batch(5)
    assert batch.source.points.shape == (3, 64, 3)
    torch.testing.assert_close(batch.source.patches, again.source.patches)
    assert set(files.validation(2)) == {"boxes > 0.3"}
    assert len(files.validation(2)["boxes > 0.3"].source) == 2
    with pytest.raises(FileNotFoundError):
        SurfacePairFiles(folder / "nothing", 3, 0, torch.device("cpu"))


def test_sampled_shapes_are_written_in_spacings(tmp_path):
    shapes = torch.tensor(np.stack([box_points(2048, i) for i in range(2)])).float()
    save_sampled_pairs(tmp_path / "train" / "direct.pt", shapes, 2, 96, torch.Generator().manual_seed(0))
    batch = SurfacePairFiles(tmp_path, 2, 0, torch.device("cpu")).batch(0)
    nearest = torch.cdist(batch.source.points, batch.source.points).topk(2, largest=False).values[..., 1]
    assert 0.1 < nearest.median() < 2.0


def test_a_run_trains_resumes_and_keeps_the_average(folder, tmp_path):
    values = {
        "network": {"preset": "invariant", "edge_conv_channels": [16, 16], "embedding": 16, "feed_forward": 16},
        "surface_pairs": str(folder), "batch_size": 2, "steps": 3, "average_decay": 0.9, "bfloat16": False,
        "validation_pairs": 2,
    }  # fmt: skip
    scores = Trainer(make_training_config(values), tmp_path, torch.device("cpu")).run()
    assert set(scores) == {"boxes > 0.3"}
    resumed = Trainer(make_training_config(values | {"steps": 5}), tmp_path, torch.device("cpu"))
    assert resumed.progress.step == 3
    assert any(
        not torch.equal(value, resumed.average.values[name]) for name, value in resumed.network.state_dict().items()
    )
    resumed.run()
    assert (tmp_path / "best.safetensors").is_file()


def test_the_average_follows_the_weights_and_is_undone():
    torch.manual_seed(0)
    net = PRNet(PRNetConfig(edge_conv_channels=(8,), embedding=8, feed_forward=8))
    average = WeightAverage(net, 0.5)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    average.update(net, 1000)
    name = next(iter(dict(net.named_parameters())))
    torch.testing.assert_close(average.values[name], before[name] + 0.5)
    with average.applied(net):
        torch.testing.assert_close(net.state_dict()[name], before[name] + 0.5)
    torch.testing.assert_close(net.state_dict()[name], before[name] + 1.0)
