"""The action head: one match for each keypoint (paper, section 4.2)."""

import torch
from torch import Tensor, nn

from .config import Matching
from .precision import at_least_float32
from .processes import rand_rows

SINKHORN_ITERATIONS = 10


def log_matching(scores: Tensor, temperature: Tensor, matching: Matching = "rowwise") -> Tensor:
    """Logarithm of the matching matrix (B, K_X, K_Y), whose rows sum to one.

    "rowwise" is the paper's softmax(scores / lambda) over Y; "sinkhorn" alternates rows and columns towards
    a bijection (the paper's future work) and ends on rows.
    """
    logits = scores / temperature.view(-1, 1, 1)
    if matching == "sinkhorn":
        for _ in range(SINKHORN_ITERATIONS):
            logits = logits.log_softmax(dim=-1)
            logits = logits.log_softmax(dim=-2)
    return logits.log_softmax(dim=-1)


def gumbel_softmax(log_probabilities: Tensor, scores: Tensor, temperature: Tensor, generator=None) -> Tensor:
    """Sample one column per row, straight-through: one hot forward, the softmax's gradient backward.

    m(x_i, Y) = one_hot(argmax_j softmax((Phi_xi . Phi_yj + g_ij) / lambda)), g_ij Gumbel(0, 1).
    """
    uniform = rand_rows(tuple(scores.shape), device=scores.device, dtype=scores.dtype, generator=generator)
    tiny = torch.finfo(scores.dtype).tiny
    exponential = (-uniform.clamp_min(tiny).log()).clamp_min(tiny)
    gumbel = -exponential.log()
    soft = (log_probabilities + gumbel / temperature.view(-1, 1, 1)).softmax(dim=-1)
    hard = torch.zeros_like(soft).scatter_(-1, soft.argmax(dim=-1, keepdim=True), 1.0)
    return hard - soft.detach() + soft


class ActionHead(nn.Module):
    """Scores Phi_X Phi_Y^T / sqrt(C), and the matching of the keypoints of X to those of Y."""

    def __init__(self, matching: Matching) -> None:
        super().__init__()
        self.matching = matching

    def scores(self, source_features: Tensor, target_features: Tensor) -> Tensor:
        """(B, K_X, C), (B, K_Y, C) -> (B, K_X, K_Y) in float32, also under autocast."""
        with torch.autocast(source_features.device.type, enabled=False):
            channels = source_features.shape[-1]
            source_features, target_features = at_least_float32(source_features), at_least_float32(target_features)
            return source_features @ target_features.transpose(1, 2) * channels**-0.5

    def forward(
        self, scores: Tensor, temperature: Tensor, sample: bool, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Matching matrix (B, K_X, K_Y), one hot by row, and its logarithm before the choice.

        sample=False takes the most probable match, without noise.
        """
        log_probabilities = log_matching(scores, temperature, self.matching)
        if sample:
            return gumbel_softmax(log_probabilities, scores, temperature, generator), log_probabilities
        best = log_probabilities.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(scores).scatter_(-1, best, 1.0), log_probabilities
