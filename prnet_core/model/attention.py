"""softmax(Q K^T / sqrt(d)) V by the form that is faster, as measured (docs/results/network_speed.md)."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from .precision import has_amx

MAX_PRODUCTS = 1200**2
"""Above this number of logits per head the fused kernel is faster in bfloat16 too: it never holds them all."""


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (B, H, N, D), k and v (B, H, M, D) -> (B, H, N, D)."""
    if not _unfused_is_faster(q, k):
        return scaled_dot_product_attention(q, k, v)
    logits = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    return logits.softmax(dim=-1).to(v.dtype) @ v


def _unfused_is_faster(q: Tensor, k: Tensor) -> bool:
    """On a CPU: always with gradients (the fused backward pass takes several times as long); without gradients, in
    bfloat16 without AMX, by a factor of 1.3 to 1.8 for up to a thousand points."""
    if q.device.type != "cpu":
        return False
    if torch.is_grad_enabled():
        return True
    return q.dtype == torch.bfloat16 and q.shape[-2] * k.shape[-2] <= MAX_PRODUCTS and not has_amx()
