"""Hypotheses from the network, on points in the unit sphere or on normals and patches of the prepared clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.pairs.normalise import downsample_pair, normalise_pair
from prnet_core.registration.descriptor_matches import in_voxels, match_descriptors, network_clouds
from prnet_core.registration.preprocess import PreparedCloud

if TYPE_CHECKING:
    from prnet_core.model import PRNet


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
        return [
            transform
            for seed in seeds
            for transform in _surface_transforms(network, source, target, num_points, seed, len(rotations))
        ]

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
    network: PRNet, source: PreparedCloud, target: PreparedCloud, num_points: int, seed: int, count: int
) -> list[np.ndarray]:
    """The `count` best transforms (4, 4) for a random choice of points, the best first."""
    if network.config.matching == "dual":
        return match_descriptors(network, source, target, num_points, count, seed).transforms
    pairs, (x, y) = network_clouds(network, source, target, num_points, 1, seed)
    return in_voxels(network.hypotheses(x, y, count)[0], pairs[0])


def rotations_about_vertical(count: int) -> tuple[np.ndarray, ...]:
    """`count` rotations (3, 3) evenly about z, the first being the identity."""
    return tuple(se3.rotation_exp(np.array([0.0, 0.0, 2.0 * np.pi * i / count])) for i in range(count))
