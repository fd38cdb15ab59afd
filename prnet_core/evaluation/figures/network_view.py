"""Keypoints, matches and transform of the network for one pair."""

from dataclasses import dataclass

import numpy as np
import torch

from prnet_core.evaluation.learned_methods import unit_clouds, with_settings
from prnet_core.model import PRNet


@dataclass(frozen=True)
class NetworkView:
    """source_keypoints (K,), target_keypoints (L,): point indices. matches (K,): for each source keypoint, the index of
    its match in target_keypoints. confidence (K,): probability of the match. T_target_source (4, 4)."""

    source_keypoints: np.ndarray
    target_keypoints: np.ndarray
    matches: np.ndarray
    confidence: np.ndarray
    T_target_source: np.ndarray


@torch.no_grad()
def run_network(
    network: PRNet, source: np.ndarray, target: np.ndarray, num_keypoints: int | None = None
) -> NetworkView:
    """Run the network on source (N, 3) and target (M, 3). The keypoints are those of the last pass.

    num_keypoints: if given, only that many of the strongest keypoints are returned. The transform uses all of them.
    """
    network.eval()
    clouds, normalisation = unit_clouds(source, target, next(network.parameters()).device)
    T_target_source = network(*clouds).T_target_source[0].double().cpu().numpy()
    shown = network if num_keypoints is None else with_settings(network, num_keypoints=num_keypoints)
    last = shown(*clouds).passes[-1]
    confidence, matches = last.log_matching[0].exp().max(dim=1)
    return NetworkView(
        last.source_keypoints[0].cpu().numpy(), last.target_keypoints[0].cpu().numpy(), matches.cpu().numpy(),
        confidence.cpu().numpy(), normalisation.to_metric(T_target_source),
    )  # fmt: skip
