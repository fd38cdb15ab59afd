"""The baselines: what each network promises, that it learns on a tiny run, and its files."""

import pytest
import torch

from prnet_core.evaluation.baselines import DCP, DCPConfig, PointNetLK, PointNetLKConfig
from prnet_core.evaluation.baselines.dcp import dcp_objective
from prnet_core.evaluation.baselines.pointnetlk import exp, pointnetlk_objective
from prnet_core.geometry.transforms import compose_euler, geodesic_angle, make_transform, transform_points
from prnet_core.model import WeightsError
from prnet_core.pairs.object_pairs import ObjectPairConfig, object_pair_batch
from prnet_core.training.methods import METHODS

SMALL_DCP = DCPConfig(edge_conv_channels=(16, 16), num_neighbours=8, embedding=32, num_heads=2, feed_forward=32)
SMALL_LK = PointNetLKConfig(channels=(32, 32, 128), num_iterations=5)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def pairs(batch_size=8, num_points=64, max_angle_deg=45.0):
    generator = torch.Generator().manual_seed(3)
    shapes = torch.randn(batch_size, num_points, 3, generator=generator) * torch.tensor([0.5, 0.3, 0.15])
    config = ObjectPairConfig(num_points=num_points, keep_share=1.0, max_angle_deg=max_angle_deg)
    return object_pair_batch(shapes, batch_size, config, generator)


def mean_error_deg(network, batch):
    T = network.register(batch.source, batch.target)
    return float(torch.rad2deg(geodesic_angle(T[:, :3, :3], batch.T_target_source[:, :3, :3])).mean())


@pytest.mark.parametrize("make", [lambda: DCP(SMALL_DCP), lambda: PointNetLK(SMALL_LK)])
def test_register_gives_rigid_motions_and_leaves_the_network_as_it_was(make):
    network = make().train()
    source, target = torch.randn(2, 50, 3), torch.randn(2, 40, 3)
    T = network.register(source, target)
    assert T.shape == (2, 4, 4) and not T.requires_grad
    torch.testing.assert_close(T[:, :3, :3] @ T[:, :3, :3].mT, torch.eye(3).expand(2, 3, 3), atol=1e-4, rtol=0)
    torch.testing.assert_close(torch.linalg.det(T[:, :3, :3]), torch.ones(2))
    torch.testing.assert_close(network.register(source, target), T)
    assert network.training
    with pytest.raises(ValueError, match="NaN"):
        network.register(source * torch.nan, target)


def test_dcp_does_not_depend_on_the_order_of_the_points():
    network = DCP(SMALL_DCP)
    batch = pairs()
    order = torch.randperm(64)
    T = network.register(batch.source, batch.target)
    torch.testing.assert_close(network.register(batch.source[:, order], batch.target), T, atol=1e-4, rtol=1e-4)


def test_twist_exponential_is_the_motion_it_names():
    quarter = exp(torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, torch.pi / 2]))
    torch.testing.assert_close(
        transform_points(quarter[None], torch.tensor([[[1.0, 0.0, 0.0]]])), torch.tensor([[[0.0, 1.0, 0.0]]])
    )
    torch.testing.assert_close(exp(torch.tensor([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]))[:3, 3], torch.tensor([1.0, 2.0, 3.0]))


def test_pointnetlk_solves_small_motions_before_any_training():
    """Lucas-Kanade needs no training where the linearisation holds: full clouds, 5 degrees."""
    network = PointNetLK(PointNetLKConfig(channels=(64, 256), num_iterations=10))
    points = torch.randn(4, 128, 3) * torch.tensor([0.5, 0.3, 0.15])
    T = make_transform(compose_euler(torch.deg2rad(torch.rand(4, 3) * 5)), torch.rand(4, 3) * 0.02)
    found = network.register(points, transform_points(T, points))
    torch.testing.assert_close(found, T, atol=5e-3, rtol=0)


@pytest.mark.parametrize(
    ("network_class", "config", "objective"),
    [(DCP, SMALL_DCP, dcp_objective), (PointNetLK, SMALL_LK, pointnetlk_objective)],
)
def test_learns_on_a_tiny_run(network_class, config, objective):
    network = network_class(config).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    batch = pairs()
    identity_deg = float(torch.rad2deg(geodesic_angle(torch.eye(3), batch.T_target_source[:, :3, :3])).mean())
    losses = []
    for _ in range(80):
        loss = objective(network, batch, 1, 0.0)["total"]
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert mean_error_deg(network, batch) < 0.6 * identity_deg


@pytest.mark.parametrize(
    ("network", "name", "other"),
    [(DCP(SMALL_DCP), "dcp", "pointnetlk"), (PointNetLK(SMALL_LK), "pointnetlk", "dcp")],
)
def test_weights_come_back_and_other_weights_are_refused(tmp_path, network, name, other):
    METHODS[name].save(network, tmp_path / "w.safetensors", {"steps": 1})
    loaded = METHODS[name].load(tmp_path / "w.safetensors", "cpu")
    assert loaded.config == network.config
    batch = pairs(2)
    torch.testing.assert_close(
        loaded.register(batch.source, batch.target), network.register(batch.source, batch.target)
    )
    with pytest.raises(WeightsError, match="holds other weights"):
        METHODS[other].load(tmp_path / "w.safetensors", "cpu")


def test_configuration_from_builtin_values():
    assert DCPConfig.from_dict({"preset": "small", "num_neighbours": 10}) == DCPConfig(
        embedding=256, feed_forward=512, num_neighbours=10
    )
    assert PointNetLKConfig.from_dict(SMALL_LK.to_dict()) == SMALL_LK
    with pytest.raises(ValueError, match="unknown settings of DCPConfig: layers"):
        DCPConfig.from_dict({"layers": 3})
    with pytest.raises(ValueError, match="unknown preset 'large' of DCPConfig: paper, small"):
        DCPConfig.from_dict({"preset": "large"})
