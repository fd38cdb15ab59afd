import numpy as np
import pytest

from prnet_core.geometry.farthest_points import farthest_points


def test_each_point_is_the_farthest_from_those_before():
    points = np.random.default_rng(0).normal(size=(60, 3))
    chosen = farthest_points(points, 20, first=7)
    assert chosen[0] == 7 and len(set(chosen)) == 20
    for k in range(1, 20):
        distance = np.linalg.norm(points[:, None] - points[chosen[:k]], axis=2).min(axis=1)
        assert distance[chosen[k]] == pytest.approx(distance.max())


def test_all_points_can_be_chosen_and_no_more():
    points = np.random.default_rng(1).normal(size=(5, 3))
    assert sorted(farthest_points(points, 5)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="6 points cannot be sampled from 5"):
        farthest_points(points, 6)
