"""The batched steps of spatial consistency, on matches known by construction."""

import torch

from prnet_core.geometry.spatial_consistency import compatible_matches, second_order_compatibility


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
