"""Pairs for a network with rotation-invariant inputs, from two clouds of one world: as a registration prepares them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.model.surface_cloud import SurfaceCloud
from prnet_core.model.surface_inputs import pair_batch
from prnet_core.pairs.pair_batch import PairBatch
from prnet_core.pairs.surface_patches import SurfacePair, surface_pair
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.network_hypotheses import dense_cloud
from prnet_core.registration.preprocess import choose_voxel_size, prepare_cloud
from prnet_core.registration.registration import to_voxels
from prnet_core.simulation.views import View

from .scan_examples import ScanExamples

UNIT = 8.0
"""Spacings in a unit of the result, so that its lengths are about those of clouds in the unit sphere."""


class SurfaceScanPair(NamedTuple):
    """The inputs, T_target_source (4, 4) between them in spacings, and matches (N,) index into the target or -1."""

    pair: SurfacePair
    T_target_source: np.ndarray
    matches: np.ndarray


class SurfaceExamples(ScanExamples):
    """ScanExamples for a network with rotation-invariant inputs: pairs are `SurfaceScanPair`s, not augmented."""

    @staticmethod
    def stack(pairs: Sequence[SurfaceScanPair], device: torch.device | str = "cpu") -> PairBatch:
        """One batch of pairs of equal numbers of points, in units of UNIT spacings."""
        clouds = [
            SurfaceCloud(cloud.points / UNIT, cloud.normals, cloud.patches, cloud.spacing / UNIT)
            for cloud in pair_batch([pair.pair for pair in pairs])
        ]
        T = torch.from_numpy(np.stack([pair.T_target_source for pair in pairs])).float()
        T[:, :3, 3] /= UNIT
        matches = torch.from_numpy(np.stack([pair.matches for pair in pairs]))
        return PairBatch(clouds[0], clouds[1], T, matches).to(device)

    def _make(self, source: View, target: View, R_source: np.ndarray, R_target: np.ndarray, rng) -> SurfaceScanPair:
        """Rotating the clouds would change nothing."""
        return surface_scan_pair(source.points, target.points, np.eye(4), self.config.num_points, rng)


def surface_scan_pair(
    source: np.ndarray, target: np.ndarray, T_target_source: np.ndarray, num_points: int, rng: np.random.Generator
) -> SurfaceScanPair:
    """The pair of two scans (N, 3) whose transform is known; each keeps its own points, normals and patches."""
    config = RegistrationConfig()
    voxel = max(choose_voxel_size(cloud, config.target_points) for cloud in (source, target))
    a, b = (prepare_cloud(cloud, voxel, config) for cloud in (source, target))
    pair = surface_pair(dense_cloud(a, False), dense_cloud(b, False), num_points, rng)
    T = pair.to_network(to_voxels(T_target_source, a, b))
    distance, matches = cKDTree(pair.target.points).query(se3.apply(T, pair.source.points))
    return SurfaceScanPair(pair, T, np.where(distance <= 1.0, matches, -1))
