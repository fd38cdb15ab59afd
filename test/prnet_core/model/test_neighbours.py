import pytest
import torch
from oracles.direct_edge_conv import direct_knn

from prnet_core.model.neighbours import adjacency, knn, knn_of_points, neighbour_max, smallest


@pytest.mark.parametrize(("num_points", "k"), [(1, 20), (7, 20), (50, 20), (203, 20), (700, 5), (1500, 20)])
def test_knn_agrees_with_all_distances(num_points, k):
    x = torch.randn(2, num_points, 6, generator=torch.Generator().manual_seed(num_points))
    found = knn(x, k).sort(dim=-1).values
    assert torch.equal(found, direct_knn(x.double(), k).sort(dim=-1).values)


@pytest.mark.parametrize("num_points", [1, 7, 300])
def test_knn_of_points_agrees_with_all_distances(num_points):
    x = torch.randn(2, num_points, 3, generator=torch.Generator().manual_seed(num_points))
    found = knn_of_points(x, 20).sort(dim=-1).values
    assert torch.equal(found, direct_knn(x.double(), 20).sort(dim=-1).values)


def test_knn_far_from_the_origin():
    x = torch.randn(1, 300, 3, generator=torch.Generator().manual_seed(0)).double()
    far = (x + 1e4).float()
    same = (knn(far, 20).sort(dim=-1).values == direct_knn(far.double(), 20).sort(dim=-1).values).float().mean()
    assert same > 0.999


def test_smallest_of_rows_with_ties_gives_k_different_columns():
    values = torch.zeros(3, 400)
    found = smallest(values, 20)
    assert all(len(set(row.tolist())) == 20 for row in found)


def test_neighbour_max_and_its_gradient():
    values = torch.randn(2, 30, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    neighbours = knn(values.float(), 5)
    expected = torch.stack([values[b][neighbours[b]].amax(dim=1) for b in range(2)])
    torch.testing.assert_close(neighbour_max(values, neighbours), expected)
    values.requires_grad_()
    torch.testing.assert_close(neighbour_max(values, neighbours), expected)
    assert torch.autograd.gradcheck(lambda v: neighbour_max(v, neighbours), values)


def test_adjacency():
    neighbours = torch.tensor([[[0, 1], [1, 2], [2, 0]]])
    expected = torch.tensor([[[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]])
    assert torch.equal(adjacency(neighbours, torch.float32), expected)
