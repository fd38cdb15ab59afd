"""Refinement of the hypotheses of one pair in three stages: coarse, fine and final GICP."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import measure_alignment, share_close, share_meeting
from prnet_core.registration.candidate import Aligned, Candidate
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.refine import align
from prnet_core.registration.result import ACCEPTED
from prnet_core.registration.verify import is_certain, verify

Named = list[tuple[str, np.ndarray]]


class Refinement:
    """The stages of the refinement: a coarse one of all hypotheses, a fine one of the promising ones, and a final one,
    after which a transform is verified. deadline: of `time.perf_counter()`, after which GICP ends early."""

    source: PreparedCloud
    target: PreparedCloud
    config: RegistrationConfig
    deadline: float

    def is_out_of_time(self) -> bool:
        """True when no further hypothesis may begin."""
        return time.perf_counter() >= self.deadline

    def _differs(self, first: np.ndarray, second: np.ndarray) -> bool:
        return se3.transform_distance(first, second, self._extent) > self.config.distinct_distance_voxels

    @cached_property
    def _extent(self) -> float:
        """Root mean square distance of the source's points from its centre, voxels."""
        return float(np.sqrt(np.mean(np.sum(self.source.points**2, axis=1))))

    def _finish_one(self, name: str, transform: np.ndarray) -> Candidate:
        """One hypothesis through all stages: there is nothing to choose between."""
        config = self.config
        if config.coarse_iterations:
            transform = self._coarse([(name, transform)])[0].transform
        limits = config.fine_distance_voxels, config.fine_iterations
        transform = self._align(transform, *limits, config.min_meeting_fine)
        return self._finish(Aligned(name, transform, 0))

    def _finish_best(self, coarse: list[Aligned]) -> list[Candidate]:
        """Final GICP of all until one is accepted, then only of those near the target with almost as many points: an
        incorrect transform may overlap more than the correct one."""
        candidates: list[Candidate] = []
        fine = self._fine(coarse)
        for item in fine:
            is_accepted = any(candidate.status == ACCEPTED for candidate in candidates)
            if is_accepted and item.close < self.config.finished_share * fine[0].close:
                break
            candidates.append(self._finish(item))
            if is_certain(candidates[-1].quality, self.config) or self.is_out_of_time():
                break
        return sorted(candidates, key=lambda candidate: -candidate.score)

    def _coarse(
        self, hypotheses: Named, distance: float | None = None, max_iterations: int | None = None
    ) -> list[Aligned]:
        config = self.config
        levels = self.source.coarse_level, self.target.coarse_level
        limits = distance or config.coarse_distance_voxels, max_iterations or config.coarse_iterations
        aligned = [(name, align(*levels, item, *limits, config, self.deadline)) for name, item in hypotheses]
        return self._promising(aligned, config.overlap_distance_voxels)

    def _fine(self, coarse: list[Aligned]) -> list[Aligned]:
        config = self.config
        levels = self.source.fine_level, self.target.level
        limits = config.fine_distance_voxels, config.fine_iterations
        aligned = [(item.name, align(*levels, item.transform, *limits, config, self.deadline)) for item in coarse]
        return self._promising(aligned, config.inlier_distance_voxels)

    def _finish(self, item: Aligned) -> Candidate:
        config = self.config
        limits = config.final_distance_voxels, config.final_iterations
        transform = self._align(item.transform, *limits, config.min_meeting_final)
        quality = measure_alignment(self.source, self.target, transform, config)
        return Candidate(item.name, transform, quality, verify(quality, config)[0])

    def _promising(self, transforms: Named, distance: float) -> list[Aligned]:
        """Distinct transforms, those with the most source points within `distance` of the target first."""
        extent = float(np.abs(self.source.points).max())
        aligned = [Aligned(name, transform, self._share_close(transform, distance)) for name, transform in transforms]
        chosen: list[Aligned] = []
        for item in sorted(aligned, key=lambda item: -item.close):
            if all(se3.transform_distance(item.transform, other.transform, extent) > distance for other in chosen):
                chosen.append(item)
        return chosen

    def _share_close(self, transform: np.ndarray, distance: float) -> float:
        return share_close(self.source, self.target, transform, distance, self.config)

    def _align(
        self, transform: np.ndarray, distance: float, max_iterations: int, min_meeting: float = 0.0
    ) -> np.ndarray:
        """GICP, unless no more than `min_meeting` of the source meets the target within `distance`."""
        if min_meeting and share_meeting(self.source, self.target, transform, distance, self.config) <= min_meeting:
            return transform
        levels = self.source.level, self.target.level
        return align(*levels, transform, distance, max_iterations, self.config, self.deadline)
