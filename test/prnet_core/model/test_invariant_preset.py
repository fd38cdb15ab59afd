"""The preset with rotation-invariant inputs: shapes, invariance, save and load."""

import numpy as np
import pytest
import torch

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.model import PRNet, PRNetConfig, load_network, prnet_loss, save_network
from prnet_core.model.surface_inputs import batch_of, pair_batch, surface_clouds
from prnet_core.pairs.surface_patches import DenseCloud, point_spacing, surface_inputs, surface_pair, surface_samples


def bumpy_cloud(count: int, seed: int = 0) -> np.ndarray:
    """Points of a closed bumpy surface without symmetry, (count, 3) float64."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    x, y, z = directions.T
    radius = 1.0 + 0.3 * np.sin(3 * x + 1) * np.cos(2 * y) + 0.2 * np.sin(4 * z + 2 * x)
    return directions * radius[:, None] * (1.0, 0.8, 0.6)


def network(seed: int = 0, **changes) -> PRNet:
    """An untrained network."""
    torch.manual_seed(seed)
    return PRNet(PRNetConfig.from_dict(PRNetConfig.invariant().to_dict() | changes)).eval()


def rigid(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = any_rotation(rng), rng.uniform(-2, 2, 3)
    return T


def moved(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ T[:3, :3].T + T[:3, 3]


@pytest.mark.parametrize("transformer", ["none", "paper"])
def test_a_rotated_source_gives_the_rotated_answer(transformer):
    points = bumpy_cloud(600)
    source, target = points[:400], moved(rigid(1), points[200:])
    net, turn = network(transformer=transformer), rigid(2)
    answer = net.register(torch.tensor(source)[None], torch.tensor(target)[None])[0].numpy()
    rotated = net.register(torch.tensor(moved(turn, source))[None], torch.tensor(target)[None])[0].numpy()
    np.testing.assert_allclose(rotated @ turn, answer, atol=1e-3)


def test_inputs_do_not_change_when_the_cloud_moves():
    points = bumpy_cloud(500)
    normals = points / np.linalg.norm(points, axis=1, keepdims=True)
    T = rigid(3)
    first = surface_inputs(points[:100], DenseCloud(points, normals, 0.1), 0.3)
    second = surface_inputs(moved(T, points[:100]), DenseCloud(moved(T, points), normals @ T[:3, :3].T, 0.1), 0.3)
    np.testing.assert_allclose(first.patches, second.patches, atol=1e-5)
    np.testing.assert_allclose(first.points @ T[:3, :3].T, second.points, atol=1e-5)


@torch.no_grad()
def test_features_do_not_change_between_passes():
    cloud = torch.tensor(bumpy_cloud(300))[None]
    source, _ = surface_clouds(cloud, cloud)
    T = torch.tensor(rigid(4), dtype=torch.float32)[None]
    net = network()
    torch.testing.assert_close(net.dgcnn(source.moved(T)), net.dgcnn(source), atol=1e-3, rtol=1e-3)


def test_identical_clouds_are_registered_without_training():
    points, T = bumpy_cloud(500), rigid(4)
    answer = network().register(torch.tensor(points)[None], torch.tensor(moved(T, points))[None])[0].numpy()
    np.testing.assert_allclose(answer, T, atol=1e-3)


def test_clouds_of_different_sizes_and_units():
    points, T = bumpy_cloud(500), rigid(5)
    large = 40.0 * points
    answer = network().register(torch.tensor(large[:350])[None], torch.tensor(moved(T, large))[None])
    assert answer.shape == (1, 4, 4)
    assert torch.isfinite(answer).all()
    assert abs(float(torch.linalg.det(answer[0, :3, :3])) - 1.0) < 1e-4


@pytest.mark.parametrize("count", [1, 2, 5])
def test_tiny_clouds_give_a_finite_transform(count):
    points = torch.tensor(bumpy_cloud(count))[None]
    assert torch.isfinite(network().register(points, points)).all()


def test_pairs_of_dense_clouds_map_between_units():
    points, T = bumpy_cloud(3000), rigid(6)
    normals = points / np.linalg.norm(points, axis=1, keepdims=True)
    source = DenseCloud(points, normals, 0.05)
    target = DenseCloud(moved(T, points), normals @ T[:3, :3].T, 0.05)
    pair = surface_pair(source, target, 128, np.random.default_rng(0))
    np.testing.assert_allclose(pair.to_metric(pair.to_network(T)), T, atol=1e-9)
    clouds = pair_batch([pair, pair])
    assert clouds[0].points.shape == (2, 128, 3)
    assert clouds[0].patches.shape == (2, 128, 32, 5)
    assert len(clouds[0]) == 2


def sphere(count: int, T: np.ndarray | None = None) -> DenseCloud:
    points = bumpy_cloud(count)
    normals = points / np.linalg.norm(points, axis=1, keepdims=True)
    return DenseCloud(points, normals, 0.1) if T is None else DenseCloud(moved(T, points), normals @ T[:3, :3].T, 0.1)


def test_samples_of_a_pair_are_other_points_in_one_frame():
    first, second = surface_samples(sphere(3000), sphere(3000, rigid(6)), 128, 2, np.random.default_rng(0))
    assert first.spacing == second.spacing
    np.testing.assert_array_equal(first.to_metric(np.eye(4)), second.to_metric(np.eye(4)))
    assert not np.isin(first.source.points[:, 0], second.source.points[:, 0]).all()


def test_the_spacing_is_not_below_that_of_the_dense_points():
    """1,000 wanted points of a cloud of 500."""
    pair = surface_pair(sphere(500), sphere(3000), 1000, np.random.default_rng(0))
    assert pair.spacing > 0.5 * point_spacing(sphere(500).points)


def test_hypotheses_of_two_samples_are_ranked_together():
    samples = surface_samples(sphere(3000), sphere(3000), 200, 2, np.random.default_rng(0))
    hypotheses = network().matched_surfaces(*pair_batch(samples), samples=2).hypotheses(3)
    assert hypotheses.shape == (1, 3, 4, 4)
    torch.testing.assert_close(hypotheses[0, 0], torch.eye(4), atol=0.2, rtol=0)


def test_a_batch_gives_the_answers_of_its_pairs():
    clouds = [torch.tensor(np.stack([bumpy_cloud(300, seed), bumpy_cloud(300, seed + 1)])) for seed in (0, 0)]
    net = network()
    together = net.register(*clouds)
    alone = torch.cat([net.register(*(cloud[i : i + 1] for cloud in clouds)) for i in range(2)])
    torch.testing.assert_close(together, alone, atol=1e-3, rtol=0)


def test_the_loss_falls_and_every_weight_learns():
    net = network().train()
    points = torch.tensor(np.stack([bumpy_cloud(200, seed) for seed in range(2)])).float()
    source, target = surface_clouds(points, points)
    T, losses = torch.eye(4).expand(2, 4, 4), []
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3)
    for _ in range(8):
        loss = prnet_loss(net(source, target), T, net.config)["total"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    assert not [name for name, p in net.named_parameters() if p.grad is None or not torch.isfinite(p.grad).all()]


def test_the_papers_matching_and_losses_work_on_these_inputs():
    net = network(
        transformer="paper", matching="rowwise", keypoints="norm", temperature="predicted", motion_weight=1.0
    ).train()
    points = torch.tensor(np.stack([bumpy_cloud(150, seed) for seed in range(2)])).float()
    source, target = surface_clouds(points, points)
    matches = torch.arange(150).expand(2, -1)
    terms = prnet_loss(net(source, target, 2), torch.eye(4).expand(2, 4, 4), net.config, matches)
    assert all(torch.isfinite(value) for value in terms.values())
    assert terms["motion"] > 0.0


def test_hypotheses_begin_with_the_best():
    cloud = torch.tensor(bumpy_cloud(300, 0))[None]
    hypotheses = network().hypotheses(*surface_clouds(cloud, cloud), count=4)
    torch.testing.assert_close(hypotheses[0, 0], torch.eye(4), atol=1e-2, rtol=0)


def test_hypotheses_differ():
    rng = np.random.default_rng(0)
    clouds = surface_clouds(*(torch.tensor(rng.uniform(size=(1, 300, 3))) for _ in range(2)))
    hypotheses = network().hypotheses(*clouds, count=4)
    assert hypotheses.shape == (1, 4, 4, 4)
    distances = [(hypotheses[0, i] - hypotheses[0, j]).abs().max() for i in range(4) for j in range(i)]
    assert min(distances) > 0.01


def test_saved_and_loaded_it_gives_the_same_answer(tmp_path):
    net = network()
    save_network(net, tmp_path / "net.safetensors", {"data": "none"})
    loaded = load_network(tmp_path / "net.safetensors", "cpu")
    assert loaded.config == net.config
    clouds = [torch.tensor(bumpy_cloud(200, seed))[None] for seed in (0, 1)]
    torch.testing.assert_close(loaded.register(*clouds), net.register(*clouds), atol=0, rtol=0)


def test_settings_that_do_not_belong_together_are_refused():
    values = PRNetConfig.invariant().to_dict()
    with pytest.raises(ValueError, match="dual"):
        PRNetConfig.from_dict(values | {"keypoints": "norm"})
    with pytest.raises(ValueError, match="surface"):
        PRNetConfig.from_dict(values | {"features": "coordinates"})


def test_a_surface_cloud_checks_its_parts():
    points = bumpy_cloud(50)
    inputs = surface_inputs(points, DenseCloud(points, points, 0.2), 0.2)
    cloud = batch_of([inputs])
    with pytest.raises(ValueError, match="normals"):
        type(cloud)(cloud.points, cloud.normals[:, :10], cloud.patches, cloud.spacing)
    with pytest.raises(ValueError, match="patches"):
        type(cloud)(cloud.points, cloud.normals, cloud.patches[..., :3], cloud.spacing)
