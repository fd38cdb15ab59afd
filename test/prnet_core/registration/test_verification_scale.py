"""The verdict on a transform does not depend on the voxel size."""

import numpy as np
import pytest

from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.registration import to_voxels
from prnet_core.registration.search import Search
from prnet_core.registration.verify import verify
from prnet_core.simulation.two_scans import corridor_pair, room_pair

ORIGIN = np.zeros(3)


def quality_of(pair, transform, factor):
    registration = Registration(None, RegistrationConfig())
    voxel_size = factor * max(map(registration.voxel_size_for, (pair.source, pair.target)))
    source, target = (registration.prepare(points, voxel_size, ORIGIN) for points in (pair.source, pair.target))
    search = Search(source, target, None, registration.config)
    return search.refine([("guess", to_voxels(transform, source, target))])[0].quality


@pytest.mark.parametrize("pair", [room_pair(1, 135.0), corridor_pair(2, 1.0, 0.0)], ids=["room", "corridor"])
def test_a_correct_transform_is_accepted_with_half_and_twice_the_voxel_size(pair):
    found = [quality_of(pair, pair.T_target_source, factor) for factor in (0.5, 1.0, 2.0)]
    assert [verify(quality, RegistrationConfig())[0] for quality in found] == ["accepted"] * 3
    agreements = [quality.agreement for quality in found]
    assert max(agreements) - min(agreements) < 0.12


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.4])
def test_a_flipped_room_is_not_accepted(factor):
    pair = room_pair(1, 180.0)
    flip = np.diag([-1.0, -1.0, 1.0, 1.0])
    quality = quality_of(pair, pair.T_target_source @ flip, factor)
    assert verify(quality, RegistrationConfig())[0] != "accepted"


@pytest.mark.parametrize("room", [3, 6])
def test_a_guess_of_a_flipped_room_is_not_accepted_with_twice_the_voxel_size(room):
    """The furniture is hardly larger than two voxels then: the flipped transform alone would be accepted."""
    pair = room_pair(room, 135.0)
    flipped = pair.T_target_source @ np.diag([-1.0, -1.0, 1.0, 1.0])
    registration = Registration(None)
    voxel_size = 2.0 * max(map(registration.voxel_size_for, (pair.source, pair.target)))
    registration = Registration(None, RegistrationConfig(voxel_size=voxel_size))
    result = registration.register(pair.source, pair.target, flipped, source_origin=ORIGIN, target_origin=ORIGIN)
    error = np.linalg.inv(pair.T_target_source) @ result.T_target_source
    assert result.status != "accepted" or np.linalg.norm(error[:3, 3]) < 0.1
