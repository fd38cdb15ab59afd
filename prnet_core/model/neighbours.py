"""Nearest neighbours, and the maximum over them, on a CPU without a (B, N, k, C) tensor."""

import numpy as np
import small_gicp
import torch
from torch import Tensor
from torch.nn.functional import pad

from .precision import at_least_float32

ROWS_AT_ONCE = 1024
MOST_GROUPS = 128  # of columns: numpy partitions so many numbers within vector registers


def knn(features: Tensor, k: int) -> Tensor:
    """Indices (B, N, min(k, N)) of the nearest points of each point, itself among them (DGCNN's self-loop).

    features: (B, N, C), finite. Ranked by |x_j|^2 - 2 x_i.x_j in float32 after centring, so that the result
    does not depend on where the cloud lies. Rows are taken 1024 at a time to bound the memory.
    """
    with torch.no_grad(), torch.autocast(features.device.type, enabled=False):
        features = features.float()
        features = features - features.mean(dim=1, keepdim=True)
        k = min(k, features.shape[1])
        # Whole groups: the columns that are added can never be near.
        missing = -features.shape[1] % group_size(features.shape[1])
        norms = pad(features.square().sum(dim=-1), (0, missing), value=torch.inf).unsqueeze(1)
        columns = pad(-2.0 * features, (0, 0, 0, missing)).transpose(1, 2)
        chunks = [smallest(torch.baddbmm(norms, rows, columns), k) for rows in features.split(ROWS_AT_ONCE, dim=1)]
    return torch.cat(chunks, dim=1)


def knn_of_points(points: Tensor, k: int) -> Tensor:
    """`knn` of points (B, N, 3) in space; on a CPU with a k-d tree, in a third of the time."""
    if points.device.type != "cpu":
        return knn(points, k)
    k, clouds = min(k, points.shape[1]), points.detach().double().numpy()
    found = [small_gicp.KdTree(cloud).batch_knn_search(cloud, k)[0].astype(np.int64) for cloud in clouds]
    return torch.from_numpy(np.stack(found))


def smallest(values: Tensor, k: int) -> Tensor:
    """Indices of the k smallest along the last dimension, in no order.

    A row's k smallest lie in the k groups of columns with the smallest minima, so on a CPU only the minima and
    those groups are searched, and by numpy, which partitions with vector instructions: a ninth of the time of one
    `topk` over all of 768 columns.
    """
    if values.device.type != "cpu":
        return values.topk(k, dim=-1, largest=False, sorted=False).indices
    num_columns = values.shape[-1]
    group = group_size(num_columns)
    if group == 1 or num_columns % group or num_columns < 2 * group * k:
        return torch.from_numpy(np.argpartition(values.numpy(), k - 1, axis=-1)[..., :k])
    num_groups = num_columns // group
    groups = smallest(values.unflatten(-1, (group, num_groups)).amin(dim=-2), k)
    members = num_groups * torch.arange(group).unsqueeze(-1)
    candidates = (groups.unsqueeze(-2) + members).flatten(-2)
    return candidates.gather(-1, smallest(values.gather(-1, candidates), k))


def group_size(num_columns: int) -> int:
    """Columns of a group in `smallest`."""
    return -(-num_columns // MOST_GROUPS)


class _NeighbourMax(torch.autograd.Function):
    """Walks the k neighbours with a running maximum; the backward pass scatters to the winners."""

    @staticmethod
    def forward(ctx, values: Tensor, rows: Tensor) -> Tensor:
        best = values.index_select(0, rows[0])
        candidate = torch.empty_like(best)
        winner = torch.zeros(best.shape, dtype=torch.uint8, device=best.device)
        better = torch.empty_like(winner)
        for step in range(1, rows.shape[0]):
            torch.index_select(values, 0, rows[step], out=candidate)
            torch.gt(candidate, best, out=better.view(torch.bool))
            torch.maximum(winner, better.mul_(step), out=winner)
            torch.maximum(best, candidate, out=best)
        ctx.save_for_backward(winner, rows)
        return best

    @staticmethod
    def backward(ctx, grad: Tensor):
        winner, rows = ctx.saved_tensors
        winning_rows = rows.T.gather(1, winner.long())
        return torch.zeros_like(grad).scatter_add_(0, winning_rows, grad), None


class _StackedMax(torch.autograd.Function):
    """`amax` over the first dimension, with a backward pass that is many times as fast on a CPU."""

    @staticmethod
    def forward(ctx, values: Tensor) -> Tensor:
        best = values[0].clone()
        winner = torch.zeros(best.shape, dtype=torch.uint8, device=best.device)
        better = torch.empty_like(winner)
        for step in range(1, values.shape[0]):
            torch.gt(values[step], best, out=better.view(torch.bool))
            torch.maximum(winner, better.mul_(step), out=winner)
            torch.maximum(best, values[step], out=best)
        ctx.save_for_backward(winner)
        ctx.count = values.shape[0]
        return best

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        (winner,) = ctx.saved_tensors
        result = grad.new_zeros((ctx.count, *grad.shape))
        return result.scatter_(0, winner.long().unsqueeze(0), grad.unsqueeze(0))


def stacked_max(values: Tensor) -> Tensor:
    """(K, ..., C) -> (..., C), the maximum over the first dimension; K at most 255."""
    if torch.is_grad_enabled() and values.requires_grad and values.device.type == "cpu":
        return _StackedMax.apply(at_least_float32(values))
    return values.amax(dim=0)


def _walk(values: Tensor, rows: Tensor) -> Tensor:
    best = values.index_select(0, rows[0])
    candidate = torch.empty_like(best)
    for row in rows[1:]:
        torch.index_select(values, 0, row, out=candidate)
        torch.maximum(best, candidate, out=best)
    return best


def neighbour_max(values: Tensor, neighbours: Tensor) -> Tensor:
    """max over j in neighbours[i] of values[j], channel by channel.

    values: (B, N, C); neighbours: (B, N, k) from `knn`, k at most 255. Returns (B, N, C).
    """
    rows, flat = flat_rows(neighbours), values.flatten(0, 1)
    if torch.is_grad_enabled() and values.requires_grad:
        if flat.device.type == "cpu":
            flat = at_least_float32(flat)  # comparing bfloat16 takes a CPU twice as long
        best = _NeighbourMax.apply(flat, rows)
    else:
        best = _walk(flat, rows)
    return best.view(values.shape)


def flat_rows(neighbours: Tensor) -> Tensor:
    """(B, N, k) -> (k, B N), the rows of values (B N, C)."""
    batch, num_points, _ = neighbours.shape
    offsets = num_points * torch.arange(batch, device=neighbours.device).view(-1, 1, 1)
    return (neighbours + offsets).flatten(0, 1).T.contiguous()


def adjacency(neighbours: Tensor, dtype: torch.dtype) -> Tensor:
    """(B, N, N), one where j is among the neighbours of i, else zero."""
    batch, num_points, _ = neighbours.shape
    matrix = torch.zeros(batch, num_points, num_points, device=neighbours.device, dtype=dtype)
    return matrix.scatter_(2, neighbours, 1.0)
