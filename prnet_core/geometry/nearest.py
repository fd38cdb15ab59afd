"""The nearest points of a cloud, for many points at once (torch)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

ROWS, GROUP = 1024, 64
"""Points at a time, so that their distances fit into a processor's cache; columns whose minima are compared first."""


def nearest_distances(points: Tensor, cloud: Tensor) -> Tensor:
    """Squared distance (..., P) of each point (..., P, 3) to the nearest of a cloud (..., M, 3)."""
    parts = [(values.amin(dim=-1), own) for values, own in _relative(points, cloud)]
    return _joined([_squared(*part) for part in parts], points)


def nearest_points(points: Tensor, cloud: Tensor) -> tuple[Tensor, Tensor]:
    """As `nearest_distances`, and the index (..., P) of the nearest point."""
    distances, indices = [], []
    for values, own in _relative(points, cloud):
        groups = values.unflatten(-1, (-1, GROUP))  # one search for the index over all columns takes three times as long
        smallest, column = groups.amin(dim=-2).min(dim=-1, keepdim=True)
        group = groups.take_along_dim(column.unsqueeze(-1), dim=-1).argmin(dim=-2)
        distances.append(_squared(smallest.squeeze(-1), own))
        indices.append((group * GROUP + column).squeeze(-1))
    return _joined(distances, points), _joined(indices, points)


def _relative(points: Tensor, cloud: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """For some points at a time: squared distances (B, some, columns) less the points' own squared length, (B, some).

    The columns that fill up the last group can never be near."""
    centre = cloud.mean(dim=-2, keepdim=True)
    points, cloud = ((values - centre).reshape(-1, *values.shape[-2:]) for values in (points, cloud))
    missing = -cloud.shape[1] % GROUP
    lengths = pad(cloud.square().sum(dim=-1), (0, missing), value=torch.inf).unsqueeze(1)
    columns = pad(-2.0 * cloud, (0, 0, 0, missing)).transpose(1, 2)
    for some in points.split(ROWS, dim=1):
        yield torch.baddbmm(lengths, some, columns), some.square().sum(dim=-1)


def _squared(relative: Tensor, own: Tensor) -> Tensor:
    return (relative + own).clamp_min_(0.0)


def _joined(parts: list[Tensor], points: Tensor) -> Tensor:
    return torch.cat(parts, dim=1).view(points.shape[:-1])
