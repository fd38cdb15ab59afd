"""Rays against boxes, elliptic cylinders and ellipsoids, in closed form and vectorised (numpy).

Each solid is a unit solid (the cube [-1, 1]^3, the cylinder x^2 + y^2 <= 1 with |z| <= 1, the unit ball)
under an affine map. Distances along a ray survive the map, so the ray is brought to the unit solid instead.
"""

from __future__ import annotations

import numpy as np

from prnet_core.simulation.solids import BOX, CYLINDER, ELLIPSOID, Solids


def cast_rays(origin: np.ndarray, directions: np.ndarray, solids: Solids) -> np.ndarray:
    """Distance to the nearest surface along each ray, infinite where there is none.

    origin (3,), directions (R, 3) unit length, both in the world -> (R,) float32 metres. A solid that holds
    the origin is not seen.
    """
    nearest = np.full(len(directions), np.inf, dtype=np.float32)
    for kind, interval in ((BOX, _box_interval), (CYLINDER, _cylinder_interval), (ELLIPSOID, _ball_interval)):
        chosen = solids.kinds == kind
        if not chosen.any():
            continue
        to_unit = (solids.axes[chosen] / solids.half_sizes[chosen][:, None, :]).astype(np.float32)  # (P, 3, 3)
        start = np.einsum("pi,pij->jp", (origin - solids.centres[chosen]).astype(np.float32), to_unit)  # (3, P)
        step = np.einsum("ri,pij->jrp", directions.astype(np.float32), to_unit, optimize=True)  # (3, R, P)
        with np.errstate(divide="ignore", invalid="ignore"):
            enter, leave = interval(start, step)
            hit = (enter > 0.0) & (leave >= enter)
        nearest = np.minimum(nearest, np.where(hit, enter, np.inf).min(axis=1))
    return nearest


def _slab_interval(start: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inverse = 1.0 / np.where(step == 0.0, np.float32(1e-12), step)
    middle, half = -start * inverse, np.abs(inverse)
    return middle - half, middle + half


def _box_interval(start: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    enter, leave = _slab_interval(start[0], step[0])
    for axis in (1, 2):
        axis_enter, axis_leave = _slab_interval(start[axis], step[axis])
        enter, leave = np.maximum(enter, axis_enter), np.minimum(leave, axis_leave)
    return enter, leave


def _quadratic_interval(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots of a t^2 + 2 b t + c; NaN, which no comparison accepts, where the ray passes by."""
    root = np.sqrt(b * b - a * c)
    return (-b - root) / a, (-b + root) / a


def _cylinder_interval(start: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a = step[0] ** 2 + step[1] ** 2 + np.float32(1e-12)
    side = _quadratic_interval(a, start[0] * step[0] + start[1] * step[1], start[0] ** 2 + start[1] ** 2 - 1.0)
    caps = _slab_interval(start[2], step[2])
    return np.maximum(side[0], caps[0]), np.minimum(side[1], caps[1])


def _ball_interval(start: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _quadratic_interval((step**2).sum(0), (start[:, None] * step).sum(0), (start**2).sum(0) - 1.0)
