"""Hypotheses from a network with rotation-invariant inputs: points, normals and patches of the prepared clouds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.pairs.surface_patches import DenseCloud, surface_pair
from prnet_core.registration.preprocess import PreparedCloud

if TYPE_CHECKING:
    from prnet_core.model import PRNet


def surface_transforms(
    network: PRNet,
    source: PreparedCloud,
    target: PreparedCloud,
    num_points: int,
    seeds: range,
    count: int = 1,
) -> list[np.ndarray]:
    """The network's `count` best transforms (4, 4) in the pair's voxel units for each random choice of points (seed).

    All seeds run in one batch, the best of each come first. Rotating the source would change nothing. Outputs that are
    not finite are left out.
    """
    from prnet_core.model.surface_inputs import pair_batch

    know_origins = source.origins is not None and target.origins is not None
    dense_source, dense_target = (dense_cloud(cloud, know_origins) for cloud in (source, target))
    rngs = map(np.random.default_rng, seeds)
    pairs = [surface_pair(dense_source, dense_target, num_points, rng) for rng in rngs]
    device = next(network.parameters()).device
    x, y = (cloud.to(device) for cloud in pair_batch(pairs))
    outputs = network.hypotheses(x, y, count).double().cpu().numpy()
    transforms = []
    for rank in range(count):
        for output, pair in zip(outputs[:, rank], pairs, strict=True):
            if np.isfinite(output).all():
                transforms.append(pair.to_metric(se3.orthonormal(output)))
    return transforms


def dense_cloud(cloud: PreparedCloud, use_origins: bool) -> DenseCloud:
    """The points and normals that the network's inputs are made of (`PreparedCloud.seen_from`)."""
    return DenseCloud(cloud.points, cloud.normals, 1.0, cloud.seen_from(use_origins))
