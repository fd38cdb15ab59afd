"""Pairs of surface clouds for training, from simulated views and from shapes, in files for `SurfacePairFiles`."""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..geometry import se3
from ..geometry.overlap import mutual_overlap
from ..geometry.random_rotations import any_rotation
from ..geometry.voxels import voxel_centroids
from ..model.surface_cloud import SurfaceCloud
from ..model.surface_inputs import pair_batch, surface_clouds
from ..pairs.object_pairs import ObjectPairConfig, object_pair_batch
from ..pairs.surface_patches import SurfacePair, surface_pair
from ..registration.config import RegistrationConfig
from ..registration.descriptor_matches import dense_cloud
from ..registration.preprocess import choose_voxel_size, prepare_cloud
from ..registration.registration import to_voxels
from ..simulation.object_views import ObjectViews
from ..simulation.partial_views import camera_views, fragment_views, lidar_views
from ..simulation.views import View

PLACES: dict[str, tuple[Callable[[np.random.Generator], list[View]], float]] = {
    "fragments": (fragment_views, 0.06),
    "lidar": (lidar_views, 0.35),
    "depth": (camera_views, 0.05),
}
"""Views by kind, and the voxel in metres at which their overlap is measured."""
OVERLAPS = (0.08, 0.35, 0.95)
LITTLE_OVERLAP_PAIRS, OTHER_PAIRS = 4, 4
KNOWN_ORIGIN_SHARE = 0.75
"""Share of the pairs whose normals are oriented by the sensor's positions; in the others by estimates of them."""
DENSE_POINTS = (5000, 5000, 5000, 3500, 2500)
STRETCH = (0.85, 1.18)
MIN_POINTS = 400


class NetworkPair(NamedTuple):
    """A pair as the network reads it, its true transform (4, 4) between those inputs, and its overlap."""

    pair: SurfacePair
    T_target_source: np.ndarray
    overlap: float


def scene_pairs(kind: str, num_points: int, rng: np.random.Generator) -> Iterator[NetworkPair]:
    """Up to eight pairs of one random place, four of them with little overlap."""
    make, voxel = PLACES[kind]
    views = make(rng)
    clouds = [voxel_centroids(view.points, voxel) for view in views]
    few, many = [], []
    for i, j in combinations(range(len(views)), 2):
        overlap = mutual_overlap(clouds[i], clouds[j], 1.5 * voxel)
        if OVERLAPS[0] < overlap < OVERLAPS[1]:
            few.append((i, j))
        elif OVERLAPS[1] <= overlap < OVERLAPS[2]:
            many.append((i, j))
    chosen = [few[k] for k in rng.permutation(len(few))[:LITTLE_OVERLAP_PAIRS]]
    chosen += [many[k] for k in rng.permutation(len(many))[:OTHER_PAIRS]]
    for i, j in chosen:
        source, target = (i, j) if rng.random() < 0.5 else (j, i)
        pair = network_pair(views[source], views[target], num_points, rng)
        if pair:
            yield pair


def object_view_pairs(shapes: np.ndarray, num_points: int, rng: np.random.Generator) -> Iterator[NetworkPair]:
    """Endless pairs of one-sided views of the shapes (S, K, 3)."""
    views = ObjectViews(shapes)
    while True:
        source, target = views.draw(rng)
        pair = network_pair(source, target, num_points, rng)
        if pair and pair.overlap > 0.1:
            yield pair


def network_pair(source: View, target: View, num_points: int, rng: np.random.Generator) -> NetworkPair | None:
    """Stretch, sometimes mirror, rotate, and prepare two views of one world as a registration does.

    None when either has too few points left.
    """
    stretch = rng.uniform(*STRETCH, 3) * (rng.choice([-1.0, 1.0]), 1.0, 1.0)
    rotations = [any_rotation(rng) for _ in range(2)]
    turned = list(zip((source, target), rotations, strict=True))
    clouds = [(view.points * stretch) @ rotation.T for view, rotation in turned]
    origins = [(view.T_world_sensor[:3, 3] * stretch) @ rotation.T for view, rotation in turned]
    wanted, config = int(rng.choice(DENSE_POINTS)), RegistrationConfig()
    voxel = max(choose_voxel_size(cloud, wanted) for cloud in clouds)
    know_origins = rng.random() < KNOWN_ORIGIN_SHARE
    prepared = [
        prepare_cloud(cloud, voxel, config, origin[None] if know_origins else None)
        for cloud, origin in zip(clouds, origins, strict=True)
    ]
    if min(map(len, prepared)) < MIN_POINTS:
        return None
    T = to_voxels(se3.make_transform(rotations[1] @ rotations[0].T, np.zeros(3)), *prepared)
    overlap = mutual_overlap(se3.apply(T, prepared[0].points), prepared[1].points, 2.0)
    pair = surface_pair(*(dense_cloud(cloud, know_origins) for cloud in prepared), num_points, rng)
    return NetworkPair(pair, pair.to_network(T), overlap)


def save_pairs(path: Path, pairs: list[NetworkPair], kind: str) -> None:
    """Write a file of pairs of one number of points; lengths in spacings."""
    transforms = torch.from_numpy(np.stack([pair.T_target_source for pair in pairs]))
    _save(path, *pair_batch([p.pair for p in pairs]), transforms, torch.tensor([p.overlap for p in pairs]), kind)


def save_sampled_pairs(path: Path, shapes: Tensor, count: int, num_points: int, generator: torch.Generator) -> None:
    """Write a file of pairs of evenly sampled shapes (S, P, 3), cropped as in the paper, with noise."""
    config = ObjectPairConfig(
        num_points=num_points * 4 // 3, any_view=True, turn_shape=True, stretch=(0.75, 1.25), max_noise=0.015,
        independent_views_share=0.6, twice_sampled_share=0.7,
    )  # fmt: skip
    batch = object_pair_batch(shapes, count, config, generator)
    source, target = surface_clouds(batch.source, batch.target)
    T = batch.T_target_source.clone()
    T[:, :3, 3] /= source.spacing[:, None]
    moved = source.scaled_points @ T[:, :3, :3].transpose(1, 2) + T[:, None, :3, 3]
    near = torch.cdist(moved, target.scaled_points) < 1.5
    overlap = torch.minimum(near.any(2).float().mean(1), near.any(1).float().mean(1))
    _save(path, source, target, T, overlap, "direct")


def _save(path: Path, source: SurfaceCloud, target: SurfaceCloud, T: Tensor, overlap: Tensor, kind: str) -> None:
    values = {"kind": kind, "T": T.float(), "overlap": overlap.float()}
    for side, cloud in (("source", source), ("target", target)):
        values[f"{side}_points"] = cloud.scaled_points.float()
        values[f"{side}_normals"], values[f"{side}_patches"] = cloud.normals.half(), cloud.patches.half()
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(values, path)
