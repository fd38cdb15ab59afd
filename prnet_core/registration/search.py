"""Tries starts until the evidence is strong, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.evidence import Evidence, count_inliers, gather_evidence
from prnet_core.registration.feature_starts import feature_motions
from prnet_core.registration.judge import is_strong
from prnet_core.registration.network_starts import network_motions, turns_about_vertical
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.refine import Level, align, coarse_level

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

    def best(self, guess: np.ndarray | None, identity: np.ndarray) -> Candidate:
        """The best candidate by evidence; later, dearer stages run only while the evidence is not strong.

        guess, identity: (4, 4) in voxel units; identity is that of the clouds' own frames.
        """
        best = None
        for starts in self._stages(guess, identity):
            for candidate in self._refine(starts):
                if best is None or candidate.evidence.inlier_ratio > best.evidence.inlier_ratio:
                    best = candidate
            if best is not None and is_strong(best.evidence, self.config):
                break
        return best

    def _stages(self, guess, identity) -> Iterator[list[tuple[str, np.ndarray]]]:
        """Starts in the order in which they pay: the guess; the network and the plain ones; the dear ones."""
        if guess is not None:
            yield [("guess", guess)]
        starts = [("identity", identity), ("centroid", np.eye(4))]
        yield self._ask_network(range(1), 1) + starts
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
                seeds,
                turns_about_vertical(num_turns),
            )
        return [("network", motion) for motion in motions]

    def _refine(self, starts: list[tuple[str, np.ndarray]]) -> Iterator[Candidate]:
        """Coarse GICP from every start, then the full refinement of the most promising ones."""
        if not starts:
            return
        config = self.config
        with self._timed("refine"):
            coarse = []
            for name, start in starts:
                motion = align(*self._coarse_levels(), start, config.coarse_distance_voxels, config)
                coarse.append((count_inliers(self.source, self.target, motion, config), name, motion))
            coarse.sort(key=lambda entry: -entry[0])
            for _, name, motion in coarse[: config.refined_starts]:
                for distance in (config.fine_distance_voxels, config.final_distance_voxels):
                    motion = align(self.source.level, self.target.level, motion, distance, config)
                yield Candidate(name, motion, gather_evidence(self.source, self.target, motion, config))

    def _coarse_levels(self) -> tuple[Level, Level]:
        if not hasattr(self, "_levels"):
            self._levels = coarse_level(self.source, self.config), coarse_level(self.target, self.config)
        return self._levels

    @contextmanager
    def _timed(self, name: str):
        began = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - began
