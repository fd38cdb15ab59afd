"""Validation of the network, without refinement, on pairs of held-out scans."""

import copy

import numpy as np
import torch

from prnet_core.geometry.transforms import geodesic_angle
from prnet_core.model import PRNet
from prnet_core.pairs.pair_batch import PairBatch

from .config import FineTuneConfig
from .progress import Score
from .scan_examples import ScanExamples

CAP_DEG = 45.0
BASIN_DEG, BASIN_UNIT = 15.0, 0.2
CHUNK = 8


class HeldOut:
    """Validates a network on the same pairs and keeps the best weights.

    before: the score at the start. best_tuned: the lowest error since then. history: (step, score), the start first.
    """

    def __init__(self, network: PRNet, examples: ScanExamples, config: FineTuneConfig) -> None:
        rng = np.random.default_rng([config.seed, 4])
        pairs = [examples.draw(index % len(examples), rng) for index in range(config.held_out_pairs)]
        self.pairs = examples.stack(pairs, next(network.parameters()).device)
        self.before = self.best_tuned = score(network, self.pairs)
        self.history = [(0, self.before)]
        self.best_weights = None
        self.num_without_gain = 0

    @property
    def best_error_deg(self) -> float:
        """Lowest error so far, including the one before fine-tuning."""
        return min(self.before.error_deg, self.best_tuned.error_deg)

    def validate(self, network: PRNet, step: int) -> None:
        """Score the network and keep a copy of its weights if they are the best so far."""
        now = score(network, self.pairs)
        self.num_without_gain = 0 if now.error_deg < self.best_error_deg else self.num_without_gain + 1
        if self.best_weights is None or now.error_deg < self.best_tuned.error_deg:
            self.best_tuned, self.best_weights = now, copy.deepcopy(network.state_dict())
        self.history.append((step, now))

    def is_gain(self, min_gain: float) -> bool:
        """True if the best tuned weights reduce the error by at least the fraction `min_gain`."""
        gain = self.before.error_deg - self.best_tuned.error_deg
        return gain > 0.0 and gain >= min_gain * self.before.error_deg

    def verdict(self, min_gain: float) -> str:
        """The comparison as text."""
        before, after = self.before.error_deg, self.best_tuned.error_deg
        if after >= before:
            return "the held-out error did not fall"
        share = f"the held-out error fell by {100 * (before - after) / before:.0f} %"
        return share if self.is_gain(min_gain) else f"{share}, {100 * min_gain:.0f} % are needed"


def score(network: PRNet, pairs: PairBatch) -> Score:
    """Score of the network in its evaluation mode on a batch of pairs."""
    rotation, translation = pair_errors(network, pairs)
    return Score(
        error_deg=float(np.where(translation < BASIN_UNIT, np.minimum(rotation, CAP_DEG), CAP_DEG).mean()),
        median_deg=float(np.median(np.minimum(rotation, 180.0))),
        basin_share=float(in_basin(rotation, translation).mean()),
        num_pairs=len(rotation),
    )


def in_basin(rotation_deg: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """Mask of the errors from which the refinement converges; translation in units of the network."""
    return (rotation_deg < BASIN_DEG) & (translation < BASIN_UNIT)


def pair_errors(network: PRNet, pairs: PairBatch) -> tuple[np.ndarray, np.ndarray]:
    """Rotation errors (B,) in degrees and translation errors (B,) in units of the network; inf where not finite."""
    rotations, translations = [], []
    for start in range(0, len(pairs.source), CHUNK):
        rows = slice(start, start + CHUNK)
        found, true = network.register(pairs.source[rows], pairs.target[rows]), pairs.T_target_source[rows]
        rotations.append(torch.rad2deg(geodesic_angle(found[:, :3, :3], true[:, :3, :3])))
        translations.append((found[:, :3, 3] - true[:, :3, 3]).norm(dim=1))
    rotation, translation = (torch.cat(column).cpu().double().numpy() for column in (rotations, translations))
    finite = np.isfinite(rotation) & np.isfinite(translation)
    return np.where(finite, rotation, np.inf), np.where(finite, translation, np.inf)
