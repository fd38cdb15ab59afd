"""Labelled pairs of sensors and places that nothing is chosen on: reported once, with final thresholds."""

from collections.abc import Iterator

from labelled_pair import ORIGIN, Pair
from simulated_pairs import Survey, Surveys, single_scans, survey_pairs

from prnet_core.simulation.buildings import building
from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.garage import garage
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import street
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room, table_place
from prnet_core.simulation.stairs import stairs

SEED = 23
NARROW_TIME_OF_FLIGHT = DepthCamera(
    320, 266, 208.5, 0.5, 5.5, disparity_noise=0.1, disparity_scale=120.0, bleeding=0.2
)  # fmt: skip
WIDE_TIME_OF_FLIGHT = DepthCamera(320, 320, 92.4, 0.25, 2.9, disparity_noise=0.1, disparity_scale=60.0, bleeding=0.2)
WIDE_STEREO = DepthCamera(
    320, 180, 168.0, 0.3, 6.0, disparity_noise=0.06, shared_noise=0.08, disparity_scale=20.0, bleeding=0.3, holes=0.03
)  # fmt: skip
CLOSE_STEREO = DepthCamera(
    320, 200, 170.0, 0.1, 1.5, disparity_noise=0.1, shared_noise=0.1, disparity_scale=8.0, subpixels=32.0, bleeding=0.3
)  # fmt: skip
WIDE_LIVOX = NonRepetitiveLidar(24000, 77.0, min_range=1.0, max_range=190.0, range_noise=0.02)
NARROW_LIVOX = NonRepetitiveLidar(10000, 38.4, min_range=1.0, range_noise=0.02)
RINGS_40 = SpinningLidar(40, 600, -25.0, 15.0, min_range=0.3, max_range=200.0, range_noise=0.02)
RINGS_16 = SpinningLidar(16, 1024, -15.0, 15.0, min_range=0.5, max_range=100.0, range_noise=0.03)


def small_building(seed: int) -> Place:
    """Two floors of four rooms on each side of a corridor, and a stairwell."""
    return building(5000 + seed, rooms_a_side=4, num_twins=0)


HELD_OUT: Surveys = {
    "held out time of flight": (small_building, Survey(NARROW_TIME_OF_FLIGHT, (0.1, 0.4), 12.0, 2, 0.3)),
    "held out wide time of flight": (crowded_room, Survey(WIDE_TIME_OF_FLIGHT, (0.1, 0.5), 15.0, 2, 0.3)),
    "held out wide stereo": (stairs, Survey(WIDE_STEREO, (0.1, 0.4), 12.0, 2, 0.3)),
    "held out close stereo": (table_place, Survey(CLOSE_STEREO, (0.03, 0.2), 5.0, 2)),
    "held out wide Livox": (street, Survey(WIDE_LIVOX, (1.0, 4.0), 10.0, 2, 0.5)),
    "held out narrow Livox": (garage, Survey(NARROW_LIVOX, (0.3, 1.2), 6.0, 2, 0.5)),
    "held out 40 rings": (closet_and_hall, Survey(RINGS_40, (0.3, 1.5), 60.0, 2)),
    "held out 16 rings": (small_building, Survey(RINGS_16, (0.3, 1.0), 45.0, 2, 0.5)),
}


def held_out_pairs(name: str) -> Iterator[Pair]:
    """Two pairs of each of ten recordings."""
    tolerance = (3.0, 0.05) if name == "held out close stereo" else (2.0, 0.3)
    for scan in survey_pairs(name, SEED, HELD_OUT):
        yield Pair(name, scan.scene, scan.source, scan.target, scan.T_target_source, ORIGIN, ORIGIN, tolerance)


def held_out_places() -> Iterator[Pair]:
    """Pairs of different places: every recording of a sensor with the next three, the last with the first again.

    Not of the halls, whose walls and columns are equal.
    """
    for group in [name for name in HELD_OUT if name != "held out 40 rings"]:
        recordings = list(single_scans(group, 2, SEED, HELD_OUT))
        for number, (name, scans) in enumerate(recordings):
            for step in (1, 2, 3):
                other, others = recordings[(number + step) % len(recordings)]
                source, target = scans[0][0], others[step % 2][0]
                yield Pair(group, f"{name}, {other}", source, target, None, ORIGIN, ORIGIN)
