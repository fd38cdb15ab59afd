"""Batched rigid motions as 4x4 matrices (torch). `T_target_source` takes points of the source into the target."""

import torch
from torch import Tensor


def make_transform(rotation: Tensor, translation: Tensor) -> Tensor:
    """Assemble (..., 4, 4) from rotation (..., 3, 3) and translation (..., 3)."""
    top = torch.cat([rotation, translation.unsqueeze(-1)], dim=-1)
    bottom = torch.zeros_like(top[..., :1, :])
    bottom[..., 3] = 1.0
    return torch.cat([top, bottom], dim=-2)


def invert(transform: Tensor) -> Tensor:
    """Inverse of a rigid (..., 4, 4): R^T and -R^T t, exact up to rounding (no general matrix inverse)."""
    rotation_inverse = transform[..., :3, :3].transpose(-1, -2)
    translation_inverse = -(rotation_inverse @ transform[..., :3, 3:]).squeeze(-1)
    return make_transform(rotation_inverse, translation_inverse)


def transform_points(transform: Tensor, points: Tensor) -> Tensor:
    """Apply (..., 4, 4) to points (..., N, 3): p_target = R p_source + t."""
    return points @ transform[..., :3, :3].transpose(-1, -2) + transform[..., None, :3, 3]


def geodesic_angle(rotation_a: Tensor, rotation_b: Tensor) -> Tensor:
    """Angle in radians, in [0, pi], between two rotations (..., 3, 3).

    From |R_a - R_b|_F = 2 sqrt(2) sin(angle / 2): exact near zero, where the arc cosine of the trace is not,
    and never NaN.
    """
    chord = torch.linalg.matrix_norm(rotation_a - rotation_b) / (2.0 * 2.0**0.5)
    return 2.0 * torch.asin(chord.clamp(max=1.0))


def compose_euler(angles: Tensor) -> Tensor:
    """R = Rx(a) Ry(b) Rz(c) from angles (..., 3) = (a, b, c) in radians: the protocol's order."""
    a, b, c = angles.unbind(-1)
    sin_a, cos_a, sin_b, cos_b, sin_c, cos_c = a.sin(), a.cos(), b.sin(), b.cos(), c.sin(), c.cos()
    rows = [
        [cos_b * cos_c, -cos_b * sin_c, sin_b],
        [cos_a * sin_c + sin_a * sin_b * cos_c, cos_a * cos_c - sin_a * sin_b * sin_c, -sin_a * cos_b],
        [sin_a * sin_c - cos_a * sin_b * cos_c, sin_a * cos_c + cos_a * sin_b * sin_c, cos_a * cos_b],
    ]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def to_euler(rotation: Tensor) -> Tensor:
    """Inverse of `compose_euler` for (..., 3, 3): (a, b, c) in radians, b in [-pi/2, pi/2]; never NaN.

    At |b| = pi/2 only a combination of a and c is defined; c is then returned as zero.
    """
    sin_b = rotation[..., 0, 2].clamp(-1.0, 1.0)
    locked = sin_b.abs() > 1.0 - 1e-7
    a = torch.where(
        locked,
        torch.atan2(rotation[..., 2, 1], rotation[..., 1, 1]),
        torch.atan2(-rotation[..., 1, 2], rotation[..., 2, 2]),
    )
    c = torch.where(locked, torch.zeros_like(a), torch.atan2(-rotation[..., 0, 1], rotation[..., 0, 0]))
    return torch.stack([a, torch.asin(sin_b), c], dim=-1)
