"""The rigid transform between matched points, in closed form (Kabsch; orthogonal Procrustes)."""

import roma
import torch
from torch import Tensor

from .transforms import make_transform


def procrustes(source: Tensor, target: Tensor, weights: Tensor | None = None) -> Tensor:
    """Weighted orthogonal Procrustes: argmin over rigid T of sum_i w_i |R x_i + t - y_i|^2.

    The paper's closed form, from the SVD of the cross covariance H = sum_i w_i (x_i - x)(y_i - y)^T. det R = +1
    always. Degenerate input (one point, collinear, mirrored, all weights zero) gives a finite rotation and a finite
    gradient.

    source, target: (..., K, 3), matched by row. weights: (..., K) >= 0, or None for ones.
    Returns T_target_source (..., 4, 4) in the dtype of the points, at least float32.
    """
    with torch.autocast(source.device.type, enabled=False):
        dtype = torch.promote_types(source.dtype, torch.float32)
        source, target = source.to(dtype), target.to(dtype)
        if weights is None:
            weights = torch.ones_like(source[..., 0])
        weights = weights.to(dtype)
        weights = weights + torch.finfo(dtype).tiny
        weights = (weights / weights.sum(dim=-1, keepdim=True)).unsqueeze(-1)
        mean_source = (weights * source).sum(dim=-2, keepdim=True)
        mean_target = (weights * target).sum(dim=-2, keepdim=True)
        covariance = (weights * (target - mean_target)).transpose(-1, -2) @ (source - mean_source)
        rotation = _nearest_rotation(covariance)
        translation = mean_target.squeeze(-2) - (rotation @ mean_source.transpose(-1, -2)).squeeze(-1)
        return make_transform(rotation, translation)


def procrustes_by_weights(source: Tensor, target: Tensor, weights: Tensor) -> Tensor:
    """`procrustes` of the same matches (..., K, 3) for each row of weights (..., S, K): (..., S, 4, 4).

    One product of the weights with the moments of the matches about their means.
    """
    weights = weights + torch.finfo(weights.dtype).tiny
    weights = weights / weights.sum(dim=-1, keepdim=True)
    centre_source, centre_target = (cloud.mean(dim=-2, keepdim=True) for cloud in (source, target))
    x, y = source - centre_source, target - centre_target
    products = (y.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2)
    covariance, mean_source, mean_target = (weights @ torch.cat([products, x, y], dim=-1)).split([9, 3, 3], dim=-1)
    covariance = covariance.unflatten(-1, (3, 3)) - mean_target.unsqueeze(-1) * mean_source.unsqueeze(-2)
    rotation = _nearest_rotation(covariance)
    mean_source, mean_target = mean_source + centre_source, mean_target + centre_target
    return make_transform(rotation, mean_target - (rotation @ mean_source.unsqueeze(-1)).squeeze(-1))


def _nearest_rotation(matrix: Tensor) -> Tensor:
    """argmax over rotations of trace(R^T M), (..., 3, 3). roma's has a finite gradient. Without one, on a CPU,
    LAPACK's SVD is fifty times as fast for so small a matrix."""
    if matrix.device.type != "cpu" or (torch.is_grad_enabled() and matrix.requires_grad):
        return roma.special_procrustes(matrix)
    finite = torch.isfinite(matrix).flatten(-2).all(dim=-1)[..., None, None]
    u, _, vh = torch.linalg.svd(torch.where(finite, matrix, 0.0))
    mirrored = torch.linalg.det(u @ vh).sign()
    rotation = torch.cat([u[..., :2], u[..., 2:] * mirrored[..., None, None]], dim=-1) @ vh
    return torch.where(finite, rotation, torch.nan)
