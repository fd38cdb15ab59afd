"""The voxel size of a LiDAR with few rings is larger than the gaps between its rings."""

import numpy as np
import pytest

from prnet_core.registration import Registration
from prnet_core.registration.ring_gaps import MAX_LINES, share_of_lines, surface_voxel_size


def ground_rings(num_rings, columns=900):
    """Rings of a LiDAR 1.5 m above rough ground, 3 to 20 m away."""
    rng = np.random.default_rng(0)
    ranges, angles = np.meshgrid(np.linspace(3.0, 20.0, num_rings), np.linspace(0.0, 2 * np.pi, columns)[:-1])
    points = np.stack([ranges * np.cos(angles), ranges * np.sin(angles), np.full(ranges.shape, -1.5)], axis=-1)
    return points.reshape(-1, 3) + 0.01 * rng.normal(size=(points[..., 0].size, 3))


def test_few_rings_need_a_larger_voxel_than_a_surface():
    few, many = ground_rings(10), ground_rings(80)
    registration = Registration(None)
    chosen = [registration.voxel_size_for(points) for points in (few, many)]
    assert registration.pair_voxel_size_for(few) > 1.5 * chosen[0]
    assert registration.pair_voxel_size_for(many) == chosen[1]


def test_points_of_one_ring_are_lines_and_points_of_a_surface_are_not():
    assert share_of_lines(ground_rings(1), 15) > 0.9
    assert share_of_lines(np.random.default_rng(1).uniform(size=(2000, 3)) * (1.0, 1.0, 0.0), 15) < MAX_LINES


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_it_scales_with_the_unit(scale):
    points = ground_rings(10)
    wanted = surface_voxel_size(points, 0.1, 15)
    assert surface_voxel_size(scale * points, scale * 0.1, 15) == pytest.approx(scale * wanted)


def test_a_size_of_zero_and_few_points_stay():
    assert surface_voxel_size(np.zeros((5, 3)), 0.0, 15) == 0.0
    assert surface_voxel_size(ground_rings(1, 500), 0.1, 15) == 0.1
