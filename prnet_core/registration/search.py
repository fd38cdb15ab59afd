"""Tries hypotheses, the cheapest first, until one is verified, and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import least_constrained_axis
from prnet_core.registration.alternatives import alternative_transforms, slid_transforms
from prnet_core.registration.candidate import Aligned, Candidate
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.descriptor_matches import DescriptorMatches, match_descriptors
from prnet_core.registration.detail import Detail, measure_detail
from prnet_core.registration.feature_hypotheses import feature_transforms
from prnet_core.registration.network_hypotheses import network_transforms, rotations_about_vertical
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.refinement import Named, Refinement
from prnet_core.registration.result import ACCEPTED
from prnet_core.registration.verify import is_certain, may_be_matched, may_stand_out, outstanding_factor

if TYPE_CHECKING:
    from prnet_core.model import PRNet

Hypotheses = Literal["guess", "features", "network", "all"]
LITTLE_AGREEMENT = 0.01  # added to an agreement of descriptors before its logarithm


@dataclass
class Search(Refinement):
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
    _identity: np.ndarray = field(default_factory=lambda: np.eye(4))
    _num_tried: int = 0  # stages; their iterator itself would keep the clouds until the garbage collector runs
    _postponed: Named = field(default_factory=list)
    _alternatives: tuple[Candidate, list[Candidate]] | None = None
    _details: dict[Candidate, Detail] = field(default_factory=dict)

    def best(self, guess: np.ndarray | None, identity: np.ndarray, hypotheses: Hypotheses = "all") -> Candidate:
        """The best candidate; later, more expensive stages run only while none is certain.

        guess, identity: (4, 4) in voxel units; identity is that of the clouds' own frames. `hypotheses` 'guess' tries
        the guess alone (identity without one), 'features' and 'network' those alone (centroids when they give none);
        'all' asks a network before the features or leaves it to `best_of_rest`, see `_is_network_first`.
        """
        self._guess, self._identity = guess, identity
        best = self._run(self._stages(hypotheses), None)
        if best is None:
            raise RuntimeError("no hypothesis was tried")
        return best

    def best_of_rest(self, best: Candidate) -> Candidate:
        """The best candidate when a network is asked too, and where it comes first the features, until one is certain;
        `best` without a network, and where nothing could change its status."""
        is_settled = self._is_matched(best) and not may_be_matched(best.quality, self.config)
        if self.network is None or is_settled:
            return best
        if not self._is_network_first:
            return self._run(self._network_stages(self.network), best) or best
        left = islice(self._stages("all"), self._num_tried, None)
        return self._run(left, best) or best

    def _run(self, stages: Iterator[Callable[[], list[Candidate]]], best: Candidate | None) -> Candidate | None:
        for run in stages:
            if best is not None and self.is_out_of_time():
                break
            found = run()
            self._num_tried += 1
            self.candidates += found
            if self.descriptors is not None and self.candidates:
                self.descriptors.agreements([candidate.transform for candidate in self.candidates])
                best = max(self.candidates, key=partial(self._rank, self.descriptors))
            else:
                for candidate in found:
                    if best is None or self._beats(candidate, best):
                        best = candidate
            if best is not None and self._is_found(best):
                break
        return best

    def _is_found(self, best: Candidate) -> bool:
        """Whether no further hypothesis needs to be tried."""
        return is_certain(best.quality, self.config) or self._stands_out(best) or self._is_matched(best)

    def _is_matched(self, best: Candidate) -> bool:
        """Whether the network's descriptors agree under no other transform more and, if the candidate is not accepted,
        much less under all others: nothing else could be better."""
        if self.descriptors is None:
            return False
        return self.is_preferred(best) if best.status == ACCEPTED else self._is_clear(best)

    def _is_clear(self, best: Candidate) -> bool:
        """Whether the network's descriptors agree under a candidate, and much less under all others that were found."""
        if self.descriptors is None:
            return False
        agreement, elsewhere = self._agreement_here_and_elsewhere(best)
        enough = agreement >= self.config.min_descriptor_agreement
        return enough and elsewhere * self.config.outstanding_descriptors <= agreement

    def is_preferred(self, best: Candidate) -> bool:
        """Whether the network's descriptors agree under no other transform more; True without them."""
        if self.descriptors is None:
            return True
        agreement, elsewhere = self._agreement_here_and_elsewhere(best)
        return agreement >= self.config.min_descriptor_share * elsewhere

    def _agreement_here_and_elsewhere(self, best: Candidate) -> tuple[float, float]:
        """The agreement of the descriptors under a candidate, and the most under the others that were found."""
        assert self.descriptors is not None
        found = [*self.descriptors.transforms, *(candidate.transform for candidate in self.candidates)]
        others = [item for item in found if self._differs(item, best.transform)]
        here, *elsewhere = self.descriptors.agreements([best.transform, *others])
        return here, max(elsewhere, default=0.0)

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
        are_others_known = self.descriptors is not None or "features" in self.timings
        if factor == float("inf") or (factor > self.config.outstanding_agreement and not are_others_known):
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
        if descriptors is None or "features" not in self.timings or not may_be_matched(best.quality, config):
            return False
        if not self._is_clear(best) or self.is_out_of_time():
            return False
        limit = descriptors.agreement(best.transform) / config.outstanding_descriptors
        return all(descriptors.agreement(other.transform) <= limit for other in self.alternatives(best))

    def rivals(self, best: Candidate) -> list[Candidate]:
        """Candidates elsewhere, and the alternatives; without these where the network's descriptors are clear, which
        would have shown a transform that a symmetric or repetitive place hides: its surfaces are alike."""
        others = self.distinct(best, self.candidates)
        return others if self._is_clear(best) else others + self.alternatives(best)

    def _outstanding_factor(self, candidate: Candidate) -> float:
        """How many times less all others must agree for a candidate to stand out; inf: it never does."""
        if not may_stand_out(candidate.quality, self.config):
            return float("inf")
        return outstanding_factor(candidate.quality, self.detail(candidate), self.config)

    def _stages(self, hypotheses: Hypotheses) -> Iterator[Callable[[], list[Candidate]]]:
        """What refines hypotheses, the cheapest first."""
        guess, identity = self._guess, self._identity
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
        near = [("identity", identity), ("centroid", centroid)]
        if self.network is not None and self._is_network_first:
            network = self.network
            yield lambda: self._refine_overlapping(near)
            yield lambda: self._by_network(network)
        else:
            yield lambda: self.refine(near)
        yield lambda: self.refine(self._features() + self._postponed)
        if self.source.views and self.target.views:  # what a symmetric or repetitive place may have hidden
            yield lambda: self.alternatives(max(self.candidates, key=lambda candidate: candidate.score))

    @property
    def _is_network_first(self) -> bool:
        """Whether a network is asked before the features: one whose descriptors match the clouds in any rotation, where
        they have more points than it takes. Features of fewer points take less time."""
        if self.network is None or self.network.config.matching != "dual":
            return False
        return min(len(self.source), len(self.target)) > self.config.surface_points

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
        close = config.alternative_share * self._share_close(best.transform, config.overlap_distance_voxels)
        coarse = self._coarse([(name, item) for item in rotated], max_iterations=config.alternative_iterations)
        coarse = [item for item in coarse if item.close >= config.promising_share * close]
        further = [(name, item.transform) for item in coarse]
        coarse = self._coarse(further, max_iterations=config.promising_iterations)
        coarse = [item for item in coarse if item.close >= close]
        coarse = self._matched(coarse)[: config.refined_alternatives]
        axis = least_constrained_axis(best.quality.information)
        bases = [best.transform, *(item.transform for item in coarse)]
        slid = [item for base in bases for item in slid_transforms(self.source, self.target, base, axis)]
        promising = self._promising([(name, item) for item in slid], config.overlap_distance_voxels)
        coarse += self._matched(promising)[: config.refined_alternatives]
        coarse = [item for item in coarse if self._differs(item.transform, best.transform)]
        close = config.alternative_share * self._share_close(best.transform, config.inlier_distance_voxels)
        return [self._finish(item) for item in self._fine(coarse) if item.close >= close]

    def detail(self, candidate: Candidate) -> Detail:
        """The detail of a candidate, computed once for it."""
        if candidate not in self._details:
            detail = measure_detail(self.source, self.target, candidate.quality, self.config)
            self._details[candidate] = detail
        return self._details[candidate]

    def distinct(self, best: Candidate, others: list[Candidate]) -> list[Candidate]:
        """The candidates whose transforms move the source to another place than the best one."""
        return [other for other in others if self._differs(other.transform, best.transform)]

    def refine(self, hypotheses: Named) -> list[Candidate]:
        """Coarse GICP from every hypothesis, fine and final from the most promising, the best of them first.

        Ends at the first that is certain.
        """
        with self._timed("refine"):
            if len(hypotheses) == 1:
                return [self._finish_one(*hypotheses[0])]
            coarse = self._coarse(hypotheses)
            matched = self._matched(coarse) if self.candidates else coarse
            return self._finish_best(matched[: self.config.refined_hypotheses])

    def _refine_overlapping(self, hypotheses: Named) -> list[Candidate]:
        """Fine and final GICP of those that overlap much after the coarse stage; the others are postponed."""
        with self._timed("refine"):
            coarse = self._coarse(hypotheses)
            limit = 0.0 if self.is_out_of_time() else self.config.overlapping_share
            self._postponed = [(item.name, item.transform) for item in coarse if item.close < limit]
            return self._finish_best([item for item in coarse if item.close >= limit])

    def _refine_matched(self, descriptors: DescriptorMatches) -> list[Candidate]:
        """Coarse, fine and final GICP of transforms whose surfaces meet already, the best of them first: larger
        distances in the coarse stage would pull clouds with little overlap together.

        Those that are or become a known candidate are left out, and those under which the descriptors agree much less
        than under the best. Ends at the first that is accepted and that the descriptors prefer.
        """
        limits = self.config.matched_distance_voxels, self.config.matched_iterations
        with self._timed("refine"):
            candidates: list[Candidate] = []
            for transform in descriptors.transforms:
                coarse = self._unknown(self._coarse([("network", transform)], *limits), candidates)
                fine = self._matched(self._unknown(self._fine(coarse), candidates))
                candidates += map(self._finish, fine)
                if candidates and self._is_matched(candidates[-1]):
                    break
            return sorted(candidates, key=lambda candidate: -candidate.score)

    def _matched(self, found: list[Aligned]) -> list[Aligned]:
        """Those under which the network's descriptors agree not much less than under the best; all without them."""
        if self.descriptors is None:
            return found
        shares = self.descriptors.shares([item.transform for item in found])
        return [item for item, share in zip(found, shares, strict=True) if share >= self.config.matched_share]

    def _unknown(self, found: list[Aligned], further: list[Candidate]) -> list[Aligned]:
        known = [candidate.transform for candidate in [*self.candidates, *further]]
        return [item for item in found if all(self._differs(item.transform, transform) for transform in known)]

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - began
