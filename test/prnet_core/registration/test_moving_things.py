"""Verification where things move: more must agree, and the transform that agrees much more than all others wins."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.candidate import Candidate
from prnet_core.registration.config import without_alternatives
from prnet_core.registration.decision import decide
from prnet_core.registration.detail import Detail
from prnet_core.registration.free_space import FreeSpace
from prnet_core.registration.search import Search
from prnet_core.registration.verify import may_stand_out, outstanding_factor, verify

CONFIG = RegistrationConfig()


def quality(agreement, through=0.0, largest=0.0, surface=0.95):
    """Of half the points visible; `largest` of `through` lie in one cluster."""
    space = FreeSpace(through, 0.5, 0.45 * surface, near=0.45, largest=largest)
    return AlignmentQuality(0.9, 0.1, 0.9, 0.9, agreement, (space,), 2000, np.zeros(3), 1.0, 0.3 * np.eye(6))


def candidate(along, *arguments):
    measured = quality(*arguments)
    transform = se3.make_transform(np.eye(3), np.array([along, 0.0, 0.0]))
    return Candidate("features", transform, measured, verify(measured, CONFIG)[0])


class Found(Search):
    """A search that has found some candidates."""

    def __init__(self, candidates):
        self.candidates, self.config, self.timings, self.outstanding = candidates, CONFIG, {"features": 0.1}, None
        self.deadline, self.share, self.descriptors = inf, 0.2, None

    def alternatives(self, best):
        return []

    def detail(self, candidate):
        return Detail(self.share, 0.9)

    def _differs(self, first, second):
        return np.linalg.norm(first[:3, 3] - second[:3, 3]) > CONFIG.distinct_distance_voxels


@pytest.mark.parametrize(("through", "needed"), [(0.0, 0.2), (0.003, 0.2), (0.008, 0.364)])
def test_the_more_violated_the_more_must_agree(through, needed):
    assert verify(quality(needed + 0.03, through), CONFIG)[0] == "accepted"
    assert verify(quality(needed - 0.03, through), CONFIG)[0] != "accepted"


def test_near_a_guess_little_agreement_is_enough():
    assert verify(quality(0.3, 0.008), CONFIG)[0] != "accepted"
    assert verify(quality(0.3, 0.008), without_alternatives(CONFIG))[0] == "accepted"


def test_of_a_tracked_scan_moving_things_may_violate_free_space_where_surfaces_meet():
    near = replace(without_alternatives(CONFIG), is_tracked=True)
    assert verify(quality(0.6, 0.05), CONFIG)[0] == "rejected"
    assert verify(quality(0.6, 0.05), near)[0] == "accepted"
    assert verify(quality(0.6, 0.05, surface=0.8), near)[0] == "rejected"
    assert verify(quality(0.4, 0.05), near)[0] == "rejected"
    assert verify(quality(0.6, 0.1), near)[0] == "rejected"


def test_what_moving_things_violate_may_stand_out():
    assert may_stand_out(quality(0.5, 0.03), CONFIG)
    assert not may_stand_out(quality(0.5, 0.03, surface=0.6), CONFIG)
    assert not may_stand_out(quality(0.5, 0.1), CONFIG)


def test_what_is_slid_along_a_corridor_may_not_stand_out():
    across = [FreeSpace(0.03, 0.5, 0.43, near=0.45, across=0.1, across_agreeing=share) for share in (0.01, 0.05)]
    slid, met = (replace(quality(0.5), free_space=(space,)) for space in across)
    assert may_stand_out(met, CONFIG) and not may_stand_out(slid, CONFIG)


def test_sparse_scans_whose_surfaces_meet_less_stand_out_where_little_is_violated_and_all_others_agree_much_less():
    rough, clear = quality(0.6, 0.01, surface=0.75), Detail(0.2, 0.9)
    assert verify(rough, CONFIG)[0] == "weak"
    assert outstanding_factor(rough, clear, CONFIG) == CONFIG.outstanding_agreement_rough > CONFIG.outstanding_agreement
    assert outstanding_factor(quality(0.6, 0.03, surface=0.75), clear, CONFIG) == inf
    best = replace(candidate(0.0, 0.6), quality=rough, status="weak")
    for other, is_accepted in ((0.35, True), (0.5, False)):
        search = Found([best, candidate(20.0, other, 0.2)])
        assert search._stands_out(best) == is_accepted


def test_the_more_detail_agrees_the_less_more_than_others_must_agree():
    moving = quality(0.5, 0.03, 0.02)
    factors = [outstanding_factor(moving, Detail(share, 0.9), CONFIG) for share in (0.0, 0.06, 0.12, 0.9)]
    assert factors[0] == inf and factors[1] == pytest.approx(2.0 * factors[2])
    assert factors[3] == CONFIG.outstanding_agreement
    assert outstanding_factor(quality(0.5, 0.003, 0.002), Detail(0.2, 0.9), CONFIG) == CONFIG.outstanding_agreement


def test_it_wins_against_one_that_is_accepted_by_itself():
    """A flight of stairs rotated by half a turn is accepted by itself; the correct one agrees by half as much more."""
    flipped, correct = candidate(20.0, 0.6, 0.004), candidate(0.0, 0.8, 0.02, 0.018)
    assert flipped.status == "accepted" and correct.status != "accepted"
    search = Found([flipped, correct])
    assert search._beats(correct, flipped) and not search._beats(flipped, correct)
    weaker = replace(correct, quality=quality(0.62, 0.02, 0.018))
    assert not search._beats(weaker, flipped) and search._beats(flipped, weaker)
    search.share = 0.08
    assert not search._beats(correct, flipped) and search._beats(flipped, correct)


def test_a_violated_transform_is_weak_where_another_agrees_more():
    best, other = candidate(0.0, 0.7, 0.006), candidate(20.0, 0.75, 0.025)
    assert best.status == "accepted" and other.status == "rejected"
    decision = decide(Found([best, other]), best, None)
    assert decision.status == "weak" and "agrees more" in decision.reason


def test_a_transform_that_violates_free_space_many_times_as_much_is_no_rival():
    best, other = candidate(0.0, 0.7, 0.006), candidate(20.0, 0.75, 0.05)
    assert decide(Found([best, other]), best, None).status == "accepted"


def test_a_transform_that_the_scene_does_not_constrain_is_no_rival():
    best, other = candidate(0.0, 0.7, 0.006), candidate(20.0, 0.75, 0.025)
    along_x = np.diag([0.0, *np.full(5, 0.3)])
    free = replace(other, quality=replace(other.quality, information=along_x))
    assert decide(Found([best, free]), best, None).status == "accepted"


@pytest.mark.parametrize(("through", "status"), [(0.0, "accepted"), (0.006, "ambiguous")])
def test_where_things_move_more_must_distinguish_a_transform_from_another_that_is_verified(through, status):
    best, other = candidate(0.0, 0.8, through), candidate(20.0, 0.68, through)
    assert best.status == other.status == "accepted"
    assert decide(Found([best, other]), best, None).status == status
