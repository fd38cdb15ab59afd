"""Pairs of simulated scans: exact relative poses, the same pair for the same numbers."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.simulation.two_scans import corridor_pair, room_pair


@pytest.mark.parametrize("rotation_deg", [135.0, 180.0])
def test_rooms_overlap_under_the_ground_truth_pose(rotation_deg):
    for room in range(4):
        pair = room_pair(room, rotation_deg)
        T = pair.T_target_source
        angle = np.degrees(se3.rotation_angle(T[:3, :3]))
        assert angle == pytest.approx(rotation_deg, abs=5.0)
        assert np.linalg.norm(T[:2, 3]) == pytest.approx(0.6, abs=0.05)
        distance, _ = cKDTree(pair.target).query(se3.apply(T, pair.source))
        assert (distance < 0.15).mean() > 0.85


def test_corridor_pairs_are_as_far_apart_as_asked():
    pair = corridor_pair(0, along=3.0)
    assert np.linalg.norm(pair.T_target_source[:3, 3]) == pytest.approx(3.0, abs=0.15)


def test_a_room_is_the_same_each_time_and_another_one_differs():
    first, again, other = room_pair(1), room_pair(1), room_pair(5)
    np.testing.assert_array_equal(first.source, again.source)
    np.testing.assert_array_equal(first.T_target_source, again.T_target_source)
    assert first.scene == again.scene != other.scene
    assert len(first.source) != len(other.source)
