"""Batched rigid transforms as 4x4 matrices (torch). `T_target_source` maps points of the source into the target."""

import roma
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
    """Angle (...) in radians, in [0, pi], between two rotations (..., 3, 3). Exact near zero, never NaN."""
    return roma.rotmat_geodesic_distance(rotation_a, rotation_b)


def compose_euler(angles: Tensor) -> Tensor:
    """R = Rx(a) Ry(b) Rz(c) from angles (..., 3) = (a, b, c) in radians: the order of the paper's protocol."""
    return roma.euler_to_rotmat("XYZ", angles)
