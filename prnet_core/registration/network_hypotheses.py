"""Hypotheses from the network, on points in the unit sphere or on normals and patches of the prepared clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.pairs.normalise import downsample_pair, normalise_pair
from prnet_core.pairs.surface_patches import DenseCloud, surface_samples
from prnet_core.registration.preprocess import PreparedCloud

if TYPE_CHECKING:
    from prnet_core.model import PRNet

SAMPLE_POINTS = 384
"""Points of a sample for a network with rotation-invariant inputs: the density that it is trained with."""


def network_transforms(
    network: PRNet,
    source: PreparedCloud,
    target: PreparedCloud,
    num_points: int,
    num_passes: int,
    seeds: range,
    rotations: tuple[np.ndarray, ...] = (np.eye(3),),
) -> list[np.ndarray]:
    """The network's transforms (4, 4) in the pair's voxel units, one for each sample (seed) and rotation.

    rotations: (3, 3) of the source about its centre before the network sees it, undone in the output. All run in one
    batch. Outputs that are not finite are left out. A network with rotation-invariant inputs, for which a rotation
    changes nothing, gives its best distinct transforms instead, as many as there are rotations.
    """
    if network.config.features == "surface":
        return _surface_transforms(network, source, target, num_points, seeds, len(rotations))
    import torch

    sources, targets, undo = [], [], []
    for seed in seeds:
        downsampled_source, downsampled_target, _ = downsample_pair(
            source.points, target.points, num_points, np.random.default_rng(seed)
        )
        unit_source, unit_target, scaling = normalise_pair(downsampled_source, downsampled_target)
        for rotation in rotations:
            sources.append(unit_source @ rotation.T.astype(np.float32))
            targets.append(unit_target)
            undo.append((scaling, se3.make_transform(rotation, np.zeros(3))))
    device = next(network.parameters()).device
    outputs = network.register(
        torch.as_tensor(np.stack(sources), device=device),
        torch.as_tensor(np.stack(targets), device=device),
        num_passes,
    )
    return [
        scaling.to_metric(se3.orthonormal(output) @ rotation)
        for output, (scaling, rotation) in zip(outputs.double().cpu().numpy(), undo, strict=True)
        if np.isfinite(output).all()
    ]


def _surface_transforms(
    network: PRNet, source: PreparedCloud, target: PreparedCloud, num_points: int, seeds: range, count: int
) -> list[np.ndarray]:
    """The `count` best transforms for each random choice of points (seed), the best of each choice first.

    Points beyond SAMPLE_POINTS are further samples: descriptors of denser points see less around them, and the far
    parts of a scan have no more points to give.
    """
    from prnet_core.model.surface_inputs import pair_batch

    know_origins = source.origins is not None and target.origins is not None
    dense_source, dense_target = (dense_cloud(cloud, know_origins) for cloud in (source, target))
    samples = max(1, round(num_points / SAMPLE_POINTS)) if network.config.matching == "dual" else 1
    size, rngs = num_points // samples, map(np.random.default_rng, seeds)
    drawn = [surface_samples(dense_source, dense_target, size, samples, rng) for rng in rngs]
    device = next(network.parameters()).device
    x, y = (cloud.to(device) for cloud in pair_batch([pair for pairs in drawn for pair in pairs]))
    outputs = network.hypotheses(x, y, count, samples=samples).double().cpu().numpy()
    return [
        pairs[0].to_metric(se3.orthonormal(output))
        for rank in range(count)
        for output, pairs in zip(outputs[:, rank], drawn, strict=True)
        if np.isfinite(output).all()
    ]


def dense_cloud(cloud: PreparedCloud, use_origins: bool) -> DenseCloud:
    """The points and normals that the network's inputs are made of (`PreparedCloud.seen_from`)."""
    return DenseCloud(cloud.points, cloud.normals, 1.0, cloud.seen_from(use_origins))


def rotations_about_vertical(count: int) -> tuple[np.ndarray, ...]:
    """`count` rotations (3, 3) evenly about z, the first being the identity."""
    return tuple(se3.rotation_exp(np.array([0.0, 0.0, 2.0 * np.pi * i / count])) for i in range(count))
