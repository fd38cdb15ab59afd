"""Verification by free space: flipped rooms, slid corridors, several views, and clouds without an origin."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.registration import Registration, RegistrationConfig, RegistrationError
from prnet_core.registration.alignment import measure_alignment
from prnet_core.registration.registration import to_voxels
from prnet_core.simulation.two_scans import corridor_pair, room_pair

ORIGIN = np.zeros(3)


def is_correct(pair, transform):
    error = se3.invert(pair.T_target_source) @ transform
    return np.degrees(se3.rotation_angle(error[:3, :3])) < 2.0 and np.linalg.norm(error[:3, 3]) < 0.3


def prepare(pair, registration=None, origin=ORIGIN):
    registration = registration or Registration(None)
    voxel = max(registration.voxel_size_for(points) for points in (pair.source, pair.target))
    return [registration.prepare(points, voxel, origin) for points in (pair.source, pair.target)]


@pytest.fixture(scope="module")
def room():
    return room_pair(1, 180.0)


def test_a_room_is_not_flipped(room):
    """The guess is off by half a turn; the flipped room overlaps well, but its furniture stands in free space."""
    result = Registration(None).register(
        room.source, room.target, np.eye(4), source_origin=ORIGIN, target_origin=ORIGIN
    )
    assert result.status == "accepted", result.reason
    assert is_correct(room, result.T_target_source)
    assert result.violation < 0.01 and result.usable


def test_the_flipped_room_alone_is_not_accepted(room):
    flipped = room.T_target_source @ se3.make_transform(np.diag([-1.0, -1.0, 1.0]), np.zeros(3))
    source, target = prepare(room)
    result = Registration(None).register_prepared(source, target, flipped, hypotheses="guess")
    assert not result.usable or is_correct(room, result.T_target_source), result.reason


def test_the_correct_transform_violates_less_than_a_shifted_one(room):
    source, target = prepare(room)
    config = RegistrationConfig()
    shifted = se3.make_transform(np.eye(3), np.array([0.8, 0.5, 0.0])) @ room.T_target_source
    correct, incorrect = (
        measure_alignment(source, target, to_voxels(transform, source, target), config)
        for transform in (room.T_target_source, shifted)
    )
    assert correct.violation < 0.01 < 0.1 < incorrect.violation
    assert correct.seen_agreement > 0.9 > incorrect.seen_agreement
    assert [0.0 <= space.through <= space.visible <= 1.0 for space in incorrect.free_space] == [True, True]


def test_one_known_origin_is_enough_to_test_one_direction(room):
    source, _ = prepare(room, origin=None)
    _, target = prepare(room)
    transform = to_voxels(room.T_target_source, source, target)
    assert len(measure_alignment(source, target, transform, RegistrationConfig()).free_space) == 1


def test_without_an_origin_the_result_says_so(room):
    result = Registration(None).register(room.source, room.target, room.T_target_source)
    assert result.violation is None
    assert "sensor origin not known" in result.reason


def test_a_target_of_several_scans_keeps_their_views(room):
    """The target joined with the scan of the source: each sensor keeps its own rays."""
    registration = Registration(None)
    joined = np.vstack([room.target, se3.apply(room.T_target_source, room.source)])
    origins = np.stack([ORIGIN, room.T_target_source[:3, 3]])
    view = np.repeat([0, 1], [len(room.target), len(room.source)])
    voxel = registration.voxel_size_for(room.source)
    source = registration.prepare(room.source, voxel, ORIGIN)
    target = registration.prepare(joined, voxel, origins, view)
    assert len(target.views) == 2
    result = registration.register_prepared(source, target, room.T_target_source)
    assert result.status == "accepted", result.reason
    shifted = se3.make_transform(np.eye(3), np.array([0.8, 0.5, 0.0])) @ room.T_target_source
    transform = to_voxels(shifted, source, target)
    assert measure_alignment(source, target, transform, registration.config).violation > 0.1


@pytest.mark.parametrize(
    ("origin", "view"), [(np.zeros(2), None), (np.full(3, np.nan), None), (np.zeros((2, 3)), None)]
)
def test_origins_of_another_form_raise(room, origin, view):
    with pytest.raises(RegistrationError, match="origin"):
        Registration(None).prepare(room.source, 0.1, origin, view)


def test_an_origin_elsewhere_gives_the_same_result(room):
    """Clouds and origins moved together: the verification uses the given origin, not the frame's."""
    offset = np.array([300.0, -200.0, 10.0])
    result = Registration(None).register(
        room.source + offset, room.target + offset, source_origin=offset, target_origin=offset
    )
    shift = se3.make_transform(np.eye(3), offset)
    assert result.status == "accepted", result.reason
    assert is_correct(room, se3.invert(shift) @ result.T_target_source @ shift)


def test_a_corridor_is_not_slid():
    pair = corridor_pair(0, along=4.0)
    result = Registration(None).register(
        pair.source, pair.target, np.eye(4), source_origin=ORIGIN, target_origin=ORIGIN
    )
    assert not result.usable or is_correct(pair, result.T_target_source), result.reason


def test_out_of_time_only_the_guess_is_tried(room):
    source, target = prepare(room)
    result = Registration(None).register_prepared(source, target, np.eye(4), deadline=0.0)
    assert not result.usable
    assert "features" not in result.timings and "alternatives" not in result.timings
    limited = Registration(None, RegistrationConfig(max_scan_time=1e-9))
    assert "features" not in limited.register_prepared(source, target, np.eye(4)).timings
