"""The network's descriptors: their hypotheses are refined as they are, and they rank all candidates."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from prnet_core.geometry import se3
from prnet_core.model import PRNet, PRNetConfig
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.candidate import Candidate
from prnet_core.registration.decision import decide
from prnet_core.registration.descriptor_matches import match_descriptors
from prnet_core.registration.detail import Detail
from prnet_core.registration.registration import to_voxels
from prnet_core.registration.result import ACCEPTED, AMBIGUOUS, WEAK
from prnet_core.registration.search import Search
from prnet_core.registration.verify import verify

CONFIG = RegistrationConfig()


def candidate(along, agreement):
    """Of clouds without a sensor position, where nine tenths of the overlap agree."""
    overlap, information = agreement / 0.9, 0.3 * np.eye(6)
    quality = AlignmentQuality(0.9, 0.1, overlap, overlap, agreement, (), 2000, np.zeros(3), 1.0, information)
    transform = se3.make_transform(np.eye(3), np.array([along, 0.0, 0.0]))
    return Candidate("features", transform, quality, verify(quality, CONFIG)[0])


class Descriptors:
    """Agree most under the transforms near one shift along x."""

    def __init__(self, along, transforms=(), elsewhere=0.01):
        self.along, self.transforms, self.elsewhere = along, list(transforms), elsewhere

    def agreement(self, transform):
        return 0.1 if abs(transform[0, 3] - self.along) < 1.0 else self.elsewhere

    def agreements(self, transforms):
        return [self.agreement(transform) for transform in transforms]

    def shares(self, transforms):
        return [self.agreement(transform) / 0.1 for transform in transforms]


class Found(Search):
    """A search that has found some candidates, without clouds."""

    common_detail = Detail(0.2, 0.9)
    _is_network_first = True

    def __init__(self, candidates, network=None):
        super().__init__(None, None, network, CONFIG, timings={"features": 0.1})
        self.candidates = candidates

    def _stages(self, hypotheses):
        yield lambda: self._by_network(self.network)

    def alternatives(self, best):
        return []

    def detail(self, candidate):
        return self.common_detail

    def _differs(self, first, second):
        return abs(first[0, 3] - second[0, 3]) > CONFIG.distinct_distance_voxels

    def _by_network(self, network):
        self.descriptors = network
        return [candidate(T[0, 3], 0.3) for T in network.transforms]


def network_of(along, *shifts, elsewhere=0.01):
    transforms = [se3.make_transform(np.eye(3), np.array([s, 0.0, 0.0])) for s in shifts]
    network = Descriptors(along, transforms, elsewhere)
    network.config = PRNetConfig.invariant()
    return network


def test_descriptors_choose_the_transform_that_overlaps_less():
    larger = candidate(0.0, 0.5)
    best = Found([larger], network_of(20.0, 20.0)).best_of_rest(larger)
    assert best.transform[0, 3] == 20.0 and best.score < larger.score


@pytest.mark.parametrize("elsewhere, status", [(0.03, AMBIGUOUS), (0.02, ACCEPTED)])
def test_where_surfaces_choose_another_transform_the_descriptors_must_agree_under_theirs_alone(elsewhere, status):
    larger = candidate(0.0, 0.5)
    search = Found([larger], network_of(20.0, 20.0, elsewhere=elsewhere))
    best = search.best_of_rest(larger)
    assert best.status == larger.status == ACCEPTED
    decision = decide(search, best, None)
    assert decision.status == status and decision.best is best
    assert decision.alternatives == ([larger] if status == AMBIGUOUS else [])


def test_a_transform_that_agrees_on_planes_alone_is_accepted_where_descriptors_agree_under_it_alone():
    best, other = candidate(20.0, 0.5), candidate(0.0, 0.1)
    search = Found([best, other])
    search.common_detail = Detail(0.01, 0.3)
    assert decide(search, best, None).status == WEAK
    search.descriptors = Descriptors(20.0, elsewhere=0.03)
    assert decide(search, best, None).status == WEAK
    search.descriptors = Descriptors(20.0, elsewhere=0.02)
    accepted = decide(search, best, None)
    assert accepted.status == ACCEPTED and "no other transform" in accepted.reason


@pytest.mark.parametrize("elsewhere, status", [(0.02, ACCEPTED), (0.03, AMBIGUOUS)])
def test_alternatives_are_compared_where_the_descriptors_are_not_clear(elsewhere, status):
    """The rotated candidate would fit as well."""
    best = candidate(20.0, 0.5)
    search = Found([best, candidate(0.0, 0.1)], network_of(20.0))
    search.alternatives = lambda best: [candidate(-20.0, 0.5)]
    search.descriptors = Descriptors(20.0, elsewhere=elsewhere)
    assert decide(search, best, None).status == status


def test_clouds_without_a_sensor_position_are_weak_where_descriptors_agree_more_elsewhere():
    """The transform that they prefer is not verified by itself."""
    best, unverified = candidate(0.0, 0.5), candidate(20.0, 0.12)
    assert best.status == ACCEPTED and unverified.status != ACCEPTED

    def decision(descriptors):
        search = Found([best, unverified])
        search.descriptors = descriptors
        return decide(search, best, None)

    assert decision(None).status == decision(Descriptors(0.0)).status == ACCEPTED
    contradicted = decision(Descriptors(20.0))
    assert contradicted.status == WEAK and "descriptors" in contradicted.reason


def test_without_time_the_network_is_not_asked():
    larger = candidate(0.0, 0.5)
    search = Found([larger], network_of(20.0, 20.0))
    search.deadline = -inf
    assert search.best_of_rest(larger) is larger and search.descriptors is None


@pytest.fixture(scope="module")
def corner_pair():
    """Two samples of three walls and a bump, the source rotated: (source, target, T_target_source)."""
    truth = se3.make_transform(se3.rotation_exp(np.array([0.3, -0.2, 2.5])), np.array([1.0, -2.0, 0.5]))
    clouds = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        walls = [np.insert(rng.uniform(0, 3, (1500, 2)), axis, 0.0, axis=1) for axis in range(3)]
        ball = rng.normal(size=(700, 3))
        walls.append(0.4 * ball / np.linalg.norm(ball, axis=1, keepdims=True) + (1.0, 0.6, 0.3))
        clouds.append(np.concatenate(walls))
    return se3.apply(se3.invert(truth), clouds[0]), clouds[1], truth


def test_the_agreement_is_highest_under_the_correct_transform(corner_pair):
    """In the prepared clouds' voxel units, also without training: like surfaces have like descriptors."""
    *clouds, truth = corner_pair
    registration = Registration(None)
    prepared = [registration.prepare(cloud, 0.06) for cloud in clouds]
    torch.manual_seed(0)
    matches = match_descriptors(PRNet(PRNetConfig.invariant()).eval(), *prepared, 768, 2)
    correct = to_voxels(truth, *prepared)
    turn = se3.make_transform(se3.rotation_exp(np.array([0.0, 0.0, np.pi / 2])), np.zeros(3))
    assert matches.agreement(correct) > 3 * max(matches.agreement(turn @ correct), 0.0)
    of_correct, of_turned = matches.shares([correct, turn @ correct])
    assert of_correct > of_turned
    shift = se3.make_transform(np.eye(3), np.array([10.0, 0.0, 0.0]))
    assert matches.agreement(correct) > 1.5 * matches.agreement(shift @ correct)


@pytest.fixture
def matched(corner_pair, monkeypatch):
    """A search whose descriptors suggest the correct transform, and one metre along x with a given agreement; the
    distances of its alignments, which change nothing."""
    *clouds, truth = corner_pair
    source, target = (Registration(None).prepare(cloud, 0.06) for cloud in clouds)
    correct = to_voxels(truth, source, target)
    moved = se3.make_transform(np.eye(3), np.array([16.0, 0.0, 0.0])) @ correct
    distances = []

    def make(agreement):
        def of(transform):
            return 1.0 if np.allclose(transform, correct) else agreement

        def of_each(transforms):
            return [of(transform) for transform in transforms]

        descriptors = SimpleNamespace(transforms=[correct, moved], agreement=of, agreements=of_each, shares=of_each)
        monkeypatch.setattr("prnet_core.registration.search.match_descriptors", lambda *arguments: descriptors)
        network = SimpleNamespace(config=SimpleNamespace(matching="dual"))
        return Search(source, target, network, CONFIG), correct, distances

    def align(source, target, transform, distance, *limits):
        distances.append(distance)
        return transform

    monkeypatch.setattr("prnet_core.registration.refinement.align", align)
    monkeypatch.setattr("prnet_core.registration.refinement.share_meeting", lambda *arguments: 1.0)
    return make


def test_hypotheses_of_descriptors_are_refined_with_small_distances(matched):
    search, correct, distances = matched(agreement=1.2)
    best = search.best(None, np.eye(4), "network")
    limits = CONFIG.matched_distance_voxels, CONFIG.fine_distance_voxels, CONFIG.final_distance_voxels
    assert set(distances) == set(limits)
    np.testing.assert_allclose(best.transform, correct)
    assert len(search.candidates) == 2


def test_hypotheses_whose_descriptors_agree_much_less_do_not_reach_the_last_stage(matched):
    search, correct, _ = matched(agreement=0.1)
    search.best(None, np.eye(4), "network")
    assert [item.hypothesis for item in search.candidates] == ["network"]
    np.testing.assert_allclose(search.candidates[0].transform, correct)


def test_the_search_ends_at_a_hypothesis_that_is_accepted_and_that_descriptors_prefer(matched):
    search, correct, _ = matched(agreement=0.9)
    np.testing.assert_allclose(search.best(None, np.eye(4)).transform, correct)
    assert [item.hypothesis for item in search.candidates] == ["network"]
    assert "features" not in search.timings


def test_hypotheses_that_are_known_candidates_are_not_refined_again(matched):
    search, correct, distances = matched(agreement=0.1)
    known = search.refine([("features", correct)])
    search.candidates += known
    distances.clear()
    assert search._by_network(search.network) == []
    coarse, fine = CONFIG.matched_distance_voxels, CONFIG.fine_distance_voxels
    assert distances == [coarse, coarse, fine]  # only the moved one goes on, until descriptors agree less


@pytest.mark.parametrize("points, first", [(768, False), (769, True)])
def test_the_network_is_asked_before_the_features_of_clouds_with_more_points_than_it_takes(points, first):
    network = SimpleNamespace(config=SimpleNamespace(matching="dual"))
    search = Search(range(points), range(5000), network, CONFIG)
    assert search._is_network_first is first
    network.config.matching = "rowwise"
    assert not search._is_network_first
