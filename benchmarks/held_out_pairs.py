"""Labelled pairs of sensors and places that nothing is chosen on: reported once, with final thresholds.

No two places of a survey are alike: rooms, halls, garages and stairs differ in their dimensions, offices in the widths
of their rooms, streets and parks in all that stands there. They share no dimensions with those of `surveys.py`.
"""

from collections.abc import Iterator

from labelled_pair import ORIGIN, Pair
from own_places import own_crowd, own_garage, own_hall, own_park, own_stairs
from pair_cache import cached
from simulated_pairs import survey_pairs
from survey import Survey, Surveys
from verification_data import places_around, tolerance

from prnet_core.simulation.buildings import building, office
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.lidar import DomeLidar, NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import street

SEED = 1613
RINGS_16 = SpinningLidar(16, 1440, -16.0, 12.0, min_range=0.4, max_range=70.0, range_noise=0.024)
RINGS_19 = SpinningLidar(19, 940, -21.0, 13.0, min_range=0.4, max_range=60.0, range_noise=0.019)
RINGS_27 = SpinningLidar(27, 1020, -18.0, 9.0, min_range=0.6, max_range=100.0, range_noise=0.021)
RINGS_44 = SpinningLidar(44, 620, -40.0, 40.0, min_range=0.2, max_range=45.0, range_noise=0.011)
RINGS_96 = SpinningLidar(96, 480, -28.0, 18.0, min_range=0.4, max_range=80.0, range_noise=0.016)
DOME = DomeLidar(16000, elevations_deg=(-7.0, 52.0), rates_hz=(31.7, 389.3), range_noise=0.02)
LIVOX_72 = NonRepetitiveLidar(23000, 72.0, (167.3, -221.9), min_range=0.5, max_range=120.0, range_noise=0.02)
LIVOX_95 = NonRepetitiveLidar(20000, 95.0, (181.1, -237.7), min_range=0.3, max_range=70.0, range_noise=0.017)
TIME_OF_FLIGHT = DepthCamera(320, 240, 205.0, 0.3, 5.5, disparity_noise=0.09, disparity_scale=95.0, bleeding=0.15)
STEREO = DepthCamera(
    320, 200, 180.0, 0.3, 7.0, disparity_noise=0.07, shared_noise=0.07, disparity_scale=26.0, bleeding=0.2, holes=0.03
)  # fmt: skip
HELD_OUT: Surveys = {
    "held out 16 rings in buildings": (building, Survey(RINGS_16, (0.3, 1.1), 50.0, 2, 0.6)),
    "held out 19 rings in a park": (own_park((23.6, 2.15, 3)), Survey(RINGS_19, (0.7, 2.8), 45.0, 2, 0.7)),
    "held out 27 rings in a street": (street, Survey(RINGS_27, (1.0, 4.5), 18.0, 2, 0.5)),
    "held out 44 rings on stairs": (own_stairs((2.19, 0.14, 3)), Survey(RINGS_44, (0.3, 0.9), 45.0, 2, 0.7)),
    "held out 96 rings in a crowd": (
        own_crowd((7.45, 0.36, 3), (8.15, 0.23, 7)),
        Survey(RINGS_96, (0.2, 0.8), 60.0, 2, 0.8),
    ),
    "held out dome in a hall with a closet": (
        own_hall((25.4, 1.35, 3), (15.3, 0.95, 7)),
        Survey(DOME, (0.4, 1.6), 70.0, 2),
    ),
    "held out 72 degree Livox in a street": (street, Survey(LIVOX_72, (0.8, 3.0), 10.0, 2, 0.4)),
    "held out 95 degree Livox in a garage": (
        own_garage((45.7, 2.75, 3), (31.3, 1.55, 7), (2.37, 0.085, 1)),
        Survey(LIVOX_95, (0.4, 1.6), 15.0, 2, 0.5),
    ),
    "held out time of flight in offices": (office, Survey(TIME_OF_FLIGHT, (0.1, 0.4), 12.0, 2, 0.3)),
    "held out stereo in a garage": (
        own_garage((44.7, 3.15, 1), (30.4, 1.65, 3), (2.43, 0.075, 7)),
        Survey(STEREO, (0.1, 0.4), 10.0, 2, 0.3),
    ),
}


def held_out_pairs(name: str) -> list[Pair]:
    """Two pairs of each of ten recordings."""
    return cached(name, SEED, lambda: _held_out_pairs(name))


def held_out_places() -> list[Pair]:
    """600 pairs of different places: six a recording."""
    return cached("held out different places", SEED, lambda: places_around(HELD_OUT, SEED, (1, 2, 3, 4, 5, 6)))


def _held_out_pairs(name: str) -> Iterator[Pair]:
    for scan in survey_pairs(name, SEED, HELD_OUT):
        yield Pair(name, scan.scene, scan.source, scan.target, scan.T_target_source, ORIGIN, ORIGIN, tolerance(name))
