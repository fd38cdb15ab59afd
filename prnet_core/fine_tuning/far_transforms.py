"""Transforms between scans far apart, composed of those between neighbours: pairs with little overlap."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.overlap import mutual_overlap
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.registration.preprocess import choose_voxel_size

from .progress import ScanTransform

MAX_STEPS = 12
"""Transforms in a chain at most: the drift of so few is far below the spacing of the network's points."""
OVERLAP_POINTS, OVERLAP_VOXELS = 2500, 2.0


def far_transforms(
    scans: Sequence[np.ndarray], transforms: Sequence[ScanTransform], min_overlap: float
) -> list[ScanTransform]:
    """Transforms, in both directions, between all scans (N_i, 3) that are connected and overlap by `min_overlap`.

    Each is composed of the fewest given transforms. The overlap is that of the downsampled scans, within two voxels.
    """
    voxels = [choose_voxel_size(points, OVERLAP_POINTS) for points in scans]
    clouds = [voxel_centroids(points, voxel) for points, voxel in zip(scans, voxels, strict=True)]
    far = []
    for (source, target), T in shortest_chains(transforms).items():
        distance = OVERLAP_VOXELS * max(voxels[source], voxels[target])
        if mutual_overlap(se3.apply(T, clouds[source]), clouds[target], distance) >= min_overlap:
            far += [ScanTransform(source, target, T), ScanTransform(target, source, se3.invert(T))]
    return far


def shortest_chains(transforms: Sequence[ScanTransform]) -> dict[tuple[int, int], np.ndarray]:
    """T_target_source (4, 4) by (source, target), source < target, of connected scans, composed of the fewest steps."""
    steps: dict[int, dict[int, np.ndarray]] = {}
    for transform in transforms:
        steps.setdefault(transform.source, {})[transform.target] = transform.T_target_source
        steps.setdefault(transform.target, {}).setdefault(transform.source, se3.invert(transform.T_target_source))
    chains = {}
    for source in steps:
        reached, waiting = {source: (np.eye(4), 0)}, deque([source])
        while waiting:
            scan = waiting.popleft()
            T, count = reached[scan]
            for target, step in steps[scan].items() if count < MAX_STEPS else ():
                if target not in reached:
                    reached[target] = (step @ T, count + 1)
                    waiting.append(target)
        chains.update({(source, target): T for target, (T, _) in reached.items() if source < target})
    return chains
