"""Selection of the points that are matched (paper, section 4.2)."""

import torch
from torch import Tensor

from .config import KeypointRule
from .precision import at_least_float32


def num_keypoints(num_points: int, wanted: int) -> int:
    """Number of keypoints of a cloud: the wanted number, at most two thirds of the points, at least one."""
    return max(1, min(wanted, (2 * num_points + 2) // 3))


def select_keypoints(features: Tensor, wanted: int, rule: KeypointRule = "norm") -> Tensor:
    """Indices (B, K) of a cloud's keypoints, K = num_keypoints(N, wanted).

    "norm" is the paper's: the largest L2 norms of Phi (B, N, C). "random" and "centrality" (the smallest mean
    distance to all other points in feature space) are the rows of its comparison; "random" draws from torch's
    generator.
    """
    count = num_keypoints(features.shape[1], wanted)
    if rule == "norm":
        score = at_least_float32(features).norm(dim=-1)
    elif rule == "random":
        score = torch.rand(features.shape[:2], device=features.device)
    elif rule == "centrality":
        features = at_least_float32(features)
        score = -torch.cdist(features, features).mean(dim=-1)
    else:
        raise ValueError(f"unknown keypoint rule {rule!r}: norm, random or centrality")
    return score.topk(count, dim=-1).indices


def take(values: Tensor, indices: Tensor) -> Tensor:
    """Rows of values (B, N, C) at indices (B, K): (B, K, C)."""
    return values.gather(1, indices.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
