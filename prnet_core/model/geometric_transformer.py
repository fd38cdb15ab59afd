"""Attention with the distances between a cloud's points (ours, after GeoTransformer, Qin et al., CVPR 2022)."""

import torch
from torch import Tensor, nn

from .attention import attention, unfused_attention
from .config import PRNetConfig

REACHES = (2.0, 5.0, 12.0, 30.0)
"""Widths of the Gaussians of the distance, in point spacings."""


class DistanceBias(nn.Module):
    """Adds q_i . W phi(d_ij) to the attention's logits; phi are Gaussians of the distance between two points."""

    def __init__(self, embedding: int, num_heads: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_heads, embedding // num_heads, len(REACHES)))

    def forward(self, queries: Tensor, distances: Tensor) -> Tensor:
        """queries (B, H, N, D), distances phi (B, N, M, K) -> (B, H, N, M)."""
        queries = queries * queries.shape[-1] ** -0.5
        by_point = (queries @ self.weight).transpose(1, 2)  # (B, N, H, K)
        return (by_point @ distances.transpose(-1, -2)).transpose(1, 2)


def distance_features(points: Tensor) -> Tensor:
    """phi (B, N, N, K) of points (B, N, 3) in spacings: exp(-d^2 / 2 s^2) for the widths s."""
    with torch.autocast(points.device.type, enabled=False):
        squared = torch.cdist(points, points).square_().unsqueeze(-1)
        rates = squared.new_tensor([-0.5 / reach**2 for reach in REACHES])
        return (squared * rates).exp_()


class Attention(nn.Module):
    """Multi-head attention, with distances among the points of one cloud or without."""

    def __init__(self, embedding: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(embedding, embedding)
        self.key_value = nn.Linear(embedding, 2 * embedding)
        self.out = nn.Linear(embedding, embedding)

    def forward(
        self, queries: Tensor, memory: Tensor, bias: DistanceBias | None = None, distances: Tensor | None = None
    ) -> Tensor:
        """queries (B, N, C), memory (B, M, C) -> (B, N, C)."""
        q = self._heads(self.query(queries))
        k, v = (self._heads(part) for part in self.key_value(memory).chunk(2, dim=-1))
        attended = attention(q, k, v) if bias is None else unfused_attention(q, k, v, bias(q, distances))
        return self.out(attended.transpose(1, 2).flatten(-2))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class GeometricBlock(nn.Module):
    """Self-attention with distances, attention to the other cloud, feed-forward; residuals on normalised inputs."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        channels = config.embedding
        self.bias = DistanceBias(channels, config.num_heads)
        self.self_attention = Attention(channels, config.num_heads)
        self.cross_attention = Attention(channels, config.num_heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(channels, config.feed_forward), nn.ReLU(), nn.Linear(config.feed_forward, channels)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(channels) for _ in range(3))

    def attend_self(self, x: Tensor, distances: Tensor) -> Tensor:
        """(B, N, C) -> (B, N, C)."""
        normed = self.norms[0](x)
        return x + self.self_attention(normed, normed, self.bias, distances)

    def attend_other(self, x: Tensor, other: Tensor) -> Tensor:
        """(B, N, C), (B, M, C) -> (B, N, C)."""
        x = x + self.cross_attention(self.norms[1](x), self.norms[1](other))
        return x + self.feed_forward(self.norms[2](x))


class GeometricTransformer(nn.Module):
    """`transformer_blocks` blocks, the same for both clouds; its output is a residual that is zero before training."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(GeometricBlock(config) for _ in range(config.transformer_blocks))
        self.norm = nn.LayerNorm(config.embedding)
        nn.init.zeros_(self.norm.weight)

    def forward(self, source: Tensor, target: Tensor, source_points: Tensor, target_points: Tensor):
        """F_X (B, N, C), F_Y (B, M, C) and their points -> the residuals (B, N, C), (B, M, C)."""
        x, y = source, target
        source_distances, target_distances = distance_features(source_points), distance_features(target_points)
        for block in self.blocks:
            x, y = block.attend_self(x, source_distances), block.attend_self(y, target_distances)
            x, y = block.attend_other(x, y), block.attend_other(y, x)
        return self.norm(x), self.norm(y)
