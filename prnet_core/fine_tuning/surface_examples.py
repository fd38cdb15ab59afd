"""Pairs for a network with rotation-invariant inputs, from two clouds of one world: as a registration prepares them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
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
from prnet_core.registration.descriptor_matches import dense_cloud
from prnet_core.registration.preprocess import choose_voxel_size, prepare_cloud
from prnet_core.registration.registration import Registration, to_voxels
from prnet_core.registration.scan_origin import looks_like_scan
from prnet_core.simulation.views import View

from .config import FineTuneConfig
from .far_transforms import far_transforms
from .progress import ScanTransform
from .scan_examples import ScanExamples

UNIT = 8.0
"""Spacings in a unit of the result, so that its lengths are about those of clouds in the unit sphere."""
MIN_OVERLAP = 0.1
"""Pairs of less overlap teach nothing: hardly any point has a match."""


class SurfaceScanPair(NamedTuple):
    """The inputs, T_target_source (4, 4) between them in spacings, and matches (N,) index into the target or -1."""

    pair: SurfacePair
    T_target_source: np.ndarray
    matches: np.ndarray


class SurfaceExamples(ScanExamples):
    """ScanExamples for a network with rotation-invariant inputs: pairs are `SurfaceScanPair`s, not augmented.

    A scan with transforms to other scans is only paired with those: copies of a scan teach less. Where most clouds look
    like scans in their sensor's frame, normals are oriented by the sensor's position.
    """

    TUNED_SHARE, RATE_FACTOR = 0.7, 2.0

    @staticmethod
    def adapted(config: FineTuneConfig) -> FineTuneConfig:
        """Pairs of little overlap too, and copies of a scan only without transforms."""
        return replace(config, min_overlap=MIN_OVERLAP, known_transform_share=1.0)

    @cached_property
    def know_origins(self) -> bool:
        """Whether most clouds look like scans in their sensor's frame."""
        registration = Registration(None)
        return bool(np.mean([looks_like_scan(points, registration) for points in self.scans]) > 0.5)

    @staticmethod
    def usable_transforms(scans: Sequence[np.ndarray], transforms: Sequence[ScanTransform]) -> Sequence[ScanTransform]:
        """Those to scans far apart too: neighbours overlap so much that the network knows nearly all their matches."""
        return far_transforms(scans, transforms, MIN_OVERLAP)

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
        return surface_scan_pair(source, target, self.know_origins, self.config.num_points, rng)


def surface_scan_pair(
    source: View, target: View, know_origins: bool, num_points: int, rng: np.random.Generator
) -> SurfaceScanPair:
    """The pair of two views of one world; each keeps its own points, normals and patches."""
    config, views = RegistrationConfig(), (source, target)
    voxel = max(choose_voxel_size(view.points, config.target_points) for view in views)
    a, b = (
        prepare_cloud(view.points, voxel, config, view.T_world_sensor[None, :3, 3] if know_origins else None)
        for view in views
    )
    pair = surface_pair(dense_cloud(a, know_origins), dense_cloud(b, know_origins), num_points, rng)
    T = pair.to_network(to_voxels(np.eye(4), a, b))
    distance, matches = cKDTree(pair.target.points).query(se3.apply(T, pair.source.points))
    return SurfaceScanPair(pair, T, np.where(distance <= 1.0, matches, -1))
