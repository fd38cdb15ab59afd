"""Matches of two clouds by their descriptors: transforms that they suggest, and how far they agree under any other."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..geometry.robust import surface_hypotheses
from ..geometry.surface_alignment import MIN_SIMILARITY_REFINED, Surfaces, mean_agreement


@dataclass(frozen=True)
class MatchedSurfaces:
    """B pairs of clouds, each sampled S times in one frame.

    matched (B, S, N, 3): where the source's points are matched, with the confidence (B, S, N); surfaces: the points
    (B, S, N, 3), normals and similarity of the descriptors.
    """

    matched: Tensor
    confidence: Tensor
    surfaces: Surfaces

    def hypotheses(self, count: int) -> Tensor:
        """The best `count` distinct transforms (B, count, 4, 4), the best first (`surface_hypotheses`)."""
        return surface_hypotheses(self.matched, self.confidence, self.surfaces, count)

    @torch.no_grad()
    def agreement(self, transforms: Tensor) -> Tensor:
        """(B, K) of refined transforms (B, K, 4, 4) of the source: `mean_agreement`."""
        return mean_agreement(transforms, self.surfaces, MIN_SIMILARITY_REFINED)
