"""The batched steps of spatial consistency, on matches known by construction."""

import torch

from prnet_core.geometry.spatial_consistency import (
    compatible_matches,
    second_order_compatibility,
    squared_residuals,
    strongest,
    strongest_counts,
)


def test_second_order_compatibility_counts_common_supporters():
    source = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [5, 5, 5]])
    target = source.clone()
    target[4] = torch.tensor([50.0, 0, 0])
    compatible = compatible_matches(source, target, torch.tensor(0.1))
    matrix = second_order_compatibility(compatible)
    assert matrix[0, 1] == 2.0
    assert (matrix[4] == 0.0).all()
    rows = torch.tensor([3, 0])
    torch.testing.assert_close(second_order_compatibility(compatible, rows), matrix[rows])


def test_close_matches_can_be_excluded():
    source = torch.tensor([[0.0, 0, 0], [0.1, 0, 0], [3, 0, 0]])
    compatible = compatible_matches(source, source, torch.tensor(0.05), 1.0)
    torch.testing.assert_close(compatible, torch.tensor([[0.0, 0, 1], [0, 0, 1], [1, 1, 0]]))


def test_the_strongest_counts_are_those_of_a_stable_sort():
    counts = torch.randint(0, 6, (3, 40, 300), generator=torch.Generator().manual_seed(0)).float()
    for found, expected in zip(strongest_counts(counts, 12), strongest(counts, 12), strict=True):
        assert torch.equal(found, expected)


def test_residuals_of_each_transform():
    source, target = torch.rand(2, 2, 9, 3, dtype=torch.float64)
    transforms = torch.rand(2, 5, 4, 4, dtype=torch.float64)
    moved = source[:, None] @ transforms[..., :3, :3].transpose(-1, -2) + transforms[..., None, :3, 3]
    expected = (moved - target[:, None]).square().sum(dim=-1)
    torch.testing.assert_close(squared_residuals(transforms, source, target), expected)
