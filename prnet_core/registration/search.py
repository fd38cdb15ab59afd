"""Tries hypotheses in order of price until one is verified, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import AlignmentQuality, count_close, measure_alignment
from prnet_core.registration.alternatives import alternative_transforms
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.feature_hypotheses import feature_transforms
from prnet_core.registration.network_hypotheses import network_transforms, rotations_about_vertical
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.refine import align
from prnet_core.registration.verify import is_verified, may_stand_out, score

if TYPE_CHECKING:
    from prnet_core.model import PRNet

Hypotheses = Literal["guess", "all"]
Named = list[tuple[str, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A refined hypothesis: its name, transform (4, 4) in voxel units, and alignment quality."""

    hypothesis: str
    transform: np.ndarray
    quality: AlignmentQuality

    @property
    def score(self) -> float:
        """What candidates of one pair are ranked by."""
        return score(self.quality)


@dataclass
class Search:
    """One pair in work. `timings` holds the seconds of each part, `candidates` all that was refined.

    deadline: of `time.perf_counter()`, after which no further hypothesis begins.
    """

    source: PreparedCloud
    target: PreparedCloud
    network: PRNet | None
    config: RegistrationConfig
    deadline: float = float("inf")
    timings: dict[str, float] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    outstanding: Candidate | None = None  # that agrees much better than all others
    ran_out_of_time: bool = False

    def best(
        self, guess: np.ndarray | None, identity: np.ndarray, hypotheses: Hypotheses = "all"
    ) -> Candidate:
        """The best candidate; later, more expensive stages run only while none is verified.

        guess, identity: (4, 4) in voxel units; identity is that of the clouds' own frames. `hypotheses` 'guess' tries
        the guess alone (identity without one).
        """
        best = None
        for make in self._stages(guess, identity, hypotheses):
            if best is not None and time.perf_counter() >= self.deadline:
                self.ran_out_of_time = True
                break
            for candidate in self.refine(make()):
                self.candidates.append(candidate)
                if best is None or candidate.score > best.score + self.config.better_score:
                    best = candidate
            if best is not None and (is_verified(best.quality, self.config) or self._stands_out(best)):
                break
        return best

    def _stands_out(self, best: Candidate) -> bool:
        """Whether a candidate, contradicted by moving things perhaps, agrees so much better than all others."""
        if not may_stand_out(best.quality, self.config):
            return False
        if self.outstanding is not best:
            limit = best.quality.agreement / self.config.outstanding_agreement
            others = self._distinct(best, self.candidates) + self.alternatives(best)
            if any(other.quality.agreement > limit for other in others):
                return False
            self.outstanding = best
        return True

    def _stages(self, guess, identity, hypotheses: Hypotheses) -> Iterator[Callable[[], Named]]:
        """Makers of hypotheses, the cheapest first."""
        if guess is not None:
            yield lambda: [("guess", guess)]
        elif hypotheses == "guess":
            yield lambda: [("identity", identity)]
        if hypotheses == "guess":
            return
        shift = self.target.points.mean(axis=0) - self.source.points.mean(axis=0)
        yield lambda: [("identity", identity), ("centroid", se3.make_transform(np.eye(3), shift))]
        yield self._features
        if self.network is not None:
            yield lambda: self._network(range(1), 1)
            yield lambda: self._network(
                range(1, 1 + self.config.network_samples), self.config.network_rotations
            )

    def _features(self) -> Named:
        with self._timed("features"):
            return [("features", item) for item in feature_transforms(self.source, self.target, self.config)]

    def _network(self, seeds: range, num_rotations: int) -> Named:
        with self._timed("network"):
            transforms = network_transforms(
                self.network,
                self.source,
                self.target,
                self.config.network_points,
                self.config.network_passes,
                seeds,
                rotations_about_vertical(num_rotations),
            )
        return [("network", item) for item in transforms]

    def alternatives(self, best: Candidate) -> list[Candidate]:
        """Refined rotations of a candidate that a symmetric place or object would hide, the best of them first."""
        with self._timed("alternatives"):
            transforms = alternative_transforms(self.source, self.target, best.transform)
            named = [("alternative", transform) for transform in transforms]
            refined = self._refine(named, self.config.refined_alternatives, until_verified=False)
        return self._distinct(best, refined)

    def _distinct(self, best: Candidate, others: list[Candidate]) -> list[Candidate]:
        """Those that take the source elsewhere than the best one."""
        extent = float(np.sqrt(np.mean(np.sum(self.source.points**2, axis=1))))
        return [
            other
            for other in others
            if se3.transform_distance(other.transform, best.transform, extent) > self.config.distinct_distance_voxels
        ]

    def refine(self, hypotheses: Named) -> list[Candidate]:
        """Coarse GICP from every hypothesis, fine and final from the most promising, the best of them first.

        Ends at the first that is verified.
        """
        with self._timed("refine"):
            return self._refine(hypotheses, self.config.refined_hypotheses, until_verified=True)

    def _refine(self, hypotheses: Named, count: int, until_verified: bool) -> list[Candidate]:
        config = self.config
        coarse = [(name, self._align_coarse(hypothesis)) for name, hypothesis in hypotheses]
        promising = self._promising(coarse, config.overlap_distance_voxels)[:count]
        fine = [
            (name, self._align_fine(transform, config.fine_distance_voxels, config.fine_iterations))
            for name, transform in promising
        ]
        candidates = []
        for name, transform in self._promising(fine, config.inlier_distance_voxels):
            candidates.append(self._finish(name, transform))
            if until_verified and is_verified(candidates[-1].quality, config):
                break
        return sorted(candidates, key=lambda candidate: -candidate.score)

    def _finish(self, name: str, transform: np.ndarray) -> Candidate:
        transform = self._align_fine(
            transform, self.config.final_distance_voxels, self.config.final_iterations
        )
        return Candidate(name, transform, measure_alignment(self.source, self.target, transform, self.config))

    def _promising(self, transforms: Named, distance: float) -> Named:
        """Distinct transforms, those with the most source points within `distance` of the target first."""
        if len(transforms) < 2:
            return transforms
        extent = float(np.abs(self.source.points).max())
        order = sorted(
            transforms,
            key=lambda entry: -count_close(self.source, self.target, entry[1], distance, self.config),
        )
        chosen: Named = []
        for name, transform in order:
            if all(se3.transform_distance(transform, other, extent) > distance for _, other in chosen):
                chosen.append((name, transform))
        return chosen

    def _align_coarse(self, transform: np.ndarray) -> np.ndarray:
        config = self.config
        levels = self.source.coarse_level, self.target.coarse_level
        return align(*levels, transform, config.coarse_distance_voxels, config.coarse_iterations, config)

    def _align_fine(self, transform: np.ndarray, distance: float, max_iterations: int) -> np.ndarray:
        return align(self.source.level, self.target.level, transform, distance, max_iterations, self.config)

    @contextmanager
    def _timed(self, name: str):
        began = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - began
