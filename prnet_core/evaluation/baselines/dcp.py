"""DCP-v2: Deep Closest Point (Wang and Solomon, ICCV 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from prnet_core.geometry.kabsch import procrustes
from prnet_core.model.config import NetworkConfig
from prnet_core.model.dgcnn import DGCNN
from prnet_core.model.evaluation_mode import evaluation_mode
from prnet_core.model.losses import motion_loss
from prnet_core.model.prnet import check_clouds
from prnet_core.model.transformer import Transformer
from prnet_core.pairs.pair_batch import PairBatch


@dataclass(frozen=True)
class DCPConfig(NetworkConfig):
    """Architecture. The names are those of PRNetConfig, the layers are shared. The defaults are the paper's."""

    edge_conv_channels: tuple[int, ...] = (64, 64, 128, 256)
    num_neighbours: int = 20
    embedding: int = 512
    num_heads: int = 4
    feed_forward: int = 1024

    @classmethod
    def small(cls) -> DCPConfig:
        """The width of PRNet's small preset."""
        return cls(embedding=256, feed_forward=512)


class DCP(nn.Module):
    """DGCNN, transformer, a soft match for every point, Procrustes; one pass."""

    def __init__(self, config: DCPConfig) -> None:
        super().__init__()
        self.config = config
        self.dgcnn = DGCNN(config)
        self.transformer = Transformer(config)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (B, N, 3), target (B, M, 3) -> T_target_source (B, 4, 4).

        m(x_i, Y) = softmax(Phi_xi Phi_Y^T / sqrt(C)); each x_i is matched with the mean of Y, weighted by m.
        """
        check_clouds(source, target)
        source_local, target_local = self.dgcnn(source), self.dgcnn(target)
        encoder = self.transformer.encoder
        source_features = source_local + self.transformer(source_local, encoder(target_local))
        target_features = target_local + self.transformer(target_local, encoder(source_local))
        with torch.autocast(source.device.type, enabled=False):
            scores = source_features.float() @ target_features.float().transpose(1, 2)
            matching = (scores * self.config.embedding**-0.5).softmax(dim=-1)
            return procrustes(source, matching @ target)

    @torch.no_grad()
    def register(self, source: Tensor, target: Tensor) -> Tensor:
        """T_target_source (B, 4, 4) in evaluation mode, without gradient."""
        with evaluation_mode(self):
            return self(source, target)


def dcp_objective(network: DCP, pairs: PairBatch, num_passes: int, share_done: float) -> dict[str, Tensor]:
    """L = |R^T R* - I|^2 + |t - t*|^2; the weight decay is in the optimiser. One pass."""
    T_target_source = network(pairs.source, pairs.target)
    return {"total": motion_loss(T_target_source, pairs.T_target_source)}
