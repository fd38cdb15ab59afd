"""Labelled pairs of clouds without a sensor origin: fused depth images of simulated rooms, and views of objects."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from labelled_pair import Pair
from pair_cache import cached
from registration_data import SCANS

from prnet_core.geometry import se3
from prnet_core.geometry.overlap import mutual_overlap
from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.cluttered_rooms import cluttered_room
from prnet_core.simulation.fragments import room_fragments
from prnet_core.simulation.views import View

NUM_ROOMS, HELD_OUT_ROOMS = 12, 100  # rooms, and the first of those that nothing is chosen on
NEAR, MIN_OVERLAP, MAX_OVERLAP = 0.075, 0.1, 0.7  # metres; of the smaller of the two overlaps
TOLERANCE, OBJECT_TOLERANCE = (5.0, 0.3), (8.0, 0.08)
NUM_OBJECTS, OBJECT_POINTS, OBJECT_NOISE = 100, 1200, 0.004


def fused_pairs(group: str, first_room: int = 0) -> list[Pair]:
    """Pairs of fused depth images (`room_fragments`) of one room, overlap 0.1 to 0.7, the source rotated at random."""
    return cached(group, first_room, lambda: _fused_pairs(group, first_room))


def different_fused(group: str, first_room: int = 0) -> list[Pair]:
    """Pairs of fused depth images of two rooms: two fragments of each and of each of the next three rooms."""
    return cached(group, first_room, lambda: _different_fused(group, first_room))


def object_pairs() -> Iterator[Pair]:
    """Two partial views of one ModelNet40 shape of ../shared/data, sampled twice, with noise, rotated at random.

    Many shapes are symmetric or nearly so.
    """
    with np.load(SCANS.parent / "shapes" / "modelnet40.npz", allow_pickle=False) as archive:
        points, classes = archive["points"], archive["classes"]
    rng = np.random.default_rng(5)
    for number in range(NUM_OBJECTS):
        index = rng.integers(len(points))
        cloud, order = points[index].astype(np.float64), rng.permutation(points.shape[1])
        direction = rng.normal(size=3)
        views = []
        for part, towards in (
            (order[:OBJECT_POINTS], direction),
            (order[-OBJECT_POINTS:], direction + 0.8 * rng.normal(size=3)),
        ):
            seen = cloud[part] + rng.normal(0.0, OBJECT_NOISE, (OBJECT_POINTS, 3))
            views.append(seen[np.argsort(seen @ towards)[: OBJECT_POINTS * 3 // 4]])
        rotation = se3.make_transform(any_rotation(rng), np.zeros(3))
        name = f"{classes[index]} {number}"
        source = se3.apply(rotation, views[0])
        yield Pair("object views", name, source, views[1], se3.invert(rotation), tolerance=OBJECT_TOLERANCE)


def _fused_pairs(group: str, first_room: int) -> Iterator[Pair]:
    for room in range(first_room, first_room + NUM_ROOMS):
        fragments = _fragments(room)
        rng = np.random.default_rng([room, 778])
        for source, target in combinations(fragments, 2):
            clouds = source.points[::3], target.points[::3]
            if MIN_OVERLAP < mutual_overlap(*clouds, NEAR) < MAX_OVERLAP:
                rotation = se3.make_transform(any_rotation(rng), np.zeros(3))
                relative = se3.invert(target.T_world_sensor) @ source.T_world_sensor @ se3.invert(rotation)
                own = se3.apply(rotation, _in_its_frame(source))
                yield Pair(group, f"room {room}", own, _in_its_frame(target), relative, tolerance=TOLERANCE)


def _different_fused(group: str, first_room: int) -> Iterator[Pair]:
    rooms = [_fragments(room) for room in range(first_room, first_room + NUM_ROOMS)]
    for number, fragments in enumerate(rooms):
        for step in (1, 2, 3):
            for source, target in zip(fragments[:2], rooms[(number + step) % NUM_ROOMS][:2], strict=False):
                yield Pair(group, f"room {first_room + number}", _in_its_frame(source), _in_its_frame(target), None)


def _fragments(room: int) -> list[View]:
    rng = np.random.default_rng([room, 777])
    return room_fragments(cluttered_room(rng), rng)


def _in_its_frame(view: View) -> np.ndarray:
    return se3.apply(se3.invert(view.T_world_sensor), view.points)
