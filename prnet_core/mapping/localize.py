"""Localisation of a scan in a map, without an initial guess."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.consistent_transforms import consistent_transforms
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.feature_file import read_features, write_features
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError
from prnet_core.mapping.place_features import PlaceFeatures, place_features, signature_distances
from prnet_core.registration import ACCEPTED, AMBIGUOUS, REJECTED, Registration, RegistrationResult
from prnet_core.registration.config import quick_config, without_alternatives
from prnet_core.registration.features import mutual_matches
from prnet_core.registration.prepared_clouds import PreparedClouds
from prnet_core.registration.preprocess import PreparedCloud, choose_voxel_size, clean_points, precise_points
from prnet_core.registration.result import UNKNOWN_VARIANCE
from prnet_core.registration.search import Hypotheses

PREPARED_SUBMAPS = 64


@dataclass(frozen=True)
class PlaceHypothesis:
    """A pose guess: T_map_sensor (4, 4); support: number of local feature matches that agree with it."""

    T_map_sensor: np.ndarray
    support: int


@dataclass(frozen=True)
class LocalizationResult:
    """The pose of one scan in the map.

    status: 'accepted', 'ambiguous' (several places fit alike: `alternatives`), or 'rejected'.
    T_map_sensor: (4, 4), takes points of the sensor's frame into the map's; not to be used unless accepted.
    covariance: (6, 6), x y z rx ry rz, in the map's frame. keyframe: the one registered to, or -1.
    alternatives: other poses (4, 4) that were verified too.
    """

    status: str
    reason: str
    T_map_sensor: np.ndarray
    covariance: np.ndarray
    keyframe: int = -1
    alternatives: list[np.ndarray] = field(default_factory=list)
    registration: RegistrationResult | None = None
    seconds: float = 0.0

    @property
    def usable(self) -> bool:
        """True when the pose may be used: accepted only."""
        return self.status == ACCEPTED


class Localizer:
    """Finds scans in a map: retrieval by descriptors, hypotheses from local features, registration, verification.

    folder: of the saved map, where its features are kept for the next time; None: they are not kept. Raises MapError
    for a map without keyframes.
    """

    def __init__(
        self,
        keyframe_map: KeyframeMap,
        registration: Registration,
        config: MappingConfig | None = None,
        folder: Path | None = None,
    ) -> None:
        if len(keyframe_map) == 0:
            raise MapError("the map has no keyframes")
        self.map = keyframe_map
        self.registration = registration
        self._alone = Registration(None, without_alternatives(registration.config))
        self._quick = Registration(registration.network, quick_config(registration.config))
        self.config = config or MappingConfig()
        sample = keyframe_map.keyframes[:: max(1, len(keyframe_map) // 20)]
        points = [clean_points(frame.points, registration.config) for frame in sample]
        self.voxel_size = float(np.median([registration.voxel_size_for(cloud) for cloud in points]))
        count = self.config.feature_points
        self.feature_voxel = float(np.median([choose_voxel_size(cloud, count) for cloud in points]))
        self._features = self._read_features(folder)
        self._submaps = PreparedClouds(PREPARED_SUBMAPS)

    def localize(
        self,
        points: np.ndarray,
        deadline: float | None = None,
        origins: np.ndarray | None = None,
        view_index: np.ndarray | None = None,
    ) -> LocalizationResult:
        """Find a scan (N, 3), metres, in the sensor's frame. deadline: seconds that the search may take, or None.

        Several scans that were joined in the frame of one of them: origins (K, 3) of the sensor, and the row of the
        origins (N,) of each point.
        """
        began = time.perf_counter()
        ends = began + (float("inf") if deadline is None else deadline)
        if origins is None:
            origins = np.zeros(3)
            points = precise_points(points, self.registration.config, origins)
        source = self.registration.prepare(points, self.voxel_size, origins, view_index)
        if len(source) < self.registration.config.min_points:
            return self._rejected(f"the scan has {len(source)} usable points after the voxel filter", began)
        features = self._features_of(points)
        ranked = self.rank_keyframes(features)
        hypotheses = self.hypotheses(features, ranked)
        found = self._verify(source, hypotheses, ends)
        if not found:
            found = self._search_fully(source, ranked, ends)
        if not found:
            return self._rejected(f"no place of {len(self.map)} keyframes was verified", began)
        best, others = found[0], found[1:]
        status = AMBIGUOUS if others or best[1].status == AMBIGUOUS else ACCEPTED
        reason = best[1].reason
        if others:
            reason = f"{len(others)} other places fit as well: {reason}"
        alternatives = [self.map.poses[k] @ other.T_target_source for k, other in others]
        return self._found(*best, status, reason, alternatives, began)

    def localize_near(self, points: np.ndarray, T_map_sensor: np.ndarray, search: bool = False) -> LocalizationResult:
        """Verify a pose guess (4, 4) of a scan (N, 3), metres, in the sensor's frame; other places are not compared.

        search: where the guess alone does not converge, try every kind of hypothesis near it.
        """
        began = time.perf_counter()
        points = precise_points(points, self.registration.config, np.zeros(3))
        source = self.registration.prepare(points, self.voxel_size, np.zeros(3))
        if len(source) < self.registration.config.min_points:
            return self._rejected(f"the scan has {len(source)} usable points after the voxel filter", began)
        keyframe, guess = self._nearest(T_map_sensor)
        result = self._alone.register_prepared(source, self._submap(keyframe), guess, hypotheses="guess")
        if search and result.status != ACCEPTED:
            result = self.registration.register_prepared(source, self._submap(keyframe), guess)
        if result.status != ACCEPTED:
            return self._rejected(f"{result.status}: {result.reason}", began)
        return self._found(keyframe, result, ACCEPTED, result.reason, [], began)

    def rank_keyframes(self, features: PlaceFeatures) -> list[int]:
        """The most similar keyframes, best first: shortlisted by descriptor, ranked by signature."""
        similarity = np.array([other.descriptor @ features.descriptor for other in self._features])
        shortlist = np.argsort(-similarity, kind="stable")[: self.config.shortlisted_keyframes]
        distance = signature_distances(features.signature, [self._features[i].signature for i in shortlist])
        return [int(index) for index in shortlist[np.argsort(distance, kind="stable")]]

    def hypotheses(self, features: PlaceFeatures, ranked: list[int]) -> list[PlaceHypothesis]:
        """Distinct poses that matches of local features with the first keyframes agree on, most support first."""
        config, tolerance = self.config, 1.5 * self.feature_voxel
        found = []
        for index in ranked[: config.retrieved_keyframes]:
            other = self._features[index]
            i, j = mutual_matches(features.features, other.features)
            source, target = features.points[i], other.points[j]
            for transform in consistent_transforms(source, target, tolerance, config.transforms_per_keyframe):
                distance = np.linalg.norm(se3.apply(transform, source) - target, axis=1)
                support = int((distance < 2.0 * tolerance).sum())
                found.append(PlaceHypothesis(self.map.poses[index] @ transform, support))
        found.sort(key=lambda hypothesis: -hypothesis.support)
        distinct: list[PlaceHypothesis] = []
        for hypothesis in found:
            if not any(self._same_place(hypothesis.T_map_sensor, other.T_map_sensor) for other in distinct):
                distinct.append(hypothesis)
        return distinct

    def _verify(
        self, source: PreparedCloud, hypotheses: list[PlaceHypothesis], ends: float
    ) -> list[tuple[int, RegistrationResult]]:
        """Accepted registrations at different places that agree about as well, the best first; none after `ends`."""
        config, support = self.config, 0
        accepted: list[tuple[int, RegistrationResult]] = []
        for hypothesis in hypotheses[: config.verified_hypotheses]:
            if time.perf_counter() > ends or hypothesis.support < config.rival_support * support:
                break
            keyframe, guess = self._nearest(hypothesis.T_map_sensor)
            result = self._register(source, keyframe, guess, "guess")
            if result.status != ACCEPTED:
                continue
            pose = self.map.poses[keyframe] @ result.T_target_source
            if all(not self._same_place(pose, self.map.poses[k] @ other.T_target_source) for k, other in accepted):
                accepted.append((keyframe, result))
                support = max(support, hypothesis.support)
        accepted.sort(key=lambda item: -item[1].agreement)
        return [item for item in accepted if item[1].agreement > config.rival_agreement * accepted[0][1].agreement]

    def _nearest(self, T_map_sensor: np.ndarray) -> tuple[int, np.ndarray]:
        """The keyframe nearest to a pose (4, 4), and the pose in its frame."""
        keyframe = int(np.argmin(np.linalg.norm(self.map.positions - T_map_sensor[:3, 3], axis=1)))
        return keyframe, se3.invert(self.map.poses[keyframe]) @ T_map_sensor

    def _search_fully(
        self, source: PreparedCloud, ranked: list[int], ends: float
    ) -> list[tuple[int, RegistrationResult]]:
        kinds: tuple[Hypotheses, ...] = ("features",) if self.registration.network is None else ("features", "network")
        for keyframe in ranked[: self.config.full_searches]:
            for kind in kinds:
                if time.perf_counter() > ends:
                    return []
                result = self._register(source, keyframe, None, kind)
                if result.status in (ACCEPTED, AMBIGUOUS):
                    return [(keyframe, result)]
        return []

    def _register(
        self, source: PreparedCloud, keyframe: int, guess: np.ndarray | None, hypotheses: Hypotheses
    ) -> RegistrationResult:
        """Register to the neighbourhood of a keyframe: quickly, and fully where that is not rejected.

        Without a guess the quick result is compared with its alternatives, and must be accepted.
        """
        submap = self._submap(keyframe)
        result = self._quick.register_prepared(source, submap, guess, hypotheses=hypotheses)
        if result.status == REJECTED or (guess is None and result.status != ACCEPTED):
            return result
        return self.registration.register_prepared(source, submap, result.T_target_source, hypotheses="guess")

    def _features_of(self, points: np.ndarray) -> PlaceFeatures:
        return place_features(clean_points(points, self.registration.config), self.feature_voxel)

    def _read_features(self, folder: Path | None) -> list[PlaceFeatures]:
        """Features from the folder's file if it fits these keyframes and this voxel size, else computed and written."""
        frames = self.map.keyframes
        sums = [float(frame.points.sum(dtype=np.float64)) for frame in frames]
        limits = self.registration.config.min_range, self.registration.config.max_range
        key = np.array([self.feature_voxel, *limits, *sums])
        features = None if folder is None else read_features(folder, key)
        if features is None:
            features = [self._features_of(frame.points) for frame in frames]
            if folder is not None:
                write_features(folder, key, features)
        return features

    def _submap(self, keyframe: int) -> PreparedCloud:
        """The neighbourhood of a keyframe in its frame, prepared; the last ones are kept."""

        def prepare() -> PreparedCloud:
            points, origins, view_index = self.map.submap(keyframe, self.config.submap_keyframes)
            return self.registration.prepare(points, self.voxel_size, origins, view_index)

        return self._submaps.get(self.map.keyframes[keyframe], self.voxel_size, prepare)

    def _same_place(self, first: np.ndarray, second: np.ndarray) -> bool:
        distance, angle = se3.difference(first, second)
        limit = 2.0 * self.registration.config.coarse_factor * self.voxel_size
        return distance < limit and angle < self.config.same_place_angle

    def _found(
        self,
        keyframe: int,
        result: RegistrationResult,
        status: str,
        reason: str,
        alternatives: list[np.ndarray],
        began: float,
    ) -> LocalizationResult:
        return LocalizationResult(
            status=status,
            reason=reason,
            T_map_sensor=self.map.poses[keyframe] @ result.T_target_source,
            covariance=se3.moved_covariance(self.map.poses[keyframe], result.covariance),
            keyframe=keyframe,
            alternatives=alternatives,
            registration=result,
            seconds=time.perf_counter() - began,
        )

    def _rejected(self, reason: str, began: float) -> LocalizationResult:
        seconds = time.perf_counter() - began
        return LocalizationResult(REJECTED, reason, np.eye(4), np.eye(6) * UNKNOWN_VARIANCE, seconds=seconds)
