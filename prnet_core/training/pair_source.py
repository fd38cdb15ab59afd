"""Training batches. The batch of a step depends on the seed and the step only, so neither a resume nor the number of
processes changes the training data."""

import itertools
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from prnet_core.model.processes import num_processes, process_rank
from prnet_core.pairs.object_pairs import join, object_pair_batch
from prnet_core.pairs.pair_batch import PairBatch, stack_pairs
from prnet_core.pairs.scan_pairs import ScanPairSource, draw_scan_pair
from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.modelnet import split_categories
from prnet_core.shapes.shape_sets import ShapeSet

from .config import TrainingConfig

HELD_OUT_SCENES = 0.1
"""Share of the scenes that is for validation alone, spread over the whole set."""


class PairSource:
    """Training batches of object pairs and, if configured, of scan-like pairs, both in each batch.

    With n processes, each gets the rows rank, rank + n, ... of the batch. Raises ValueError when n does not divide the
    batch size.
    """

    def __init__(self, config: TrainingConfig, device: torch.device) -> None:
        if config.batch_size % num_processes():
            raise ValueError(f"batch_size {config.batch_size} is not a multiple of {num_processes()} processes")
        self.config, self.device = config, device
        shapes = load_shapes(config.shapes, config.split)
        if config.num_classes is not None:
            shapes, _ = split_categories(shapes, config.num_classes)
        training, held_out = split_by_group(shapes, config.held_out)
        self.validation_shapes = held_out
        self.shapes = training.tensor().to(device)
        self.scans, self.validation_scans = _scan_sources(config, training, held_out)
        self.num_scans = round(config.batch_size * config.scan_share) if self.scans else 0
        self._scan_batches = _ScanBatches(self.scans, config, self.num_scans)
        self._stream: Iterator[list[Tensor]] | None = None
        self._stream_step = -1

    def batch(self, step: int) -> PairBatch:
        """The rows of a step's batch that belong to this process, on the device."""
        num_objects = self.config.batch_size - self.num_scans
        first = process_rank()
        parts = []
        if num_objects:
            generator = torch.Generator(self.device).manual_seed(seed_of(self.config.seed, step))
            whole = object_pair_batch(self.shapes, num_objects, self.config.pairs, generator)
            parts.append(PairBatch(*(value[first :: num_processes()] for value in vars(whole).values())))
        if self.num_scans:
            parts.append(PairBatch(*self._scan_batch(step)).to(self.device, non_blocking=True))
        return join(parts)

    def _scan_batch(self, step: int) -> list[Tensor]:
        if not self.config.workers:
            return self._scan_batches[step]
        if self._stream is None or self._stream_step != step:
            loader = DataLoader(
                self._scan_batches,
                batch_size=None,
                sampler=itertools.count(step),
                num_workers=self.config.workers,
                prefetch_factor=4,
                pin_memory=self.device.type == "cuda",
            )
            self._stream, self._stream_step = iter(loader), step
        self._stream_step += 1
        return next(self._stream)


class _ScanBatches(Dataset):
    """The scan-like pairs of a step that belong to this process. Each pair has its own seed."""

    def __init__(self, scans: ScanPairSource | None, config: TrainingConfig, num_scans: int) -> None:
        self.scans, self.seed = scans, config.seed
        self.num_points = round(config.pairs.keep_share * config.pairs.num_points)
        num_objects = config.batch_size - num_scans
        rows = range(process_rank(), config.batch_size, num_processes())
        self.rows = [row for row in rows if row >= num_objects]

    def __getitem__(self, step: int) -> list[Tensor]:
        pairs = [
            draw_scan_pair(self.scans, self.num_points, np.random.default_rng([self.seed, step, row]))
            for row in self.rows
        ]
        return list(vars(stack_pairs(pairs)).values())


def seed_of(*words: int) -> int:
    """One torch seed from several numbers."""
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0]) >> 1


def split_by_group(shapes: ShapeSet, held_out: int) -> tuple[ShapeSet, ShapeSet]:
    """Training shapes, and validation shapes: those of `held_out` groups spread over the whole set."""
    groups = np.unique(shapes.groups)
    chosen = groups[np.linspace(0, len(groups) - 1, min(held_out, len(groups) // 2)).astype(int)]
    mask = np.isin(shapes.groups, chosen)
    return shapes.select(~mask), shapes.select(mask)


def _scan_sources(
    config: TrainingConfig, training: ShapeSet, held_out: ShapeSet
) -> tuple[ScanPairSource | None, ScanPairSource | None]:
    """Sources for training and for validation, made from different objects and different scenes."""
    if not config.scan_views or not config.scan_share:
        return None, None
    from prnet_core.simulation.object_views import ObjectViews
    from prnet_core.simulation.scan_views import load_views

    views = load_views(config.scan_views)
    if len(views) < 2:
        raise ValueError(f"{config.scan_views} holds {len(views)} scenes; two or more are needed, one for validation")
    number = max(1, round(HELD_OUT_SCENES * len(views)))
    held_out_scenes = ((np.arange(number) + 0.5) * len(views) / number).astype(int)
    others = np.setdiff1d(np.arange(len(views)), held_out_scenes)
    return (
        ScanPairSource([views[i] for i in others], ObjectViews(training.points)),
        ScanPairSource([views[i] for i in held_out_scenes], ObjectViews(held_out.points)),
    )
