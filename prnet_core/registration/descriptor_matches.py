"""Matches of prepared clouds by the descriptors of a network with rotation-invariant inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.pairs.surface_patches import DenseCloud, SurfacePair, surface_samples
from prnet_core.registration.preprocess import PreparedCloud

if TYPE_CHECKING:
    from torch import Tensor

    from prnet_core.model import PRNet
    from prnet_core.model.matched_surfaces import MatchedSurfaces
    from prnet_core.model.surface_cloud import SurfaceCloud

SAMPLE_POINTS = 384
"""Points of a sample: the density that the network is trained with."""


@dataclass(frozen=True)
class DescriptorMatches:
    """Matches of a pair of prepared clouds by the descriptors of a network with rotation-invariant inputs.

    transforms: the best (4, 4) in the pair's voxel units, the best first, aligned by their surfaces.
    """

    pair: SurfacePair
    surfaces: MatchedSurfaces
    transforms: list[np.ndarray]
    _known: dict[bytes, float] = field(default_factory=dict)

    def agreement(self, transform: np.ndarray) -> float:
        """How far descriptors and surfaces agree under a transform (4, 4) in the pair's voxel units: see
        `mean_agreement`."""
        return self.agreements([transform])[0]

    def agreements(self, transforms: Sequence[np.ndarray]) -> list[float]:
        """The `agreement` of each transform (4, 4), computed once for each."""
        import torch

        new = [T for T in transforms if T.tobytes() not in self._known]
        if new:
            batch = torch.from_numpy(np.stack([self.pair.to_network(T) for T in new])).to(self.surfaces.matched)
            values = self.surfaces.agreement(batch[None]).squeeze(0).tolist()
            self._known.update(zip((T.tobytes() for T in new), values, strict=True))
        return [self._known[T.tobytes()] for T in transforms]

    def shares(self, transforms: Sequence[np.ndarray]) -> list[float]:
        """The `agreement` of each transform (4, 4), of the most under `self.transforms`; inf where none agrees."""
        most = max(self.agreements(self.transforms), default=0.0)
        return [agreement / most if most > 0.0 else float("inf") for agreement in self.agreements(transforms)]


def match_descriptors(
    network: PRNet, source: PreparedCloud, target: PreparedCloud, num_points: int, count: int, seed: int = 0
) -> DescriptorMatches:
    """Match `num_points` points of each cloud; `count` transforms.

    Points beyond SAMPLE_POINTS are further samples: descriptors of denser points see less around them, and the far
    parts of a scan have no more points to give.
    """
    samples = max(1, round(num_points / SAMPLE_POINTS))
    pairs, (x, y) = network_clouds(network, source, target, num_points // samples, samples, seed)
    surfaces = network.matched_surfaces(x, y, samples)
    return DescriptorMatches(pairs[0], surfaces, in_voxels(surfaces.hypotheses(count)[0], pairs[0]))


def network_clouds(
    network: PRNet, source: PreparedCloud, target: PreparedCloud, size: int, samples: int, seed: int
) -> tuple[list[SurfacePair], list[SurfaceCloud]]:
    """The pairs of samples, and the network's inputs of both clouds on its device."""
    from prnet_core.model.surface_inputs import pair_batch

    know_origins = source.origins is not None and target.origins is not None
    x, y = (dense_cloud(cloud, know_origins) for cloud in (source, target))
    pairs = surface_samples(x, y, size, samples, np.random.default_rng(seed))
    device = next(network.parameters()).device
    return pairs, [cloud.to(device) for cloud in pair_batch(pairs)]


def in_voxels(transforms: Tensor, pair: SurfacePair) -> list[np.ndarray]:
    """Transforms (K, 4, 4) of the network's inputs, those that are finite, between the prepared clouds."""
    outputs = transforms.double().cpu().numpy()
    return [pair.to_metric(se3.orthonormal(output)) for output in outputs if np.isfinite(output).all()]


def dense_cloud(cloud: PreparedCloud, use_origins: bool) -> DenseCloud:
    """The points and normals that the network's inputs are made of (`PreparedCloud.seen_from`)."""
    return DenseCloud(cloud.points, cloud.normals, 1.0, cloud.seen_from(use_origins))
