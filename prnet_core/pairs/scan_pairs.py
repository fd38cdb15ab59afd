"""Training pairs that look like real partial scans: two views of one object or scene, pose and matches.

The clouds are downsampled and normalised as real scans are (`prnet_core.pairs.normalise`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.geometry.random_rotations import about_any_axis, about_vertical, any_rotation
from prnet_core.pairs.normalise import downsample_pair, normalise_pair
from prnet_core.pairs.pair_batch import PairBatch, stack_pairs
from prnet_core.simulation.object_views import ObjectViews
from prnet_core.simulation.views import View


@dataclass(frozen=True)
class ScanPairConfig:
    """Shares are probabilities. Lengths of normalised clouds in units of the network, angles in degrees."""

    object_share: float = 0.5
    """Pairs of object views; the others are views of scenes."""
    sensor_frame_share: float = 0.4
    """Pairs expressed in their sensor frames, so that rotation and overlap are related as in reality."""
    near_share: float = 0.35
    """Of the others, pairs rotated by at most `near_deg` about any axis, as after a first pass."""
    near_deg: float = 30.0
    wide_share: float = 0.25
    """Rotated by up to 180 degrees about the vertical, the rest by up to 90; tilted by up to `tilt_deg`."""
    tilt_deg: float = 45.0
    upright_share: float = 0.6
    """Scenes with z up except for a tilt. The other scenes and all objects are rotated at random."""
    stretch: tuple[float, float] = (0.8, 1.25)
    mirror_share: float = 0.5
    max_noise: float = 0.005
    match_voxels: float = 0.75
    """Maximum distance of true matches, in voxels of the downsampling."""
    min_overlap: float = 0.25
    """Minimum fraction of source points with a true match."""


class ScanPair(NamedTuple):
    """source, target (N, 3) float32; T_target_source (4, 4) float64; matches (N,) index into target or -1."""

    source: np.ndarray
    target: np.ndarray
    T_target_source: np.ndarray
    matches: np.ndarray


@dataclass(frozen=True)
class ScanPairSource:
    """The sources of views: those of each scene, and objects. If one is absent, the other gives all pairs."""

    scenes: list[list[View]] | None = None
    objects: ObjectViews | None = None
    config: ScanPairConfig = field(default_factory=ScanPairConfig)

    def __post_init__(self) -> None:
        if not self.scenes and not self.objects:
            raise ValueError("scan pairs need scenes, objects or both")


def scan_pair_batch(views: ScanPairSource, batch_size: int, num_points: int, generator: torch.Generator) -> PairBatch:
    """Draw `batch_size` pairs of `num_points` points each, on the CPU; the generator alone decides which."""
    seed = torch.randint(2**62, (1,), generator=generator, device=generator.device).item()
    rng = np.random.default_rng(seed)
    return stack_pairs([draw_scan_pair(views, num_points, rng) for _ in range(batch_size)])


def draw_scan_pair(views: ScanPairSource, num_points: int, rng: np.random.Generator) -> ScanPair:
    """One pair with enough overlap."""
    while True:
        of_object = views.scenes is None or (views.objects is not None and rng.random() < views.config.object_share)
        if of_object:
            source, target = views.objects.draw(rng)
        else:
            of_scene = views.scenes[int(rng.integers(len(views.scenes)))]
            source, target = (of_scene[i] for i in rng.choice(len(of_scene), 2, replace=False))
        frames = _frames(source, target, of_object, views.config, rng)
        pair = make_scan_pair(source, target, *frames, num_points, views.config, rng)
        if (pair.matches >= 0).mean() >= views.config.min_overlap:
            return pair


def make_scan_pair(
    source: View,
    target: View,
    R_source_world: np.ndarray,
    R_target_world: np.ndarray,
    num_points: int,
    config: ScanPairConfig,
    rng: np.random.Generator,
) -> ScanPair:
    """Stretch the world, mirror it at times, bring the views to the given frames, downsample, normalise, match."""
    mirror = -1.0 if rng.random() < config.mirror_share else 1.0
    stretch = rng.uniform(*config.stretch, 3) * (mirror, 1.0, 1.0)
    clouds = [
        (view.points - view.T_world_sensor[:3, 3]) * stretch @ rotation.T
        for view, rotation in ((source, R_source_world), (target, R_target_world))
    ]
    between = (source.T_world_sensor[:3, 3] - target.T_world_sensor[:3, 3]) * stretch
    T_metric = se3.make_transform(R_target_world @ R_source_world.T, R_target_world @ between)
    downsampled_source, downsampled_target, voxel = downsample_pair(*clouds, num_points, rng)
    unit_source, unit_target, normalisation = normalise_pair(downsampled_source, downsampled_target)
    T_unit = normalisation.to_unit(T_metric)
    distance, matches = cKDTree(unit_target).query(se3.apply(T_unit, unit_source))
    matches[distance > config.match_voxels * voxel * normalisation.scale] = -1
    return ScanPair(_noisy(unit_source, config, rng), _noisy(unit_target, config, rng), T_unit, matches)


def _frames(
    source: View, target: View, of_object: bool, config: ScanPairConfig, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (3, 3) from the world to the source's and to the target's frame."""
    tilt = np.radians(config.tilt_deg)
    if not of_object and rng.random() < config.upright_share:
        convention = about_vertical(rng, np.pi, tilt / 2)
    else:
        convention = any_rotation(rng)
    if rng.random() < config.sensor_frame_share:
        return convention @ source.T_world_sensor[:3, :3].T, convention @ target.T_world_sensor[:3, :3].T
    kind = rng.random()
    if kind < config.near_share:
        turn = about_any_axis(rng, np.radians(config.near_deg))
    else:
        turn = about_vertical(rng, np.pi if kind < config.near_share + config.wide_share else np.pi / 2, tilt)
    if of_object:
        convention = convention @ any_rotation(rng)
    return convention @ turn, convention


def _noisy(points: np.ndarray, config: ScanPairConfig, rng: np.random.Generator) -> np.ndarray:
    sigma = rng.uniform(0.0, config.max_noise)
    noise = np.clip(rng.normal(size=points.shape), -4.0, 4.0) * sigma
    return (points + noise).astype(np.float32)
