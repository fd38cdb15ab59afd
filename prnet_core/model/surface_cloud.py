"""What a network with rotation-invariant inputs reads of a cloud: points, normals, and the patch around each point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

PATCH_CHANNELS = 5
"""Of each neighbour: d / r, h / r, n_1 . d, n_2 . d, n_1 . n_2 (`prnet_core.pairs.surface_patches`)."""


@dataclass(frozen=True)
class SurfaceCloud:
    """B clouds of N points. Lengths are in spacings of the network's points, one spacing for a pair.

    points (B, N, 3); normals (B, N, 3) unit length, oriented alike in both clouds of a pair;
    patches (B, N, K, 5), unchanged when the cloud is rotated or moved.
    """

    points: Tensor
    normals: Tensor
    patches: Tensor

    def __post_init__(self) -> None:
        batch, count = self.points.shape[:2]
        if self.points.ndim != 3 or self.points.shape[-1] != 3 or count == 0:
            raise ValueError(f"points must be (B, N, 3) with N >= 1, got {tuple(self.points.shape)}")
        if self.normals.shape != self.points.shape:
            raise ValueError(f"normals are {tuple(self.normals.shape)}, points {tuple(self.points.shape)}")
        patch = self.patches.shape
        if len(patch) != 4 or patch[:2] != (batch, count) or patch[-1] != PATCH_CHANNELS:
            raise ValueError(f"patches must be ({batch}, {count}, K, {PATCH_CHANNELS}), got {tuple(patch)}")

    def __len__(self) -> int:
        return self.points.shape[0]

    def __getitem__(self, rows: slice) -> SurfaceCloud:
        return SurfaceCloud(self.points[rows], self.normals[rows], self.patches[rows])

    def to(self, *args, **kwargs) -> SurfaceCloud:
        """All tensors moved or converted, as `Tensor.to`."""
        return SurfaceCloud(*(value.to(*args, **kwargs) for value in vars(self).values()))

    def float(self) -> SurfaceCloud:
        """All tensors in float32."""
        return self.to(torch.float32)

    def with_points(self, points: Tensor) -> SurfaceCloud:
        """The same surface with other coordinates; features only read distances and the normals' angles."""
        return replace(self, points=points)

    @staticmethod
    def cat(clouds: list[SurfaceCloud]) -> SurfaceCloud:
        """One batch of several of equal sizes."""
        return SurfaceCloud(*(torch.cat(values) for values in zip(*(vars(c).values() for c in clouds), strict=True)))
