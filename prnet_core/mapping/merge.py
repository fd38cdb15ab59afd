"""Two maps of one place, joined by a transform found by registration."""

from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.mapping.builder import floored
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError, PoseConstraint
from prnet_core.mapping.localize import LocalizationResult, Localizer
from prnet_core.mapping.pose_graph import optimise
from prnet_core.registration import Registration
from prnet_core.registration.sample import even_index

MIN_AGREEING = 3
MAX_TRIED = 30
ANGLE = 0.05  # radians
DISTANCE_VOXELS = 4.0


def merge_maps(
    first: KeyframeMap, second: KeyframeMap, registration: Registration, config: MappingConfig | None = None
) -> tuple[KeyframeMap, np.ndarray]:
    """The joined map in the frame of `first`, and T_first_second (4, 4).

    Keyframes of the second map are localised in the first; at least three (or all of a smaller map) must agree on the
    transform. Raises MapError, with what was found, when they do not, and without GTSAM.
    """
    localizer = Localizer(first, registration, config)
    chosen = even_index(len(second), MAX_TRIED)
    found = [(int(i), localizer.localize(second.keyframes[i].points)) for i in chosen]
    usable = [(i, result) for i, result in found if result.usable]
    transforms = [result.T_map_sensor @ se3.invert(second.poses[i]) for i, result in usable]
    agreeing = _largest_group(transforms, DISTANCE_VOXELS * localizer.voxel_size)
    needed = min(MIN_AGREEING, len(chosen))
    if len(agreeing) < needed:
        raise MapError(
            f"the maps do not overlap enough: {len(usable)} of {len(chosen)} keyframes were found in the first map, "
            f"{len(agreeing)} agree on one transform, {needed} are needed"
        )
    T_first_second = transforms[agreeing[0]]
    links = [usable[k] for k in agreeing]
    return _join(first, second, T_first_second, links), T_first_second


def _largest_group(transforms: list[np.ndarray], distance: float) -> list[int]:
    """Indices of the transforms that are close to one of them, that one first; the largest such group."""
    best: list[int] = []
    for k, candidate in enumerate(transforms):
        group = [k]
        for other, transform in enumerate(transforms):
            apart, angle = se3.difference(candidate, transform)
            if other != k and apart < distance and angle < ANGLE:
                group.append(other)
        best = group if len(group) > len(best) else best
    return best


def _join(
    first: KeyframeMap, second: KeyframeMap, T_first_second: np.ndarray, links: list[tuple[int, LocalizationResult]]
) -> KeyframeMap:
    offset = len(first)
    joined = KeyframeMap(list(first.keyframes), list(first.poses), list(first.constraints))
    for keyframe, pose in zip(second.keyframes, second.poses, strict=True):
        joined.add(keyframe, T_first_second @ pose)
    joined.constraints += [replace(c, first=c.first + offset, second=c.second + offset) for c in second.constraints]
    for index, result in links:
        found, ends = result.registration, (result.keyframe, index + offset)
        covariance = floored(found.covariance)
        joined.constraints.append(PoseConstraint(*ends, found.T_target_source, covariance, is_closure=True))
    joined.poses = optimise(joined)
    return joined
