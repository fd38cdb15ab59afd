"""The nearest points of a cloud, for many points at once (torch, without gradients)."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

ROWS, GROUP = 1024, 64
"""Points at a time, so that their distances fit into a processor's cache; columns whose minima are compared first."""


def nearest_distances(points: Tensor, cloud: Tensor) -> Tensor:
    """Squared distance (..., P) of each point (..., P, 3) to the nearest of a cloud (..., M, 3)."""
    return _joined([values.amin(dim=-1) for values in _squared_distances(points, cloud)], points).clamp_min_(0.0)


def nearest_points(points: Tensor, cloud: Tensor) -> tuple[Tensor, Tensor]:
    """As `nearest_distances`, and the index (..., P) of the nearest point."""
    squared, indices = [], []
    for values in _squared_distances(points, cloud):
        # a single argmin over all columns takes three times as long
        groups = values.unflatten(-1, (-1, GROUP))
        smallest, column = groups.amin(dim=-2).min(dim=-1, keepdim=True)
        group = groups.take_along_dim(column.unsqueeze(-1), dim=-1).argmin(dim=-2)
        squared.append(smallest.squeeze(-1))
        indices.append((group * GROUP + column).squeeze(-1))
    return _joined(squared, points).clamp_min_(0.0), _joined(indices, points)


@torch.no_grad()
def _squared_distances(points: Tensor, cloud: Tensor) -> Iterator[Tensor]:
    """Blocks (B, some, columns), each in the same memory: the products of (x, |x|^2, 1) and (-2 y, 1, |y|^2). The
    columns that pad the last group are at an infinite distance."""
    centre = cloud.mean(dim=-2, keepdim=True)
    points, cloud = ((values - centre).reshape(-1, *values.shape[-2:]) for values in (points, cloud))
    missing = (0, 0, 0, -cloud.shape[1] % GROUP)
    left = torch.cat([points, points.square().sum(dim=-1, keepdim=True), torch.ones_like(points[..., :1])], dim=-1)
    lengths = pad(cloud.square().sum(dim=-1, keepdim=True), missing, value=torch.inf)
    right = torch.cat([pad(-2.0 * cloud, missing), torch.ones_like(lengths), lengths], dim=-1).transpose(1, 2)
    memory = left.new_empty(0)
    for some in left.split(ROWS, dim=1):
        shape = (*some.shape[:2], right.shape[2])
        memory = memory if memory.shape == shape else left.new_empty(shape)
        yield torch.bmm(some, right, out=memory)


def _joined(parts: list[Tensor], points: Tensor) -> Tensor:
    return torch.cat(parts, dim=1).view(points.shape[:-1])
