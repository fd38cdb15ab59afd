"""Self-supervised pairs."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class PairBatch:
    """B pairs: source (B, N, 3), target (B, M, 3) float32; T_target_source (B, 4, 4) float32; matches (B, N) long,
    the index of each source point's true match in the target, or -1."""

    source: Tensor
    target: Tensor
    T_target_source: Tensor
    matches: Tensor
