"""The rigid motion between matched points, in closed form."""

import roma
import torch
from torch import Tensor

from .transforms import make_transform, transform_points


def procrustes(source: Tensor, target: Tensor, weights: Tensor | None = None) -> Tensor:
    """Weighted orthogonal Procrustes: argmin over rigid T of sum_i w_i |R x_i + t - y_i|^2.

    The paper's closed form from the SVD of the cross covariance H = sum_i w_i (x_i - x)(y_i - y)^T, with
    det R = +1 always. Degenerate input (one point, collinear, mirrored, all weights zero) gives a finite
    rotation and a finite gradient.

    source, target: (..., K, 3), matched by row; weights: (..., K), not negative, or None for ones.
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


def _nearest_rotation(matrix: Tensor) -> Tensor:
    """argmax over rotations of trace(R^T M), (..., 3, 3). roma's has the finite gradient; without one, and on a
    CPU, LAPACK's SVD of so small a matrix is fifty times as fast."""
    if matrix.device.type != "cpu" or (torch.is_grad_enabled() and matrix.requires_grad):
        return roma.special_procrustes(matrix)
    if not torch.isfinite(matrix).all():
        return torch.full_like(matrix, torch.nan)
    u, _, vh = torch.linalg.svd(matrix)
    mirrored = torch.linalg.det(u @ vh).sign()
    return torch.cat([u[..., :2], u[..., 2:] * mirrored[..., None, None]], dim=-1) @ vh


def robust_procrustes(source: Tensor, target: Tensor, weights: Tensor | None = None, iterations: int = 10) -> Tensor:
    """Procrustes that wrong matches do not pull: Geman-McClure weights, graduated from convex to robust.

    w_i = (mu / (mu + |R x_i + t - y_i|^2))^2. The scale mu falls from the largest squared residual, halving
    by iteration, to the square of twice the median residual, so that the inliers of a clear majority keep
    their weight (Yang et al., Graduated Non-Convexity, 2020).

    Shapes and result as for `procrustes`; the last step is differentiable, the weights are not.
    """
    dtype = torch.promote_types(source.dtype, torch.float32)
    source, target = source.to(dtype), target.to(dtype)
    prior = torch.ones_like(source[..., 0]) if weights is None else weights.to(dtype)
    current = prior
    with torch.no_grad(), torch.autocast(source.device.type, enabled=False):
        for step in range(iterations):
            transform = procrustes(source, target, current)
            squared = (transform_points(transform, source) - target).square().sum(dim=-1)
            floor = 4.0 * squared.median(dim=-1, keepdim=True).values
            start = squared.amax(dim=-1, keepdim=True)
            scale = torch.maximum(start * 0.5**step, floor * 0.25**step).clamp_min(1e-8)
            current = prior * (scale / (scale + squared)).square()
    return procrustes(source, target, current)
