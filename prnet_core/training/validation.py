"""How good a network is on pairs apart from training and test: what decides which weights are kept."""

import numpy as np
import torch

from ..data.pairs import PairBatch
from ..evaluation.protocol import protocol_pair
from ..model import PRNet
from .config import TrainingConfig
from .pair_source import PairSource, angles_deg, normalise_protocol_pair

CAP_DEG = 30.0
CHUNK = 8
SCAN_POINTS = 512


def object_validation(source: PairSource, config: TrainingConfig) -> PairBatch:
    """Pairs of held-out shapes by the paper's protocol at its full size."""
    shapes = source.validation_shapes.points
    pairs = [
        normalise_protocol_pair(*protocol_pair(shapes[index % len(shapes)], 10_000 + index))
        for index in range(config.validation_pairs)
    ]
    return _stack(pairs)


def scan_validation(source: PairSource, config: TrainingConfig) -> PairBatch:
    """Scan-like pairs as in training, of a seed that training never uses."""
    from ..data.scan_pairs import scan_pair_batch

    return scan_pair_batch(source.scans, config.validation_pairs, SCAN_POINTS, torch.Generator().manual_seed(2**40))


def _stack(pairs: list) -> PairBatch:
    source, target, T_target_source = (torch.from_numpy(np.stack(column)) for column in zip(*pairs, strict=True))
    return PairBatch(source, target, T_target_source.float(), torch.empty(0))


def rotation_errors_deg(network: PRNet, pairs: PairBatch, device: torch.device, bfloat16: bool = False) -> torch.Tensor:
    """Geodesic rotation error of every pair, network alone."""
    errors = []
    for start in range(0, len(pairs.source), CHUNK):
        rows = slice(start, start + CHUNK)
        with torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            T = network.register(pairs.source[rows].to(device), pairs.target[rows].to(device)).cpu()
        errors.append(angles_deg(T, pairs.T_target_source[rows]))
    return torch.cat(errors)


def score(errors_deg: torch.Tensor) -> dict[str, float]:
    """Mean error with each pair capped at 30 degrees (what is minimised), median, and shares."""
    return {
        "capped_mean_deg": float(errors_deg.clamp(max=CAP_DEG).mean()),
        "median_deg": float(errors_deg.median()),
        "within_1_deg": float((errors_deg < 1.0).float().mean()),
        "within_15_deg": float((errors_deg < 15.0).float().mean()),
    }
