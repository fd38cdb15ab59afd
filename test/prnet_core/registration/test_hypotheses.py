"""Hypotheses: which is tried when, and the network's output in the clouds' own frames."""

import numpy as np
import pytest
import torch

from prnet_core.geometry import se3
from prnet_core.model import PRNet, PRNetConfig
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.network_hypotheses import network_transforms, rotations_about_vertical
from prnet_core.registration.preprocess import choose_voxel_size
from prnet_core.registration.refine import align
from prnet_core.registration.registration import from_voxels, to_voxels
from prnet_core.registration.search import Search


def statue(rng, count=5000):
    """A lopsided stack of balls: no symmetry, every pose is unique."""
    points = rng.normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    centres = np.array([[0, 0, 0], [1.2, 0.3, 0.2], [-0.6, 1.0, 0.5], [0.2, -0.4, 1.3], [0.9, 0.9, -0.8]])
    radii = np.array([1.0, 0.5, 0.6, 0.4, 0.35])
    which = rng.integers(5, size=count)
    return centres[which] + radii[which, None] * points


@pytest.fixture(scope="module")
def rotated_pair():
    """Source rotated by 170 degrees about a slanted axis and moved: (source, target, truth)."""
    axis = np.array([1.0, 2.0, -0.5])
    turn = se3.rotation_exp(axis / np.linalg.norm(axis) * np.radians(170))
    truth = se3.make_transform(turn, np.array([5.0, -3.0, 2.0]))
    rng = np.random.default_rng(0)
    return se3.apply(se3.invert(truth), statue(rng)), statue(rng), truth


class Oracle(torch.nn.Module):
    """Outputs the correct rotation; counts how often it runs."""

    def __init__(self, rotation):
        super().__init__()
        self.config = PRNetConfig.small()
        self.scale = torch.nn.Parameter(torch.ones(1))
        self.rotation, self.calls = rotation, 0

    def register(self, source, target, num_passes=None):
        self.calls += 1
        answer = torch.eye(4).repeat(len(source), 1, 1)
        answer[0, :3, :3] = torch.as_tensor(self.rotation)
        return answer


def test_features_find_any_rotation_without_a_network(rotated_pair):
    source, target, truth = rotated_pair
    result = Registration(None).register(source, target)
    assert result.hypothesis == "features"
    assert result.status == "accepted", result.reason
    error = se3.invert(truth) @ result.T_target_source
    assert np.degrees(se3.rotation_angle(error[:3, :3])) < 0.5
    assert "features" in result.timings and "network" not in result.timings


@pytest.fixture
def no_features(monkeypatch):
    """Feature matching finds nothing."""
    monkeypatch.setattr("prnet_core.registration.search.feature_transforms", lambda *arguments: [])


def test_the_network_runs_when_features_find_nothing_and_its_hypothesis_wins(rotated_pair, no_features):
    source, target, truth = rotated_pair
    oracle = Oracle(truth[:3, :3])
    result = Registration(oracle).register(source, target)
    assert oracle.calls == 1
    assert result.hypothesis == "network"


def test_the_network_does_not_run_when_features_are_enough(rotated_pair):
    source, target, truth = rotated_pair
    oracle = Oracle(truth[:3, :3])
    assert Registration(oracle).register(source, target).hypothesis == "features"
    assert oracle.calls == 0


def test_the_network_does_not_run_when_a_hypothesis_is_verified_but_not_certain(rotated_pair):
    source, target, truth = rotated_pair
    config, oracle = (
        RegistrationConfig(min_agreement_certain_object=2.0, min_surface_certain_object=2.0),
        Oracle(np.eye(3)),
    )
    assert Registration(oracle, config).register(source, target).usable
    assert oracle.calls == 0


def test_the_network_does_not_run_when_the_guess_is_good(rotated_pair):
    source, target, truth = rotated_pair
    oracle = Oracle(np.eye(3))
    result = Registration(oracle).register(source, target, truth)
    assert oracle.calls == 0
    assert result.hypothesis == "guess"


def test_the_network_runs_when_the_guess_is_bad(rotated_pair, no_features):
    source, target, truth = rotated_pair
    oracle = Oracle(truth[:3, :3])
    result = Registration(oracle).register(source, target, np.eye(4))
    assert oracle.calls == 1
    assert result.hypothesis == "network"


def test_the_network_may_be_replaced_between_calls(rotated_pair, no_features):
    source, target, truth = rotated_pair
    registration = Registration(None)
    registration.network = Oracle(truth[:3, :3])
    assert registration.register(source, target).hypothesis == "network"


def test_a_guess_that_meets_nothing_is_measured_but_not_refined(rotated_pair, monkeypatch):
    distances = []

    def counted(*arguments):
        distances.append(arguments[3])
        return align(*arguments)

    monkeypatch.setattr("prnet_core.registration.refinement.align", counted)
    source, target, truth = rotated_pair
    registration = Registration(None, RegistrationConfig(coarse_iterations=0))
    prepared = registration.prepare(source, 0.05), registration.prepare(target, 0.05)
    far = se3.make_transform(np.eye(3), np.array([30.0, 0.0, 0.0])) @ truth
    assert registration.register_prepared(*prepared, far, hypotheses="guess").status == "rejected"
    assert distances == []
    assert registration.register_prepared(*prepared, truth, hypotheses="guess").usable
    assert distances == [3.0, 1.0]


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
def test_a_real_network_gives_the_same_transform_in_any_unit_and_place(rotated_pair, unit):
    source, target, _ = rotated_pair
    torch.manual_seed(0)
    network = PRNet(PRNetConfig.small()).eval()
    registration = Registration(network)

    def output(scale, offset):
        moved = source * scale + offset, target * scale + offset
        prepared = [registration.prepare(p, 0.05 * scale) for p in moved]
        transform = from_voxels(network_transforms(network, *prepared, 128, 1, range(1))[0], *prepared)
        shift = se3.make_transform(np.eye(3), np.full(3, offset))
        transform = se3.invert(shift) @ transform @ shift
        transform[:3, 3] /= scale
        return transform

    np.testing.assert_allclose(output(unit, 1e4 * unit), output(1.0, 0.0), atol=1e-3)


def test_a_correct_hypothesis_with_few_near_points_is_measured_while_none_is_accepted(rotated_pair, monkeypatch):
    """It comes behind an incorrect one that is said to have many more."""
    source, target, truth = rotated_pair
    registration = Registration(None)
    prepared = [registration.prepare(cloud, 0.05) for cloud in (source, target)]
    correct = to_voxels(truth, *prepared)
    wrong = se3.make_transform(np.eye(3), np.zeros(3))
    monkeypatch.setattr(Search, "_features", lambda self: [("features", wrong), ("features", correct)])
    monkeypatch.setattr(
        Search, "_share_close", lambda self, T, distance: 1.0 if np.allclose(T[:3, :3], np.eye(3)) else 0.3
    )
    monkeypatch.setattr(Search, "_align", lambda self, transform, *limits: transform)
    result = registration.register_prepared(*prepared, hypotheses="features")
    np.testing.assert_allclose(result.T_target_source, truth, atol=0.01)


def test_rotations_of_the_source_are_undone_in_the_output(rotated_pair):
    source, target, _ = rotated_pair
    registration = Registration(None)
    prepared = registration.prepare(source, 0.05), registration.prepare(target, 0.05)
    turns = rotations_about_vertical(4)
    transforms = network_transforms(Oracle(np.eye(3)), *prepared, 64, 1, range(1), turns)
    for turn, transform in zip(turns, transforms, strict=True):
        np.testing.assert_allclose(transform[:3, :3], turn, atol=1e-6)


@pytest.mark.parametrize("count", [800, 20_000])
def test_the_voxel_size_leaves_the_wanted_number_of_points_in_any_unit(count):
    points = statue(np.random.default_rng(1), count)
    size = choose_voxel_size(points, 2000)
    left = len(Registration(None).prepare(points, size))
    assert left == pytest.approx(min(2000, 0.7 * count), rel=0.15)
    assert choose_voxel_size(points * 1e3, 2000) == pytest.approx(size * 1e3, rel=1e-6)
