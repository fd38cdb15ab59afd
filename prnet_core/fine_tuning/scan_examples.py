"""Examples with a known transform, made from a few real scans."""

from collections.abc import Sequence

import numpy as np
import torch

from prnet_core.geometry import se3
from prnet_core.geometry.random_rotations import about_any_axis, any_rotation
from prnet_core.geometry.subsets import at_most
from prnet_core.pairs.pair_batch import PairBatch, stack_pairs
from prnet_core.pairs.scan_pairs import ScanPair, ScanPairConfig, make_scan_pair
from prnet_core.simulation.views import View
from prnet_core.simulation.visibility import visible_points

from .config import FineTuneConfig
from .progress import FineTuneError, ScanTransform

MAX_POINTS = 16_384
"""Maximum number of points kept of a scan."""
MIN_POINTS = 100
ATTEMPTS = 20
IN_VIEW, CAMERA_DISTANCE, CAMERA_CELL = 1.5, (2.5, 8.0), 0.05
"""Cameras for hiding points: visibility radius and distance, in units of the radius of 90 % of the scan."""


class ScanExamples:
    """Draws pairs of scans (n of (N_i, 3)): of one scan with itself, or of two with a known transform.

    A pair of one scan takes two disjoint samples of its points and crops each from a direction of its own, so that
    the overlap is partial and no point is in both; the paper transforms one and the same cloud.
    `sources`: scans that pairs are made from (default: all); the others are only targets of transforms.
    `transforms` that name a scan out of range raise FineTuneError.
    """

    TUNED_SHARE, RATE_FACTOR = 1.0, 1.0
    """Weights that are kept: so far from the original to the tuned ones, which learn at so many times the rate."""

    def __init__(
        self,
        scans: Sequence[np.ndarray],
        transforms: Sequence[ScanTransform],
        config: FineTuneConfig,
        augment: bool,
        sources: Sequence[int] | None = None,
    ) -> None:
        for transform in transforms:
            if not (0 <= transform.source < len(scans) and 0 <= transform.target < len(scans)):
                raise FineTuneError(f"transform from {transform.source} to {transform.target} of {len(scans)} scans")
        self.scans = scans
        self.sources = range(len(scans)) if sources is None else sources
        self.config = self.adapted(config)
        self.num_transforms = len(transforms)
        self.transforms_of: dict[int, list[ScanTransform]] = {}
        for transform in transforms:
            self.transforms_of.setdefault(transform.source, []).append(transform)
        self._form = ScanPairConfig(
            stretch=(0.9, 1.1) if augment else (1.0, 1.0),
            mirror_share=0.5 if augment else 0.0,
            max_noise=0.005 if augment else 0.0,
        )

    @staticmethod
    def adapted(config: FineTuneConfig) -> FineTuneConfig:
        """The configuration as these examples use it."""
        return config

    def __len__(self) -> int:
        return len(self.sources)

    def draw(self, place: int, rng: np.random.Generator) -> ScanPair:
        """A pair, of two scans or of one, whose source is the scan at this index of `sources`."""
        scan = self.sources[place]
        transforms = self.transforms_of.get(scan)
        if transforms and rng.random() < self.config.known_transform_share:
            pair = self.of_two_scans(transforms[rng.integers(len(transforms))], rng)
            if _overlap(pair) >= self.config.min_overlap:
                return pair
        return self.of_one_scan(scan, rng)

    def of_two_scans(self, transform: ScanTransform, rng: np.random.Generator) -> ScanPair:
        """Two real scans. Sometimes the source is rotated at random, as in a pair without a guess."""
        turn = self._turn(rng) if rng.random() < 0.5 else np.eye(3)
        source, target = self.scans[transform.source], self.scans[transform.target]
        T = transform.T_target_source
        views = View(se3.apply(T, source), T), View(target, np.eye(4))
        return self._make(*views, turn @ T[:3, :3].T, np.eye(3), rng)

    def of_one_scan(self, scan: int, rng: np.random.Generator) -> ScanPair:
        """Two partial views of one scan, rotated against each other."""
        points = self.scans[scan]
        for _ in range(ATTEMPTS):
            halves = _split(points, self.config.num_points, rng)
            views = [View(self._part(half, rng), np.eye(4)) for half in halves]
            pair = self._make(*views, self._turn(rng), np.eye(3), rng)
            if _overlap(pair) >= self.config.min_overlap:
                return pair
        return self._make(*(View(half, np.eye(4)) for half in halves), self._turn(rng), np.eye(3), rng)

    @staticmethod
    def usable_transforms(scans: Sequence[np.ndarray], transforms: Sequence[ScanTransform]) -> Sequence[ScanTransform]:
        """The transforms between scans that pairs are made with: those given."""
        return transforms

    @staticmethod
    def stack(pairs: Sequence[ScanPair], device: torch.device | str = "cpu") -> PairBatch:
        """One batch of pairs of equal numbers of points."""
        return stack_pairs(pairs).to(device)

    def _make(self, source: View, target: View, R_source: np.ndarray, R_target: np.ndarray, rng) -> ScanPair:
        return make_scan_pair(source, target, R_source, R_target, self.config.num_points, self._form, rng)

    def _turn(self, rng: np.random.Generator) -> np.ndarray:
        config = self.config
        near = rng.random() < config.near_share
        return about_any_axis(rng, np.radians(config.near_deg if near else config.max_angle_deg))

    def _part(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A partial view: the points visible from a random side, or those nearest to it."""
        side = any_rotation(rng)[:, 2]
        if rng.random() < self.config.hidden_share:
            centred = points - points.mean(axis=0)
            norms = np.linalg.norm(centred, axis=1)
            near = norms < IN_VIEW * np.quantile(norms, 0.9)
            centred = centred[near] / np.quantile(norms, 0.9)
            points = points[near][visible_points(centred, rng.uniform(*CAMERA_DISTANCE) * side, CAMERA_CELL)]
        keep = max(round(rng.uniform(self.config.min_keep, 1.0) * len(points)), 1)
        return points[np.argpartition(-(points @ side), keep - 1)[:keep]]


def clean_scan(points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The finite points of an (N, >= 3) array as float64, without duplicates, at most MAX_POINTS.

    Raises FineTuneError for another shape.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] < 3:
        raise FineTuneError(f"a scan must be (N, 3), not {points.shape}")
    points = points[:, :3].astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    return at_most(points[np.sort(np.unique(points, axis=0, return_index=True)[1])], MAX_POINTS, rng)


def is_usable(points: np.ndarray) -> bool:
    """True for a cleaned scan with enough points that are not all equal."""
    return len(points) >= MIN_POINTS and float(np.ptp(points, axis=0).max()) > 0.0


def _split(points: np.ndarray, num_points: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if len(points) < 2 * num_points:
        return points, points
    order = rng.permutation(len(points))
    return points[order[: len(points) // 2]], points[order[len(points) // 2 :]]


def _overlap(pair: ScanPair) -> float:
    return float((pair.matches >= 0).mean())
