"""Training pairs that look like real partial scans: two views of one object or scene, pose and matches.

The clouds are downsampled and normalised as real scans are (`prnet_core.pairs.normalise`).
"""

from dataclasses import dataclass
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

OBJECT_SHARE = 0.5  # of the pairs are of object views, the others of views of scenes
SENSOR_FRAME_SHARE = 0.4  # are expressed in their sensor frames: there rotation and overlap depend on each other
NEAR_SHARE, NEAR_DEG = 0.35, 30.0  # of the others are rotated by at most NEAR_DEG about any axis, as after a first pass
WIDE_SHARE = 0.25  # are rotated by up to 180 degrees about the vertical, the rest by up to 90
TILT_DEG = 45.0
UPRIGHT_SHARE = 0.6  # of the scenes have z up except for a tilt; others, and all objects, are rotated at random
MATCH_VOXELS = 0.75  # maximum distance of true matches, in voxels of the downsampling
MIN_OVERLAP = 0.25  # fraction of the source points with a true match


@dataclass(frozen=True)
class ScanPairConfig:
    """Augmentation of both clouds: range of the stretch, probability of mirroring, noise in units of the network."""

    stretch: tuple[float, float] = (0.8, 1.25)
    mirror_share: float = 0.5
    max_noise: float = 0.005


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
        of_object = views.scenes is None or (views.objects is not None and rng.random() < OBJECT_SHARE)
        if of_object:
            source, target = views.objects.draw(rng)
        else:
            of_scene = views.scenes[int(rng.integers(len(views.scenes)))]
            source, target = (of_scene[i] for i in rng.choice(len(of_scene), 2, replace=False))
        frames = _frames(source, target, of_object, rng)
        pair = make_scan_pair(source, target, *frames, num_points, ScanPairConfig(), rng)
        if (pair.matches >= 0).mean() >= MIN_OVERLAP:
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
    matches[distance > MATCH_VOXELS * voxel * normalisation.scale] = -1
    return ScanPair(_noisy(unit_source, config, rng), _noisy(unit_target, config, rng), T_unit, matches)


def _frames(source: View, target: View, of_object: bool, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (3, 3) from the world to the source's and to the target's frame."""
    tilt = np.radians(TILT_DEG)
    if not of_object and rng.random() < UPRIGHT_SHARE:
        convention = about_vertical(rng, np.pi, tilt / 2)
    else:
        convention = any_rotation(rng)
    if rng.random() < SENSOR_FRAME_SHARE:
        return convention @ source.T_world_sensor[:3, :3].T, convention @ target.T_world_sensor[:3, :3].T
    kind = rng.random()
    if kind < NEAR_SHARE:
        turn = about_any_axis(rng, np.radians(NEAR_DEG))
    else:
        turn = about_vertical(rng, np.pi if kind < NEAR_SHARE + WIDE_SHARE else np.pi / 2, tilt)
    if of_object:
        convention = convention @ any_rotation(rng)
    return convention @ turn, convention


def _noisy(points: np.ndarray, config: ScanPairConfig, rng: np.random.Generator) -> np.ndarray:
    sigma = rng.uniform(0.0, config.max_noise)
    noise = np.clip(rng.normal(size=points.shape), -4.0, 4.0) * sigma
    return (points + noise).astype(np.float32)
