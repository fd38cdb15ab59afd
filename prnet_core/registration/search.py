"""Tries hypotheses, the cheapest first, until one is verified, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import (
    count_close,
    least_constrained_axis,
    measure_alignment,
    share_meeting,
)
from prnet_core.registration.alternatives import alternative_transforms, slid_transforms
from prnet_core.registration.candidate import Aligned, Candidate
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.descriptor_matches import DescriptorMatches, match_descriptors
from prnet_core.registration.detail import Detail, measure_detail
from prnet_core.registration.feature_hypotheses import feature_transforms
from prnet_core.registration.network_hypotheses import network_transforms, rotations_about_vertical
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.refine import align
from prnet_core.registration.result import ACCEPTED
from prnet_core.registration.verify import is_certain, may_be_matched, may_stand_out, outstanding_factor, verify

if TYPE_CHECKING:
    from prnet_core.model import PRNet

Hypotheses = Literal["guess", "features", "network", "all"]
Named = list[tuple[str, np.ndarray]]
LITTLE_AGREEMENT = 0.01  # added to an agreement of descriptors before its logarithm


@dataclass
class Search:
    """The search for the transform of one pair.

    `timings` holds the seconds of each part, `candidates` all that was refined, `descriptors` the network's matches.
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
    descriptors: DescriptorMatches | None = None
    _guess: np.ndarray | None = None
    _alternatives: tuple[Candidate, list[Candidate]] | None = None
    _details: dict[Candidate, Detail] = field(default_factory=dict)

    def best(self, guess: np.ndarray | None, identity: np.ndarray, hypotheses: Hypotheses = "all") -> Candidate:
        """The best candidate; later, more expensive stages run only while none is certain.

        guess, identity: (4, 4) in voxel units; identity is that of the clouds' own frames. `hypotheses` 'guess' tries
        the guess alone (identity without one), 'features' and 'network' those alone (centroids when they give none);
        'all' leaves the network to `best_with_network`.
        """
        self._guess = guess
        best = self._run(self._stages(guess, identity, hypotheses), None)
        if best is None:
            raise RuntimeError("no hypothesis was tried")
        return best

    def best_with_network(self, best: Candidate) -> Candidate:
        """The best candidate when the network's are tried too; `best` without a network or time."""
        if self.network is None or self.is_out_of_time():
            return best
        return self._run(self._network_stages(self.network), best) or best

    def _run(self, stages: Iterator[Callable[[], list[Candidate]]], best: Candidate | None) -> Candidate | None:
        for run in stages:
            if best is not None and self.is_out_of_time():
                break
            found = run()
            self.candidates += found
            if self.descriptors is not None:
                best = max(self.candidates, key=partial(self._rank, self.descriptors))
            else:
                for candidate in found:
                    if best is None or self._beats(candidate, best):
                        best = candidate
            if best is not None and (is_certain(best.quality, self.config) or self._stands_out(best)):
                break
        return best

    def _rank(self, descriptors: DescriptorMatches, candidate: Candidate) -> tuple[bool, float]:
        """What free space verifies first; then the score, higher where the network's descriptors agree: with little
        overlap more of an incorrect transform overlaps, but it brings unlike surfaces together."""
        agreement = max(descriptors.agreement(candidate.transform), 0.0) + LITTLE_AGREEMENT
        is_verified = candidate.status == ACCEPTED and candidate.quality.violation is not None
        return is_verified, candidate.score + self.config.descriptor_weight * float(np.log(agreement))

    def _beats(self, candidate: Candidate, best: Candidate) -> bool:
        """Accepted ones first, unless another agrees much more; then by score, a later one only if clearly better."""
        if (candidate.status == ACCEPTED) != (best.status == ACCEPTED):
            accepted, other = (candidate, best) if candidate.status == ACCEPTED else (best, candidate)
            other_wins = other.quality.agreement >= self._outstanding_factor(other) * accepted.quality.agreement
            return other_wins == (other is candidate)
        return candidate.score > best.score + self.config.better_score

    def _stands_out(self, best: Candidate) -> bool:
        """Whether a candidate that is not accepted by itself agrees so much better than all others."""
        factor = self._outstanding_factor(best)
        if factor == float("inf") or (factor > self.config.outstanding_agreement and "features" not in self.timings):
            return False
        if self.outstanding is not best:
            limit = best.quality.agreement / factor
            for others in (lambda: self.distinct(best, self.candidates), lambda: self.alternatives(best)):
                if any(other.quality.agreement > limit for other in others()):
                    return False
            self.outstanding = best
        return True

    def descriptors_stand_out(self, best: Candidate) -> bool:
        """Whether the network's descriptors agree much more under a candidate than under all other transforms."""
        descriptors, config = self.descriptors, self.config
        if descriptors is None or not may_be_matched(best.quality, config):
            return False
        agreement = descriptors.agreement(best.transform)
        limit = agreement / config.outstanding_descriptors

        def is_rival(transform: np.ndarray) -> bool:
            return self._differs(transform, best.transform) and descriptors.agreement(transform) > limit

        found = [*descriptors.transforms, *(candidate.transform for candidate in self.candidates)]
        if agreement < config.min_descriptor_agreement or any(map(is_rival, found)) or self.is_out_of_time():
            return False
        return not any(is_rival(other.transform) for other in self.alternatives(best))

    def _outstanding_factor(self, candidate: Candidate) -> float:
        """How many times less all others must agree for a candidate to stand out; inf: it never does."""
        if not may_stand_out(candidate.quality, self.config):
            return float("inf")
        return outstanding_factor(candidate.quality, self.detail(candidate), self.config)

    def _stages(
        self, guess: np.ndarray | None, identity: np.ndarray, hypotheses: Hypotheses
    ) -> Iterator[Callable[[], list[Candidate]]]:
        """What refines hypotheses, the cheapest first."""
        if guess is not None and hypotheses in ("guess", "all"):
            yield lambda: self.refine([("guess", guess)])
        elif hypotheses == "guess":
            yield lambda: self.refine([("identity", identity)])
        if hypotheses == "guess":
            return
        shift = self.target.points.mean(axis=0) - self.source.points.mean(axis=0)
        centroid = se3.make_transform(np.eye(3), shift)
        if hypotheses == "features" or (hypotheses == "network" and self.network is None):
            yield lambda: self.refine(self._features() or [("centroid", centroid)])
            return
        if self.network is not None and hypotheses == "network":
            network = self.network
            yield lambda: self._by_network(network) or self.refine([("centroid", centroid)])
            return
        yield lambda: self.refine([("identity", identity), ("centroid", centroid)])
        yield lambda: self.refine(self._features())
        if self.source.views and self.target.views:  # what a symmetric or repetitive place may have hidden
            yield lambda: self.alternatives(max(self.candidates, key=lambda candidate: candidate.score))

    def _network_stages(self, network: PRNet) -> Iterator[Callable[[], list[Candidate]]]:
        yield lambda: self._by_network(network)
        if network.config.matching != "dual":  # one run gives several hypotheses, for any rotation
            config, seeds = self.config, range(1, 1 + self.config.network_samples)
            yield lambda: self.refine(self._network(network, seeds, config.network_rotations))

    def _by_network(self, network: PRNet) -> list[Candidate]:
        if network.config.matching != "dual":
            return self.refine(self._network(network, range(1), 1))
        with self._timed("network"):
            sizes = self.config.surface_points, self.config.network_hypotheses
            self.descriptors = match_descriptors(network, self.source, self.target, *sizes)
        return self._refine_matched(self.descriptors)

    def _features(self) -> Named:
        with self._timed("features"):
            return [("features", item) for item in feature_transforms(self.source, self.target, self.config)]

    def _network(self, network: PRNet, seeds: range, num_rotations: int) -> Named:
        config, rotations = self.config, rotations_about_vertical(num_rotations)
        with self._timed("network"):
            transforms = network_transforms(
                network, self.source, self.target, config.network_points, config.network_passes, seeds, rotations
            )
        return [("network", item) for item in transforms]

    def alternatives(self, best: Candidate) -> list[Candidate]:
        """Refined transforms that a symmetric or repetitive place or object would hide, the best of them first.

        Computed once for a candidate.
        """
        if self._alternatives is None or self._alternatives[0] is not best:
            with self._timed("alternatives"):
                refined = self._refined_alternatives(best)
            refined.sort(key=lambda candidate: -candidate.score)
            self._alternatives = best, self.distinct(best, refined)
        return self._alternatives[1]

    def _refined_alternatives(self, best: Candidate) -> list[Candidate]:
        """Rotations of a candidate, and it and them moved along the least constrained axis."""
        config, name = self.config, "alternative"
        is_corner = best.quality.violation is not None and self.detail(best).share < config.clear_detail
        rotated = alternative_transforms(self.source, self.target, best.transform, is_corner)
        if self._guess is not None and config.nearer_rivals:
            first, *angles = (se3.difference(self._guess, item)[1] for item in [best.transform, *rotated])
            rotated = [item for item, angle in zip(rotated, angles) if angle < first]
        coarse = self._coarse([(name, item) for item in rotated], config.alternative_iterations)
        close = config.alternative_share * self._count_close(best.transform, config.overlap_distance_voxels)
        coarse = [item for item in coarse if item.close >= close][: config.refined_alternatives]
        axis = least_constrained_axis(best.quality.information)
        bases = [best.transform, *(item.transform for item in coarse)]
        slid = [item for base in bases for item in slid_transforms(self.source, self.target, base, axis)]
        distance = config.overlap_distance_voxels
        coarse += self._promising([(name, item) for item in slid], distance)[: config.refined_alternatives]
        coarse = [item for item in coarse if self._differs(item.transform, best.transform)]
        close = config.alternative_share * self._count_close(best.transform, config.inlier_distance_voxels)
        return [self._finish(item) for item in self._fine(coarse) if item.close >= close]

    def detail(self, candidate: Candidate) -> Detail:
        """The detail of a candidate, computed once for it."""
        if candidate not in self._details:
            detail = measure_detail(self.source, self.target, candidate.quality, self.config)
            self._details[candidate] = detail
        return self._details[candidate]

    def is_out_of_time(self) -> bool:
        """True when no further hypothesis may begin."""
        return time.perf_counter() >= self.deadline

    def distinct(self, best: Candidate, others: list[Candidate]) -> list[Candidate]:
        """The candidates whose transforms move the source to another place than the best one."""
        return [other for other in others if self._differs(other.transform, best.transform)]

    def _differs(self, first: np.ndarray, second: np.ndarray) -> bool:
        extent = float(np.sqrt(np.mean(np.sum(self.source.points**2, axis=1))))
        return se3.transform_distance(first, second, extent) > self.config.distinct_distance_voxels

    def refine(self, hypotheses: Named) -> list[Candidate]:
        """Coarse GICP from every hypothesis, fine and final from the most promising, the best of them first.

        Ends at the first that is certain.
        """
        with self._timed("refine"):
            if len(hypotheses) == 1:
                return [self._finish_one(*hypotheses[0])]
            return self._finish_best(self._coarse(hypotheses)[: self.config.refined_hypotheses])

    def _refine_matched(self, descriptors: DescriptorMatches) -> list[Candidate]:
        """Fine and final GICP of transforms whose surfaces meet already, the best of them first: the large distances of
        a coarse stage would pull clouds with little overlap together.

        Those that are or become a known candidate are left out, and those under which the descriptors agree much less
        than under the best.
        """
        with self._timed("refine"):
            matched = self._unknown([Aligned("network", item, 0) for item in descriptors.transforms])
            fine = self._unknown(self._fine(matched))
            chosen = [item for item in fine if descriptors.share(item.transform) >= self.config.matched_share]
            return sorted(map(self._finish, chosen), key=lambda candidate: -candidate.score)

    def _unknown(self, found: list[Aligned]) -> list[Aligned]:
        known = [candidate.transform for candidate in self.candidates]
        return [item for item in found if all(self._differs(item.transform, transform) for transform in known)]

    def _finish_one(self, name: str, transform: np.ndarray) -> Candidate:
        """One hypothesis through all stages: there is nothing to choose between."""
        config = self.config
        if config.coarse_iterations:
            levels = self.source.coarse_level, self.target.coarse_level
            limits = config.coarse_distance_voxels, config.coarse_iterations
            transform = align(*levels, transform, *limits, config, self.deadline)
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

    def _coarse(self, hypotheses: Named, max_iterations: int | None = None) -> list[Aligned]:
        config = self.config
        levels = self.source.coarse_level, self.target.coarse_level
        limits = config.coarse_distance_voxels, max_iterations or config.coarse_iterations
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
        aligned = [Aligned(name, transform, self._count_close(transform, distance)) for name, transform in transforms]
        chosen: list[Aligned] = []
        for item in sorted(aligned, key=lambda item: -item.close):
            if all(se3.transform_distance(item.transform, other.transform, extent) > distance for other in chosen):
                chosen.append(item)
        return chosen

    def _count_close(self, transform: np.ndarray, distance: float) -> int:
        return count_close(self.source, self.target, transform, distance, self.config)

    def _align(
        self, transform: np.ndarray, distance: float, max_iterations: int, min_meeting: float = 0.0
    ) -> np.ndarray:
        """GICP, unless no more than `min_meeting` of the source meets the target within `distance`."""
        if min_meeting and share_meeting(self.source, self.target, transform, distance, self.config) <= min_meeting:
            return transform
        levels = self.source.level, self.target.level
        return align(*levels, transform, distance, max_iterations, self.config, self.deadline)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - began
