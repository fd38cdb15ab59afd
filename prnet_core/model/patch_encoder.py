"""A feature of each point from its patch of the dense cloud, unchanged by rotations (ours, not the paper's)."""

import torch
from torch import Tensor, nn

from .neighbours import stacked_max
from .surface_cloud import PATCH_CHANNELS

HIDDEN = 32
MIDDLE, SCALE = (0.6, 0.0, 0.0, 0.0, 0.8), (3.0, 6.0, 3.0, 3.0, 2.0)
"""Bring each channel to about zero mean and unit variance: surfaces are mostly flat."""


class PatchEncoder(nn.Module):
    """A shared MLP over the neighbours of a patch, their maximum and mean, and a linear layer."""

    def __init__(self, out_channels: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(PATCH_CHANNELS, HIDDEN),
            nn.ReLU(inplace=True),
            nn.Linear(HIDDEN, out_channels),
            nn.ReLU(inplace=True),
        )
        self.pooled = nn.Linear(2 * out_channels, out_channels)
        self.norm = nn.LayerNorm(out_channels)
        self.register_buffer("middle", torch.tensor(MIDDLE), persistent=False)
        self.register_buffer("scale", torch.tensor(SCALE), persistent=False)

    def forward(self, patches: Tensor) -> Tensor:
        """(B, N, K, 5) -> (B, N, out_channels)."""
        patches = (patches - self.middle) * self.scale
        if torch.is_grad_enabled():  # the backward pass is faster with the neighbours first
            features = self.mlp(patches.movedim(2, 0).contiguous())
            best, mean = stacked_max(features), features.mean(dim=0)
        else:
            features = self.mlp(patches)
            best, mean = features.amax(dim=2), features.mean(dim=2)
        return self.norm(self.pooled(torch.cat([best, mean], dim=-1)))
