"""A set of shapes of one size, each a point cloud in the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


class ShapeError(ValueError):
    """A file or folder without usable shapes. The message names it and the reason."""


@dataclass(frozen=True)
class ShapeSet:
    """Shapes of one size, in memory.

    points   (n, P, 3) float32, each shape with zero mean and inside the unit sphere
    names    (n,) str
    classes  (n,) str, class labels, "" where unknown
    groups   (n,) int, near-duplicate shapes have the same group: split by group, never within a group
    sources  (n,) str, the collections the shapes come from, "" where unknown

    Raises ShapeError if the lengths differ or a point is not finite.
    """

    points: np.ndarray
    names: np.ndarray
    classes: np.ndarray
    groups: np.ndarray
    sources: np.ndarray

    def __post_init__(self) -> None:
        if self.points.ndim != 3 or self.points.shape[2] != 3:
            raise ShapeError(f"points must be (n, P, 3), got {self.points.shape}")
        for field in fields(self)[1:]:
            if len(getattr(self, field.name)) != len(self.points):
                raise ShapeError(f"{len(getattr(self, field.name))} {field.name} for {len(self.points)} shapes")
        finite = np.isfinite(self.points).all(axis=(1, 2))
        if not finite.all():
            raise ShapeError(f"shape {self.names[np.argmin(finite)]} has points that are not finite")

    def __len__(self) -> int:
        return len(self.points)

    def tensor(self) -> torch.Tensor:
        """All points, (n, P, 3) float32, sharing memory with `points`."""
        import torch

        return torch.from_numpy(self.points)

    def select(self, mask_or_indices: np.ndarray) -> ShapeSet:
        """The shapes of a boolean mask (n,) or an index array, in that order."""
        return ShapeSet(*(getattr(self, field.name)[mask_or_indices] for field in fields(self)))


def make_shape_set(points, names, classes=None, groups=None, sources=None) -> ShapeSet:
    """A ShapeSet with defaults for unknown fields. Without groups, each shape is its own group."""
    count = len(points)
    return ShapeSet(
        points=np.ascontiguousarray(points, dtype=np.float32),
        names=np.asarray(names, dtype=np.str_),
        classes=np.asarray([""] * count if classes is None else classes, dtype=np.str_),
        groups=np.arange(count) if groups is None else np.asarray(groups, dtype=np.int64),
        sources=np.asarray([""] * count if sources is None else sources, dtype=np.str_),
    )


def to_unit_sphere(points: np.ndarray) -> np.ndarray:
    """(..., P, 3) float32: mean at the origin, the farthest point at distance 1."""
    points = np.asarray(points, dtype=np.float64)
    centred = points - points.mean(axis=-2, keepdims=True)
    radius = np.linalg.norm(centred, axis=-1).max(axis=-1)[..., None, None]
    return (centred / np.maximum(radius, 1e-12)).astype(np.float32)
