"""Validation on pairs that are in neither the training nor the test data. It decides which weights are kept."""

import numpy as np
import torch
from torch import nn

from prnet_core.geometry.transforms import geodesic_angle
from prnet_core.pairs.normalise import normalise_pair
from prnet_core.pairs.pair_batch import PairBatch, stack_pairs
from prnet_core.pairs.protocol import Protocol, protocol_pair
from prnet_core.pairs.scan_pairs import scan_pair_batch
from prnet_core.shapes.shape_sets import ShapeSet

from .config import TrainingConfig
from .pair_source import PairSource

CAP_DEG = 30.0
CHUNK = 8
FIRST_INDEX = 10_000
SCAN_POINTS = 512
SCAN_SEED = 2**40


def validation_sets(source: PairSource, config: TrainingConfig) -> dict[str, PairBatch]:
    """Validation pairs by name: object pairs by the paper's protocol and, if configured, scan-like pairs."""
    sets = {"objects": protocol_batch(source.validation_shapes, config.validation_pairs)}
    if source.validation_scans:
        generator = torch.Generator().manual_seed(SCAN_SEED)
        sets["scans"] = scan_pair_batch(source.validation_scans, config.validation_pairs, SCAN_POINTS, generator)
    return sets


def protocol_batch(shapes: ShapeSet, num_pairs: int) -> PairBatch:
    """Pairs by the paper's protocol, normalised for the network. Their matches are not set (-1)."""
    num_points = min(1024, shapes.points.shape[1])
    protocol = Protocol("validation", num_points=num_points, num_kept=round(0.75 * num_points))
    pairs = []
    for index in range(num_pairs):
        points = shapes.points[index % len(shapes)]
        source, target, T_target_source = protocol_pair(points, FIRST_INDEX + index, protocol)
        source, target, normalisation = normalise_pair(source, target)
        pairs.append((source, target, normalisation.to_unit(T_target_source), np.full(len(source), -1)))
    return stack_pairs(pairs)


def rotation_errors_deg(network: nn.Module, pairs: PairBatch, device: torch.device) -> torch.Tensor:
    """Geodesic rotation errors (B,) in degrees of the network without refinement."""
    errors = []
    for start in range(0, len(pairs.source), CHUNK):
        rows = slice(start, start + CHUNK)
        T = network.register(pairs.source[rows].to(device), pairs.target[rows].to(device)).cpu()
        errors.append(torch.rad2deg(geodesic_angle(T[:, :3, :3], pairs.T_target_source[rows, :3, :3])))
    return torch.cat(errors)


def score(errors_deg: torch.Tensor) -> dict[str, float]:
    """Mean error with each pair capped at 30 degrees (the validation score), median, fractions below limits."""
    return {
        "capped_mean_deg": float(errors_deg.clamp(max=CAP_DEG).mean()),
        "median_deg": float(errors_deg.median()),
        "within_1_deg": float((errors_deg < 1.0).float().mean()),
        "within_15_deg": float((errors_deg < 15.0).float().mean()),
    }
