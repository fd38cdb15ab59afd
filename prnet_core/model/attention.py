"""softmax(Q K^T / sqrt(d)) V by the form that is faster, as measured (docs/results/network_speed.md)."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from .precision import has_amx

MAX_PRODUCTS = 1200**2
"""Above this number of logits per head the fused kernel is faster in bfloat16 too: it never holds them all."""
ROWS = 384
"""Queries at a time without gradients: new memory for all logits would cost more than their softmax."""


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (B, H, N, D), k and v (B, H, M, D) -> (B, H, N, D)."""
    if not _unfused_is_faster(q, k):
        return scaled_dot_product_attention(q, k, v)
    q = q * q.shape[-1] ** -0.5
    if not torch.is_grad_enabled():
        return in_one_memory(q, k, v)
    return (q @ k.transpose(-1, -2)).softmax(dim=-1).to(v.dtype) @ v


def _unfused_is_faster(q: Tensor, k: Tensor) -> bool:
    """On a CPU: always with gradients (the fused backward pass takes several times as long); without gradients, in
    bfloat16 without AMX, by a factor of 1.3 to 1.8 for up to a thousand points."""
    if q.device.type != "cpu":
        return False
    if torch.is_grad_enabled():
        return True
    return q.dtype == torch.bfloat16 and q.shape[-2] * k.shape[-2] <= MAX_PRODUCTS and not has_amx()


def in_one_memory(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """softmax(q k^T) v, some queries of a head at a time, each time in the same memory."""
    result = torch.empty((*q.transpose(1, 2).shape[:-1], v.shape[-1]), dtype=v.dtype, device=v.device).transpose(1, 2)
    memory = q.new_empty(min(ROWS, q.shape[-2]), k.shape[-2])
    heads = [head for pair in zip(q, k, v, result, strict=True) for head in zip(*pair, strict=True)]
    with torch.autocast(q.device.type, enabled=False):
        for queries, keys, values, out in heads:
            for rows, some in zip(queries.split(ROWS), out.split(ROWS), strict=True):
                weights = torch.mm(rows, keys.T, out=memory[: len(rows)])
                torch.mm(torch.softmax(weights, dim=-1, out=weights), values, out=some)
    return result
