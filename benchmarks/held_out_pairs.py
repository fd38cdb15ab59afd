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

from prnet_core.simulation.buildings import office
from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.garage import garage
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import park, street
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room
from prnet_core.simulation.stairs import stairs

SEED = 31
RINGS_48 = SpinningLidar(48, 480, -30.0, 22.0, min_range=0.2, max_range=40.0, range_noise=0.012)
RINGS_20 = SpinningLidar(20, 1000, -20.0, 12.0, min_range=0.5, max_range=70.0, range_noise=0.025)
RINGS_24 = SpinningLidar(24, 840, -20.0, 25.0, min_range=0.3, max_range=80.0, range_noise=0.015)
RINGS_16 = SpinningLidar(16, 1200, -12.0, 12.0, min_range=0.5, max_range=60.0, range_noise=0.035)
LIVOX_50 = NonRepetitiveLidar(14000, 50.0, min_range=1.0, max_range=150.0, range_noise=0.015)
LIVOX_110 = NonRepetitiveLidar(22000, 110.0, (211.3, -190.7), min_range=0.2, max_range=50.0, range_noise=0.015)
STRUCTURED_LIGHT = DepthCamera(
    320, 200, 228.0, 0.4, 5.0, disparity_noise=0.12, disparity_scale=55.0, dropout=0.03, holes=0.02
)  # fmt: skip
STEREO = DepthCamera(
    320, 200, 190.0, 0.25, 5.0, disparity_noise=0.08, shared_noise=0.08, disparity_scale=19.0, bleeding=0.2, holes=0.04
)  # fmt: skip


def own_crowd(seed: int) -> Place:
    number = seed % 100
    return crowded_room(seed, (8.2 + 0.35 * number, 7.2 + 0.25 * ((3 * number) % 10)))


def own_hall(seed: int) -> Place:
    number = seed % 100
    return closet_and_hall(seed, (27.0 + 1.3 * number, 17.0 + 0.9 * ((3 * number) % 10)))


def own_garage(seed: int) -> Place:
    number = seed % 100
    return garage(seed, (46.0 + 3.0 * number, 32.0 + 1.5 * ((3 * number) % 10)), 2.4 + 0.09 * ((7 * number) % 10))


def own_stairs(seed: int) -> Place:
    return stairs(seed, width=2.1 + 0.16 * (seed % 100))


def own_park(seed: int) -> Place:
    return park(seed, radius=24.0 + 2.5 * (seed % 100))


HELD_OUT: Surveys = {
    "held out 48 rings in a crowd": (own_crowd, Survey(RINGS_48, (0.2, 0.9), 60.0, 2, 0.8)),
    "held out 20 rings in a park": (own_park, Survey(RINGS_20, (0.8, 3.0), 40.0, 2, 0.7)),
    "held out 24 rings in a hall": (own_hall, Survey(RINGS_24, (0.3, 1.5), 60.0, 2)),
    "held out 16 rings in a garage": (own_garage, Survey(RINGS_16, (0.4, 1.8), 50.0, 2, 0.5)),
    "held out 50 degree Livox": (street, Survey(LIVOX_50, (0.8, 3.0), 7.0, 2, 0.4)),
    "held out 110 degree Livox": (office, Survey(LIVOX_110, (0.2, 0.8), 20.0, 2, 0.6)),
    "held out structured light": (office, Survey(STRUCTURED_LIGHT, (0.1, 0.4), 10.0, 2, 0.3)),
    "held out stereo on stairs": (own_stairs, Survey(STEREO, (0.1, 0.35), 10.0, 2, 0.3)),
}


def held_out_pairs(name: str) -> list[Pair]:
    """Two pairs of each of ten recordings."""
    return cached(name, SEED, lambda: _held_out_pairs(name))


def held_out_places() -> list[Pair]:
    """240 pairs of different places: three a recording."""
    return cached("held out different places", SEED, lambda: places_around(HELD_OUT, SEED))


def further_places() -> list[Pair]:
    """80 more, one a recording."""
    return cached("held out further places", SEED, lambda: places_around(HELD_OUT, SEED, (4,)))


def _held_out_pairs(name: str) -> Iterator[Pair]:
    for scan in survey_pairs(name, SEED, HELD_OUT):
        yield Pair(name, scan.scene, scan.source, scan.target, scan.T_target_source, ORIGIN, ORIGIN, tolerance(name))
