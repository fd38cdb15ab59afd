"""Surveys that were held out until 2026-11-29, for development since.

No two places of a survey are alike: rooms, halls, garages and stairs differ in their dimensions, offices in the widths
of their rooms, streets and parks in all that stands there. They share no dimensions with those of `surveys.py`.
"""

from own_places import own_crowd, own_garage, own_hall, own_park, own_stairs
from survey import Survey, Surveys

from prnet_core.simulation.buildings import building, office
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.lidar import DomeLidar, NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import street

SEED_NINTH = 83  # of the places of `NINTH_SURVEYS`
RINGS_17 = SpinningLidar(17, 1700, -17.0, 7.0, min_range=0.5, max_range=90.0, range_noise=0.028)
RINGS_21 = SpinningLidar(21, 780, -32.0, 32.0, min_range=0.2, max_range=35.0, range_noise=0.014)
RINGS_26 = SpinningLidar(26, 860, -28.0, 14.0, min_range=0.25, max_range=45.0, range_noise=0.016)
RINGS_30 = SpinningLidar(30, 950, -26.0, 12.0, min_range=0.4, max_range=70.0, range_noise=0.022)
RINGS_56 = SpinningLidar(56, 560, -35.0, 30.0, min_range=0.3, max_range=70.0, range_noise=0.013)
DOME = SpinningLidar(42, 700, -5.0, 60.0, min_range=0.3, max_range=60.0, range_noise=0.015)
LIVOX_60 = NonRepetitiveLidar(17000, 60.0, (156.7, -203.1), min_range=0.3, max_range=60.0, range_noise=0.016)
LIVOX_100 = NonRepetitiveLidar(21000, 100.0, (187.9, -243.3), min_range=1.0, max_range=120.0, range_noise=0.02)
TIME_OF_FLIGHT = DepthCamera(320, 240, 195.0, 0.2, 5.0, disparity_noise=0.1, disparity_scale=90.0, bleeding=0.15)
STEREO = DepthCamera(
    320, 220, 185.0, 0.25, 6.0, disparity_noise=0.08, shared_noise=0.08, disparity_scale=21.0, bleeding=0.25, holes=0.03
)  # fmt: skip
NINTH_SURVEYS: Surveys = {
    "17 rings in a street": (street, Survey(RINGS_17, (1.0, 4.5), 20.0, 2, 0.5)),
    "21 rings on stairs": (own_stairs((2.23, 0.11, 1)), Survey(RINGS_21, (0.3, 0.9), 45.0, 2, 0.7)),
    "26 rings in offices": (office, Survey(RINGS_26, (0.3, 1.3), 60.0, 2, 0.7)),
    "30 rings in a park": (own_park((23.3, 2.7, 1)), Survey(RINGS_30, (0.8, 3.0), 45.0, 2, 0.8)),
    "56 rings in a garage": (
        own_garage((45.1, 3.1, 1), (31.2, 1.6, 7), (2.35, 0.09, 3)),
        Survey(RINGS_56, (0.4, 2.0), 60.0, 2, 0.5),
    ),
    "dome in a hall": (own_hall((25.1, 1.5, 1), (16.3, 1.0, 3)), Survey(DOME, (0.4, 1.6), 80.0, 2)),
    "60 degree Livox in a crowd": (
        own_crowd((7.9, 0.37, 1), (7.5, 0.28, 7)),
        Survey(LIVOX_60, (0.2, 0.8), 15.0, 2, 0.6),
    ),
    "100 degree Livox in a street": (street, Survey(LIVOX_100, (1.0, 3.5), 12.0, 2, 0.4)),
    "time of flight in offices": (office, Survey(TIME_OF_FLIGHT, (0.1, 0.4), 12.0, 2, 0.3)),
    "stereo in a crowd": (
        own_crowd((8.1, 0.41, 1), (7.7, 0.26, 3)),
        Survey(STEREO, (0.1, 0.35), 12.0, 2, 0.6),
    ),
}

SEED_TENTH = 1207  # of the places of `TENTH_SURVEYS`
RINGS_10 = SpinningLidar(10, 1000, -22.0, 22.0, min_range=0.3, max_range=50.0, range_noise=0.018)
RINGS_12 = SpinningLidar(12, 800, -20.0, 16.0, min_range=0.3, max_range=70.0, range_noise=0.022)
RINGS_16 = SpinningLidar(16, 1100, -24.0, 6.0, min_range=0.5, max_range=90.0, range_noise=0.025)
RINGS_24 = SpinningLidar(24, 800, -30.0, 20.0, min_range=0.2, max_range=50.0, range_noise=0.015)
RINGS_80 = SpinningLidar(80, 700, -30.0, 15.0, min_range=0.5, max_range=100.0, range_noise=0.02)
WIDE_DOME = DomeLidar(18000, elevations_deg=(-15.0, 45.0), rates_hz=(29.3, 403.1), range_noise=0.022)
LIVOX_55 = NonRepetitiveLidar(19000, 55.0, (149.3, -197.9), min_range=0.4, max_range=80.0, range_noise=0.018)
LIVOX_85 = NonRepetitiveLidar(22000, 85.0, (191.7, -251.9), min_range=0.4, max_range=90.0, range_noise=0.02)
STRUCTURED_LIGHT = DepthCamera(320, 240, 250.0, 0.3, 5.0, disparity_noise=0.08, disparity_scale=75.0, dropout=0.02)
HALL_STEREO = DepthCamera(
    320, 240, 190.0, 0.3, 9.0, disparity_noise=0.06, shared_noise=0.06, disparity_scale=30.0, bleeding=0.2, holes=0.02
)  # fmt: skip
TENTH_SURVEYS: Surveys = {
    "10 rings on stairs": (own_stairs((2.17, 0.13, 1)), Survey(RINGS_10, (0.3, 0.9), 45.0, 2, 0.6)),
    "12 rings in a garage": (
        own_garage((46.7, 2.6, 1), (30.1, 1.8, 7), (2.33, 0.1, 3)),
        Survey(RINGS_12, (0.4, 2.0), 60.0, 2, 0.5),
    ),
    "16 rings in a park": (own_park((22.7, 2.3, 1)), Survey(RINGS_16, (0.8, 3.0), 45.0, 2, 0.8)),
    "24 rings in a crowd": (
        own_crowd((7.3, 0.39, 1), (7.9, 0.31, 7)),
        Survey(RINGS_24, (0.2, 0.8), 60.0, 2, 0.8),
    ),
    "80 rings in a street": (street, Survey(RINGS_80, (1.0, 5.0), 15.0, 2, 0.5)),
    "dome in buildings": (building, Survey(WIDE_DOME, (0.3, 1.2), 60.0, 2, 0.6)),
    "55 degree Livox in a hall": (
        own_hall((25.7, 1.2, 1), (15.7, 0.9, 3)),
        Survey(LIVOX_55, (0.2, 0.8), 15.0, 2),
    ),
    "85 degree Livox in a park": (own_park((23.9, 2.6, 3)), Survey(LIVOX_85, (0.5, 2.0), 15.0, 2, 0.6)),
    "structured light on stairs": (
        own_stairs((2.27, 0.12, 1)),
        Survey(STRUCTURED_LIGHT, (0.1, 0.4), 10.0, 2, 0.3),
    ),
    "stereo in a hall": (own_hall((26.9, 1.4, 1), (14.9, 1.1, 3)), Survey(HALL_STEREO, (0.1, 0.4), 10.0, 2)),
}
