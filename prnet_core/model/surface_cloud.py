"""Inputs of a network with rotation-invariant inputs: points, normals, and the patch around each point."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..geometry.transforms import transform_points

PATCH_CHANNELS = 5
"""Channels of each neighbour: d / r, h / r, n_1 . d, n_2 . d, n_1 . n_2 (`prnet_core.pairs.surface_patches`)."""


@dataclass(frozen=True)
class SurfaceCloud:
    """B clouds of N points.

    points (B, N, 3) in any unit; normals (B, N, 3) unit length, oriented alike in both clouds of a pair;
    patches (B, N, K, 5), unchanged when the cloud is rotated or moved; spacing (B,) of the points, in their unit, the
    same for both clouds of a pair.
    """

    points: Tensor
    normals: Tensor
    patches: Tensor
    spacing: Tensor

    def __post_init__(self) -> None:
        batch, count = self.points.shape[:2]
        if self.points.ndim != 3 or self.points.shape[-1] != 3 or count == 0:
            raise ValueError(f"points must be (B, N, 3) with N >= 1, got {tuple(self.points.shape)}")
        if self.normals.shape != self.points.shape:
            raise ValueError(f"normals are {tuple(self.normals.shape)}, points {tuple(self.points.shape)}")
        if self.spacing.shape != (batch,):
            raise ValueError(f"spacing must be ({batch},), got {tuple(self.spacing.shape)}")
        patch = self.patches.shape
        if len(patch) != 4 or patch[:2] != (batch, count) or patch[-1] != PATCH_CHANNELS:
            raise ValueError(f"patches must be ({batch}, {count}, K, {PATCH_CHANNELS}), got {tuple(patch)}")

    def __len__(self) -> int:
        return self.points.shape[0]

    def __getitem__(self, rows: slice) -> SurfaceCloud:
        return SurfaceCloud(*(value[rows] for value in vars(self).values()))

    def to(self, *args, **kwargs) -> SurfaceCloud:
        """All tensors moved or converted, as `Tensor.to`."""
        return SurfaceCloud(*(value.to(*args, **kwargs) for value in vars(self).values()))

    def moved(self, T: Tensor) -> SurfaceCloud:
        """The clouds moved by transforms (B, 4, 4); the patches stay."""
        normals = self.normals @ T[:, :3, :3].transpose(1, 2)
        return replace(self, points=transform_points(T, self.points), normals=normals)

    def float(self) -> SurfaceCloud:
        """All tensors in float32."""
        return self.to(torch.float32)

    @property
    def scaled_points(self) -> Tensor:
        """The points (B, N, 3) in spacings."""
        return self.points / self.spacing.view(-1, 1, 1)
