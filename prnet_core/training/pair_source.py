"""The batch of every step, a function of the seed and the step alone: a resumed run sees what it would have seen."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..data.object_pairs import join, object_pair_batch
from ..data.normalise import normalise_pair
from ..data.pairs import PairBatch
from ..data.shapes import ShapeSet, load_shapes
from .config import TrainingConfig


class PairSource:
    """Training batches of whole shapes and, if configured, of scan-like views; the two mixed in each batch."""

    def __init__(self, config: TrainingConfig, device: torch.device, rank: int = 0, world_size: int = 1) -> None:
        self.config = config
        self.device = device
        self.rank, self.world_size = rank, world_size
        training, self.validation_shapes = split_by_group(load_shapes(config.shapes, config.split), config.held_out)
        self.shapes = training.tensor().to(device)
        self.scans = _scan_source(config, training)

    def batch(self, step: int) -> PairBatch:
        """This process's part of the batch of a step, on the device."""
        config = self.config
        size = config.batch_size // self.world_size
        num_scans = round(size * config.scan_share) if self.scans else 0
        generator = self._generator(step, self.device)
        parts = [object_pair_batch(self.shapes, size - num_scans, config.pairs, generator)]
        if num_scans:
            from ..data.scan_pairs import scan_pair_batch

            num_points = parts[0].source.shape[1]
            scans = scan_pair_batch(self.scans, num_scans, num_points, self._generator(step, torch.device("cpu")))
            parts.append(PairBatch(*(value.to(self.device) for value in vars(scans).values())))
        return join(parts)

    def _generator(self, step: int, device: torch.device) -> torch.Generator:
        seed = np.random.SeedSequence([self.config.seed, step, self.rank]).generate_state(1, np.uint64)[0]
        return torch.Generator(device).manual_seed(int(seed) >> 1)


def split_by_group(shapes: ShapeSet, held_out: int) -> tuple[ShapeSet, ShapeSet]:
    """Training shapes, and those of `held_out` groups spread over the whole set, for validation."""
    groups = np.unique(shapes.groups)
    held = groups[np.linspace(0, len(groups) - 1, min(held_out, len(groups) // 2)).astype(int)]
    mask = np.isin(shapes.groups, held)
    return shapes.select(~mask), shapes.select(mask)


def _scan_source(config: TrainingConfig, shapes: ShapeSet):
    if not config.scan_views or not config.scan_share:
        return None
    from ..data.object_views import ObjectViews
    from ..data.scan_pairs import ScanPairSource
    from ..data.scan_views import ScanViews

    return ScanPairSource(ScanViews.load(Path(config.scan_views)), ObjectViews(shapes.points))


def normalise_protocol_pair(source, target, T_target_source):
    """A pair in the unit sphere as the network takes it: (N, 3) and (M, 3) float32, and the T between these."""
    source, target, normalisation = normalise_pair(source, target)
    return source, target, normalisation.to_unit(T_target_source)


def angles_deg(T_a: Tensor, T_b: Tensor) -> Tensor:
    """Geodesic angle in degrees between the rotations of two batches (B, 4, 4)."""
    from ..geometry import geodesic_angle

    return torch.rad2deg(geodesic_angle(T_a[:, :3, :3].float(), T_b[:, :3, :3].float()))
