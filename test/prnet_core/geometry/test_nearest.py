import pytest
import torch

from prnet_core.geometry.nearest import nearest_distances, nearest_points


@pytest.mark.parametrize(("shape", "points", "cloud"), [((), 5, 3), ((2,), 1500, 200), ((2, 3), 70, 64)])
def test_agrees_with_all_distances_wherever_the_clouds_lie(shape, points, cloud):
    generator = torch.Generator().manual_seed(points)
    x, y = (1e3 + torch.rand(*shape, n, 3, dtype=torch.float64, generator=generator) for n in (points, cloud))
    smallest, index = torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").min(dim=-1)
    squared, found = nearest_points(x, y)
    assert torch.equal(found, index)
    torch.testing.assert_close(squared, smallest.square())
    torch.testing.assert_close(nearest_distances(x, y), squared)
