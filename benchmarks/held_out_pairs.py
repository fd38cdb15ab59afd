"""Labelled pairs of sensors and places that nothing is chosen on: reported once, with final thresholds.

No two places of a survey are alike: rooms, halls, garages and stairs differ in their dimensions, offices in the widths
of their rooms, streets and parks in all that stands there.
"""

from collections.abc import Iterator

from labelled_pair import ORIGIN, Pair
from pair_cache import cached
from simulated_pairs import survey_pairs
from surveys import Survey, Surveys
from verification_data import places_around, tolerance

from prnet_core.simulation.buildings import building, office
from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.garage import garage
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import park, street
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room
from prnet_core.simulation.stairs import stairs

SEED = 61
RINGS_14 = SpinningLidar(14, 1500, -18.0, 8.0, min_range=0.5, max_range=80.0, range_noise=0.025)
RINGS_18 = SpinningLidar(18, 1100, -22.0, 10.0, min_range=0.4, max_range=60.0, range_noise=0.03)
RINGS_28 = SpinningLidar(28, 640, -35.0, 35.0, min_range=0.2, max_range=40.0, range_noise=0.012)
RINGS_36 = SpinningLidar(36, 720, -30.0, 15.0, min_range=0.3, max_range=90.0, range_noise=0.02)
RINGS_22 = SpinningLidar(22, 700, -25.0, 25.0, min_range=0.2, max_range=50.0, range_noise=0.018)
LIVOX_90 = NonRepetitiveLidar(18000, 90.0, (173.1, -229.3), min_range=0.3, max_range=80.0, range_noise=0.018)
STRUCTURED_LIGHT = DepthCamera(
    320, 240, 170.0, 0.3, 6.0, disparity_noise=0.1, disparity_scale=70.0, dropout=0.02, holes=0.02
)  # fmt: skip
STEREO = DepthCamera(
    320, 240, 210.0, 0.3, 7.0, disparity_noise=0.07, shared_noise=0.08, disparity_scale=24.0, bleeding=0.2, holes=0.03
)  # fmt: skip


def own_park(seed: int) -> Place:
    return park(seed, radius=22.0 + 3.0 * (seed % 100))


def own_stairs(seed: int) -> Place:
    return stairs(seed, width=2.3 + 0.13 * (seed % 100))


def own_hall(seed: int) -> Place:
    number = seed % 100
    return closet_and_hall(seed, (24.0 + 1.7 * number, 15.0 + 1.1 * ((7 * number) % 10)))


def own_crowd(seed: int) -> Place:
    number = seed % 100
    return crowded_room(seed, (7.6 + 0.4 * number, 8.4 + 0.3 * ((7 * number) % 10)))


def own_garage(seed: int) -> Place:
    number = seed % 100
    return garage(seed, (44.0 + 3.3 * number, 30.0 + 1.7 * ((7 * number) % 10)), 2.3 + 0.1 * ((3 * number) % 10))


def own_building(seed: int) -> Place:
    return building(9000 + seed, rooms_a_side=4, num_twins=0)


HELD_OUT: Surveys = {
    "held out 14 rings in a street": (street, Survey(RINGS_14, (1.0, 4.0), 20.0, 2, 0.5)),
    "held out 18 rings in a park": (own_park, Survey(RINGS_18, (0.8, 2.5), 45.0, 2, 0.8)),
    "held out 28 rings on stairs": (own_stairs, Survey(RINGS_28, (0.3, 0.9), 45.0, 2, 0.8)),
    "held out 36 rings in a hall": (own_hall, Survey(RINGS_36, (0.4, 1.8), 90.0, 2)),
    "held out 22 rings in a crowd": (own_crowd, Survey(RINGS_22, (0.2, 0.9), 60.0, 2, 1.0)),
    "held out 90 degree Livox in a garage": (own_garage, Survey(LIVOX_90, (0.4, 1.6), 15.0, 2, 0.5)),
    "held out structured light in a building": (own_building, Survey(STRUCTURED_LIGHT, (0.1, 0.4), 12.0, 2, 0.3)),
    "held out stereo in offices": (office, Survey(STEREO, (0.1, 0.35), 10.0, 2, 0.3)),
}


def held_out_pairs(name: str) -> list[Pair]:
    """Two pairs of each of ten recordings."""
    return cached(name, SEED, lambda: _held_out_pairs(name))


def held_out_places() -> list[Pair]:
    """240 pairs of different places: three a recording."""
    return cached("held out different places", SEED, lambda: places_around(HELD_OUT, SEED))


def _held_out_pairs(name: str) -> Iterator[Pair]:
    for scan in survey_pairs(name, SEED, HELD_OUT):
        yield Pair(name, scan.scene, scan.source, scan.target, scan.T_target_source, ORIGIN, ORIGIN, tolerance(name))
