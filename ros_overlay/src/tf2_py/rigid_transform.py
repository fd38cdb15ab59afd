"""A rigid transform as translation and unit quaternion, in Python floats: the buffer composes few of them."""

from __future__ import annotations

import math
from typing import NamedTuple

SLERP_LINEAR_LIMIT = 1.0 - 1e-12


class RigidTransform(NamedTuple):
    """`T_parent_child`: takes points of the child into the parent's frame.

    translation: (x, y, z) in metres. rotation: unit quaternion (x, y, z, w).
    """

    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)

    def __mul__(self, other: RigidTransform) -> RigidTransform:
        """T_a_c = T_a_b * T_b_c."""
        moved = rotate(self.rotation, other.translation)
        translation = tuple(a + b for a, b in zip(self.translation, moved, strict=True))
        return RigidTransform(translation, multiply(self.rotation, other.rotation))

    def inverse(self) -> RigidTransform:
        """T_child_parent."""
        x, y, z, w = self.rotation
        rotation = (-x, -y, -z, w)
        x, y, z = rotate(rotation, self.translation)
        return RigidTransform((-x, -y, -z), rotation)


def multiply(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Hamilton product of two quaternions (x, y, z, w)."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(rotation: tuple[float, ...], point: tuple[float, ...]) -> tuple[float, float, float]:
    """The point (x, y, z), rotated by the unit quaternion."""
    x, y, z, w = rotation
    product = multiply(multiply(rotation, (*point, 0.0)), (-x, -y, -z, w))
    return product[:3]


def slerp(a: tuple[float, ...], b: tuple[float, ...], ratio: float) -> tuple[float, float, float, float]:
    """Spherical interpolation from `a` (ratio 0) to `b` (ratio 1) along the shorter arc."""
    dot = sum(p * q for p, q in zip(a, b, strict=True))
    if dot < 0.0:
        b, dot = tuple(-q for q in b), -dot
    if dot > SLERP_LINEAR_LIMIT:
        weight_a, weight_b = 1.0 - ratio, ratio
    else:
        angle = math.acos(dot)
        weight_a = math.sin((1.0 - ratio) * angle) / math.sin(angle)
        weight_b = math.sin(ratio * angle) / math.sin(angle)
    return normalized(tuple(weight_a * p + weight_b * q for p, q in zip(a, b, strict=True)))


def normalized(rotation: tuple[float, ...]) -> tuple[float, float, float, float]:
    """The quaternion scaled to unit length."""
    length = math.sqrt(sum(q * q for q in rotation))
    return tuple(q / length for q in rotation)


def interpolate(a: RigidTransform, b: RigidTransform, ratio: float) -> RigidTransform:
    """From `a` (ratio 0) to `b` (ratio 1): linear in translation, spherical in rotation."""
    translation = tuple(p + ratio * (q - p) for p, q in zip(a.translation, b.translation, strict=True))
    return RigidTransform(translation, slerp(a.rotation, b.rotation, ratio))
