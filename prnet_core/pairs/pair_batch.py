"""Self-supervised pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class PairBatch:
    """B pairs: source (B, N, 3), target (B, M, 3) float32; T_target_source (B, 4, 4) float32; matches (B, N) long,
    the index of each source point's true match in the target, or -1."""

    source: Tensor
    target: Tensor
    T_target_source: Tensor
    matches: Tensor

    def to(self, *args, **kwargs) -> "PairBatch":
        """All tensors moved, as `Tensor.to`."""
        return PairBatch(*(value.to(*args, **kwargs) for value in vars(self).values()))


def stack_pairs(pairs: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]) -> PairBatch:
    """One batch, on the CPU, of pairs (source, target, T_target_source, matches) of equal sizes."""
    source, target, T_target_source, matches = (
        torch.from_numpy(np.stack(column)) for column in zip(*pairs, strict=True)
    )
    return PairBatch(source.float(), target.float(), T_target_source.float(), matches.long())
