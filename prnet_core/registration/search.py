"""Tries starts until the evidence is strong, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.evidence import Evidence, count_close, gather_evidence
from prnet_core.registration.feature_starts import feature_motions
from prnet_core.registration.judge import is_strong
from prnet_core.registration.network_starts import network_motions, turns_about_vertical
from prnet_core.registration.preprocess import Level, PreparedCloud
from prnet_core.registration.refine import align, coarse_level

if TYPE_CHECKING:
    from prnet_core.model import PRNet


@dataclass(frozen=True)
class Candidate:
    """A refined start: its name, motion (4, 4) in voxel units, and evidence."""

    start: str
    motion: np.ndarray
    evidence: Evidence


@dataclass
class Search:
    """One pair in work. `timings` gathers the seconds of each part."""

    source: PreparedCloud
    target: PreparedCloud
    network: PRNet | None
    config: RegistrationConfig
    timings: dict[str, float] = field(default_factory=dict)
    _levels: tuple[Level, Level] | None = None

    def best(self, guess: np.ndarray | None, identity: np.ndarray) -> Candidate:
        """The best candidate by evidence; later, dearer stages run only while the evidence is not strong.

        guess, identity: (4, 4) in voxel units; identity is that of the clouds' own frames.
        """
        best = None
        for starts in self._stages(guess, identity):
            if not starts:
                continue
            candidate = self.refine(starts)
            if best is None or candidate.evidence.score > best.evidence.score + self.config.better_score:
                best = candidate
            if is_strong(best.evidence, self.config):
                break
        return best

    def _stages(self, guess, identity) -> Iterator[list[tuple[str, np.ndarray]]]:
        """Starts in the order in which they pay: the guess; the network; the plain ones; the dear ones."""
        if guess is not None:
            yield [("guess", guess)]
        yield self._ask_network(range(1), 1)
        shift = self.target.points.mean(axis=0) - self.source.points.mean(axis=0)
        yield [("identity", identity), ("centroid", se3.make_transform(np.eye(3), shift))]
        with self._timed("features"):
            motions = feature_motions(self.source, self.target, self.config)
        yield [("features", motion) for motion in motions]
        yield self._ask_network(range(1, 1 + self.config.network_samples), self.config.network_turns)

    def _ask_network(self, seeds: range, num_turns: int) -> list[tuple[str, np.ndarray]]:
        if self.network is None:
            return []
        with self._timed("network"):
            motions = network_motions(
                self.network,
                self.source,
                self.target,
                self.config.network_points,
                self.config.network_passes,
                seeds,
                turns_about_vertical(num_turns),
            )
        return [("network", motion) for motion in motions]

    def refine(self, starts: list[tuple[str, np.ndarray]]) -> Candidate:
        """Coarse GICP from every start, fine from the most promising of them, and to the end from the best."""
        config = self.config
        with self._timed("refine"):
            coarse = [(name, self._align_coarse(start)) for name, start in starts]
            promising = self._promising(coarse, config.overlap_distance_voxels)[: config.refined_starts]
            fine = [
                (name, self._align_fine(motion, config.fine_distance_voxels, config.fine_iterations))
                for name, motion in promising
            ]
            name, motion = self._promising(fine, config.inlier_distance_voxels)[0]
            motion = self._align_fine(motion, config.final_distance_voxels, config.final_iterations)
            return Candidate(name, motion, gather_evidence(self.source, self.target, motion, config))

    def _promising(
        self, motions: list[tuple[str, np.ndarray]], distance: float
    ) -> list[tuple[str, np.ndarray]]:
        """Distinct motions, those with the most source points within `distance` of the target first."""
        extent = float(np.abs(self.source.points).max())
        order = sorted(
            motions,
            key=lambda entry: -count_close(self.source, self.target, entry[1], distance, self.config),
        )
        chosen: list[tuple[str, np.ndarray]] = []
        for name, motion in order:
            if all(se3.transform_distance(motion, other, extent) > distance for _, other in chosen):
                chosen.append((name, motion))
        return chosen

    def _align_coarse(self, motion: np.ndarray) -> np.ndarray:
        config = self.config
        if self._levels is None:
            self._levels = coarse_level(self.source, config), coarse_level(self.target, config)
        return align(*self._levels, motion, config.coarse_distance_voxels, config.coarse_iterations, config)

    def _align_fine(self, motion: np.ndarray, distance: float, max_iterations: int) -> np.ndarray:
        return align(self.source.level, self.target.level, motion, distance, max_iterations, self.config)

    @contextmanager
    def _timed(self, name: str):
        began = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - began
