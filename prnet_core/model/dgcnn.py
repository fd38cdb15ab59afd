"""DGCNN: local features of every point (paper, section 4.1)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from .config import PRNetConfig
from .edge_conv import NEGATIVE_SLOPE, EdgeConv
from .processes import BatchNorm


class DGCNN(nn.Module):
    """EdgeConv layers, their outputs concatenated, and a last linear layer on each point; no global pooling."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        channels = (3, *config.edge_conv_channels)
        self.layers = nn.ModuleList(
            EdgeConv(c_in, c_out, config.num_neighbours)
            for c_in, c_out in zip(channels[:-1], channels[1:], strict=True)
        )
        self.last = nn.Linear(sum(config.edge_conv_channels), config.embedding, bias=False)
        self.norm = BatchNorm(config.embedding)

    def forward(self, points: Tensor) -> Tensor:
        """(B, N, 3) -> F (B, N, embedding)."""
        features, outputs = points, []
        for layer in self.layers:
            features = layer(features)
            outputs.append(features)
        combined = self.last(torch.cat(outputs, dim=-1))
        return leaky_relu(self.norm(combined.flatten(0, 1)), NEGATIVE_SLOPE).view(combined.shape)
