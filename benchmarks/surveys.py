"""Surveys of the verification benchmark: kinds of places with a sensor each, ten recordings a survey.

`SURVEYS` were chosen on from the beginning. The others were held out at first, `LATER_SURVEYS` until 2026-11-28,
`THIRD_SURVEYS`, `FOURTH_SURVEYS`, `SIXTH_SURVEYS`, `NINTH_SURVEYS` and `TENTH_SURVEYS` until 2026-11-29, and are for
development since; `FIFTH_SURVEYS`, `SEVENTH_SURVEYS` and `EIGHTH_SURVEYS` were never.
"""

from later_surveys import NINTH_SURVEYS, SEED_NINTH, SEED_TENTH, TENTH_SURVEYS
from own_places import own_crowd, own_garage, own_hall, own_park, own_stairs
from survey import Survey, Surveys

from prnet_core.simulation.buildings import building, office
from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.garage import garage
from prnet_core.simulation.lidar import DomeLidar, NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import park, street
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room, table_place
from prnet_core.simulation.stairs import stairs

LIDAR_32 = SpinningLidar(columns=720, min_range=0.3, max_range=60.0)
LIDAR_64 = SpinningLidar(64, 720, -22.5, 15.0, min_range=0.5, max_range=80.0, range_noise=0.015)
SURVEYS: Surveys = {
    "offices": (office, Survey(LIDAR_32, (0.3, 1.5), 60.0, seconds=1.0)),
    "street": (street, Survey(LIDAR_64, (2.0, 7.0), 10.0, seconds=0.5)),
    "stairs": (stairs, Survey(LIDAR_32, (0.3, 1.0), 45.0, seconds=1.0)),
    "crowd": (crowded_room, Survey(LIDAR_32, (0.2, 0.8), 60.0, seconds=1.0)),
    "park": (park, Survey(LIDAR_32, (1.0, 4.0), 45.0, seconds=1.0)),
    "garage": (garage, Survey(NonRepetitiveLidar(), (0.5, 2.0), 15.0, seconds=0.5)),
    "table top": (table_place, Survey(DepthCamera.table_top_stereo(), (0.1, 0.45), 4.0)),
    "depth camera": (office, Survey(DepthCamera.kinect_like(), (0.1, 0.4), 10.0, seconds=0.3)),
}
SEED_LATER = 7  # of the places of
LATER_SURVEYS: Surveys = {
    "16 rings": (
        office,
        Survey(
            SpinningLidar(16, 900, -15.0, 15.0, min_range=0.4, max_range=100.0, range_noise=0.02), (0.3, 1.2), 45.0, 2
        ),
    ),
    "64 rings": (
        garage,
        Survey(SpinningLidar(64, 512, -45.0, 45.0, min_range=0.3, max_range=90.0), (0.5, 2.0), 60.0, 2, 0.5),
    ),
    "128 rings": (
        street,
        Survey(SpinningLidar(128, 360, -25.0, 15.0, min_range=1.0, max_range=150.0), (1.0, 5.0), 20.0, 2, 0.5),
    ),
    "Livox on stairs": (stairs, Survey(NonRepetitiveLidar(), (0.2, 0.6), 10.0, 2, 0.5)),
    "stereo camera": (
        office,
        Survey(
            DepthCamera(
                320, 240, 300.0, 0.4, 8.0, disparity_noise=0.08, shared_noise=0.1, disparity_scale=28.0, bleeding=0.3
            ),
            (0.1, 0.4),
            10.0,
            2,
            0.3,
        ),
    ),
    "near stereo": (
        table_place,
        Survey(
            DepthCamera(
                320, 240, 230.0, 0.15, 2.0, disparity_noise=0.2, shared_noise=0.15, disparity_scale=14.0, holes=0.05
            ),
            (0.05, 0.3),
            5.0,
            2,
        ),
    ),
}

SEED_THIRD = 23  # of the places of `THIRD_SURVEYS`
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


THIRD_SURVEYS: Surveys = {
    "time of flight": (small_building, Survey(NARROW_TIME_OF_FLIGHT, (0.1, 0.4), 12.0, 2, 0.3)),
    "wide time of flight": (crowded_room, Survey(WIDE_TIME_OF_FLIGHT, (0.1, 0.5), 15.0, 2, 0.3)),
    "wide stereo": (stairs, Survey(WIDE_STEREO, (0.1, 0.4), 12.0, 2, 0.3)),
    "close stereo": (table_place, Survey(CLOSE_STEREO, (0.03, 0.2), 5.0, 2)),
    "wide Livox": (street, Survey(WIDE_LIVOX, (1.0, 4.0), 10.0, 2, 0.5)),
    "narrow Livox": (garage, Survey(NARROW_LIVOX, (0.3, 1.2), 6.0, 2, 0.5)),
    "40 rings": (closet_and_hall, Survey(RINGS_40, (0.3, 1.5), 60.0, 2)),
    "16 rings in buildings": (small_building, Survey(RINGS_16, (0.3, 1.0), 45.0, 2, 0.5)),
}

SEED_FOURTH = 31  # of the places of `FOURTH_SURVEYS`: no two of a survey have equal dimensions
RINGS_48 = SpinningLidar(48, 480, -30.0, 22.0, min_range=0.2, max_range=40.0, range_noise=0.012)
RINGS_20 = SpinningLidar(20, 1000, -20.0, 12.0, min_range=0.5, max_range=70.0, range_noise=0.025)
RINGS_24 = SpinningLidar(24, 840, -20.0, 25.0, min_range=0.3, max_range=80.0, range_noise=0.015)
GARAGE_RINGS_16 = SpinningLidar(16, 1200, -12.0, 12.0, min_range=0.5, max_range=60.0, range_noise=0.035)
LIVOX_50 = NonRepetitiveLidar(14000, 50.0, min_range=1.0, max_range=150.0, range_noise=0.015)
LIVOX_110 = NonRepetitiveLidar(22000, 110.0, (211.3, -190.7), min_range=0.2, max_range=50.0, range_noise=0.015)
STRUCTURED_LIGHT = DepthCamera(
    320, 200, 228.0, 0.4, 5.0, disparity_noise=0.12, disparity_scale=55.0, dropout=0.03, holes=0.02
)  # fmt: skip
STAIRS_STEREO = DepthCamera(
    320, 200, 190.0, 0.25, 5.0, disparity_noise=0.08, shared_noise=0.08, disparity_scale=19.0, bleeding=0.2, holes=0.04
)  # fmt: skip


OWN_CROWD = own_crowd((8.2, 0.35, 1), (7.2, 0.25, 3))
OWN_HALL = own_hall((27.0, 1.3, 1), (17.0, 0.9, 3))
OWN_GARAGE = own_garage((46.0, 3.0, 1), (32.0, 1.5, 3), (2.4, 0.09, 7))
OWN_STAIRS = own_stairs((2.1, 0.16, 1))
OWN_PARK = own_park((24.0, 2.5, 1))
FOURTH_SURVEYS: Surveys = {
    "48 rings in a crowd": (OWN_CROWD, Survey(RINGS_48, (0.2, 0.9), 60.0, 2, 0.8)),
    "20 rings in a park": (OWN_PARK, Survey(RINGS_20, (0.8, 3.0), 40.0, 2, 0.7)),
    "24 rings in a hall": (OWN_HALL, Survey(RINGS_24, (0.3, 1.5), 60.0, 2)),
    "16 rings in a garage": (OWN_GARAGE, Survey(GARAGE_RINGS_16, (0.4, 1.8), 50.0, 2, 0.5)),
    "50 degree Livox": (street, Survey(LIVOX_50, (0.8, 3.0), 7.0, 2, 0.4)),
    "110 degree Livox": (office, Survey(LIVOX_110, (0.2, 0.8), 20.0, 2, 0.6)),
    "structured light": (office, Survey(STRUCTURED_LIGHT, (0.1, 0.4), 10.0, 2, 0.3)),
    "stereo on stairs": (OWN_STAIRS, Survey(STAIRS_STEREO, (0.1, 0.35), 10.0, 2, 0.3)),
}

SEED_FIFTH = 47  # of the places of `FIFTH_SURVEYS`: few rings outdoors, and further sensors in kinds of places above
STREET_RINGS_16 = SpinningLidar(16, 1800, -15.0, 15.0, min_range=0.5, max_range=100.0, range_noise=0.03)
PARK_RINGS_12 = SpinningLidar(12, 1200, -16.0, 8.0, min_range=0.5, max_range=60.0, range_noise=0.02)
OFFICE_RINGS_20 = SpinningLidar(20, 900, -20.0, 20.0, min_range=0.2, max_range=50.0, range_noise=0.02)
CROWD_LIVOX = NonRepetitiveLidar(20000, 70.0, min_range=0.3, max_range=60.0, range_noise=0.02)
STAIRS_CAMERA = DepthCamera(320, 240, 230.0, 0.3, 6.0, disparity_noise=0.1, disparity_scale=60.0, dropout=0.02)
FIFTH_SURVEYS: Surveys = {
    "16 rings in a street": (street, Survey(STREET_RINGS_16, (1.0, 5.0), 20.0, 2, 0.5)),
    "12 rings in a park": (OWN_PARK, Survey(PARK_RINGS_12, (0.8, 3.0), 40.0, 2, 0.7)),
    "20 rings in offices": (office, Survey(OFFICE_RINGS_20, (0.3, 1.2), 60.0, 2, 0.7)),
    "Livox in a crowd": (OWN_CROWD, Survey(CROWD_LIVOX, (0.2, 0.8), 15.0, 2, 0.6)),
    "depth camera on stairs": (OWN_STAIRS, Survey(STAIRS_CAMERA, (0.1, 0.4), 12.0, 2, 0.3)),
}

SEED_SIXTH = 61  # of the places of `SIXTH_SURVEYS`
RINGS_14 = SpinningLidar(14, 1500, -18.0, 8.0, min_range=0.5, max_range=80.0, range_noise=0.025)
RINGS_18 = SpinningLidar(18, 1100, -22.0, 10.0, min_range=0.4, max_range=60.0, range_noise=0.03)
RINGS_28 = SpinningLidar(28, 640, -35.0, 35.0, min_range=0.2, max_range=40.0, range_noise=0.012)
RINGS_36 = SpinningLidar(36, 720, -30.0, 15.0, min_range=0.3, max_range=90.0, range_noise=0.02)
RINGS_22 = SpinningLidar(22, 700, -25.0, 25.0, min_range=0.2, max_range=50.0, range_noise=0.018)
LIVOX_90 = NonRepetitiveLidar(18000, 90.0, (173.1, -229.3), min_range=0.3, max_range=80.0, range_noise=0.018)
BUILDING_CAMERA = DepthCamera(
    320, 240, 170.0, 0.3, 6.0, disparity_noise=0.1, disparity_scale=70.0, dropout=0.02, holes=0.02
)  # fmt: skip
OFFICE_STEREO = DepthCamera(
    320, 240, 210.0, 0.3, 7.0, disparity_noise=0.07, shared_noise=0.08, disparity_scale=24.0, bleeding=0.2, holes=0.03
)  # fmt: skip


def own_building(seed: int) -> Place:
    return building(9000 + seed, rooms_a_side=4, num_twins=0)


SIXTH_SURVEYS: Surveys = {
    "14 rings in a street": (street, Survey(RINGS_14, (1.0, 4.0), 20.0, 2, 0.5)),
    "18 rings in a park": (own_park((22.0, 3.0, 1)), Survey(RINGS_18, (0.8, 2.5), 45.0, 2, 0.8)),
    "28 rings on stairs": (own_stairs((2.3, 0.13, 1)), Survey(RINGS_28, (0.3, 0.9), 45.0, 2, 0.8)),
    "36 rings in a hall": (own_hall((24.0, 1.7, 1), (15.0, 1.1, 7)), Survey(RINGS_36, (0.4, 1.8), 90.0, 2)),
    "22 rings in a crowd": (own_crowd((7.6, 0.4, 1), (8.4, 0.3, 7)), Survey(RINGS_22, (0.2, 0.9), 60.0, 2, 1.0)),
    "90 degree Livox in a garage": (
        own_garage((44.0, 3.3, 1), (30.0, 1.7, 7), (2.3, 0.1, 3)),
        Survey(LIVOX_90, (0.4, 1.6), 15.0, 2, 0.5),
    ),
    "structured light in a building": (own_building, Survey(BUILDING_CAMERA, (0.1, 0.4), 12.0, 2, 0.3)),
    "stereo in offices": (office, Survey(OFFICE_STEREO, (0.1, 0.35), 10.0, 2, 0.3)),
}

SEED_SEVENTH = 901  # of the places of `SEVENTH_SURVEYS`: few rings
RINGS_10 = SpinningLidar(10, 900, -20.0, 10.0, min_range=0.4, max_range=80.0, range_noise=0.02)
RINGS_11 = SpinningLidar(11, 1500, -16.0, 5.0, min_range=0.4, max_range=80.0, range_noise=0.02)
RINGS_13 = SpinningLidar(13, 700, -25.0, 15.0, min_range=0.4, max_range=80.0, range_noise=0.02)
STAIRS_RINGS_14 = SpinningLidar(14, 700, -30.0, 30.0, min_range=0.4, max_range=80.0, range_noise=0.015)
RINGS_15 = SpinningLidar(15, 800, -25.0, 12.0, min_range=0.4, max_range=80.0, range_noise=0.02)
LIVOX_75 = NonRepetitiveLidar(20000, 75.0, (163.7, -211.1), min_range=0.5, max_range=90.0, range_noise=0.02)
SEVENTH_SURVEYS: Surveys = {
    "10 rings in a park": (own_park((24.1, 2.9, 1)), Survey(RINGS_10, (0.6, 2.5), 45.0, 2, 0.8)),
    "15 rings in a park": (own_park((22.3, 2.1, 3)), Survey(RINGS_15, (0.6, 2.5), 45.0, 2, 0.8)),
    "11 rings in a street": (street, Survey(RINGS_11, (1.0, 4.0), 20.0, 2, 0.5)),
    "13 rings in a garage": (
        own_garage((44.3, 3.3, 1), (30.7, 1.7, 7), (2.4, 0.08, 3)),
        Survey(RINGS_13, (0.4, 2.0), 60.0, 2, 0.5),
    ),
    "14 rings on stairs": (own_stairs((2.3, 0.1, 1)), Survey(STAIRS_RINGS_14, (0.3, 0.9), 45.0, 2, 0.7)),
    "75 degree Livox in a park": (own_park((23.7, 2.4, 3)), Survey(LIVOX_75, (0.5, 2.0), 15.0, 2, 0.8)),
}

SEED_EIGHTH = 905  # of the places of `EIGHTH_SURVEYS`: domes, and further sensors in kinds of places above
DOME = DomeLidar(12000)
RINGS_8 = SpinningLidar(8, 1200, -12.0, 12.0, min_range=0.4, max_range=80.0, range_noise=0.015)
RINGS_9 = SpinningLidar(9, 1800, -14.0, 4.0, min_range=0.4, max_range=80.0, range_noise=0.02)
HALL_RINGS_16 = SpinningLidar(16, 1000, -15.0, 15.0, min_range=0.4, max_range=80.0, range_noise=0.02)
CROWD_RINGS_16 = SpinningLidar(16, 900, -15.0, 15.0, min_range=0.4, max_range=80.0, range_noise=0.02)
STREET_RINGS_128 = SpinningLidar(128, 1024, -25.0, 15.0, min_range=0.4, max_range=80.0, range_noise=0.015)
LIVOX_40 = NonRepetitiveLidar(20000, 40.0, (151.0, -207.0), min_range=0.3, max_range=60.0, range_noise=0.02)
LIVOX_120 = NonRepetitiveLidar(24000, 120.0, (161.0, -217.0), min_range=0.3, max_range=60.0, range_noise=0.02)
FLASH = DepthCamera(320, 240, 190.0, 0.3, 12.0, disparity_noise=0.05, disparity_scale=120.0)
GARAGE_STEREO = DepthCamera(
    320, 240, 200.0, 0.3, 8.0, disparity_noise=0.08, shared_noise=0.08, disparity_scale=25.0, bleeding=0.2
)  # fmt: skip
EIGHTH_HALL = own_hall((26.3, 1.1, 1), (16.2, 0.8, 3))
EIGHTH_CROWD = own_crowd((7.2, 0.33, 1), (8.1, 0.27, 3))
EIGHTH_GARAGE = own_garage((45.3, 2.9, 1), (31.7, 1.4, 7), (2.45, 0.07, 3))
EIGHTH_SURVEYS: Surveys = {
    "dome in offices": (office, Survey(DOME, (0.3, 1.2), 60.0, 2, 0.6)),
    "dome in a park": (own_park((23.1, 2.2, 1)), Survey(DOME, (0.6, 2.5), 45.0, 2, 0.6)),
    "dome in a garage": (EIGHTH_GARAGE, Survey(DOME, (0.4, 2.0), 60.0, 2, 0.5)),
    "dome in a crowd": (EIGHTH_CROWD, Survey(DOME, (0.2, 0.8), 60.0, 2, 0.6)),
    "8 rings in offices": (office, Survey(RINGS_8, (0.3, 1.0), 60.0, 2, 0.6)),
    "16 rings in a hall": (EIGHTH_HALL, Survey(HALL_RINGS_16, (0.4, 1.6), 80.0, 2)),
    "16 rings in a crowd": (EIGHTH_CROWD, Survey(CROWD_RINGS_16, (0.2, 0.8), 60.0, 2, 0.8)),
    "128 rings in a street": (street, Survey(STREET_RINGS_128, (1.0, 5.0), 15.0, 2, 0.5)),
    "9 rings in a street": (street, Survey(RINGS_9, (1.0, 4.0), 20.0, 2, 0.5)),
    "flash LiDAR in a hall": (EIGHTH_HALL, Survey(FLASH, (0.2, 0.7), 12.0, 2)),
    "40 degree Livox in offices": (office, Survey(LIVOX_40, (0.1, 0.5), 8.0, 2, 0.4)),
    "120 degree Livox in a hall": (EIGHTH_HALL, Survey(LIVOX_120, (0.2, 1.0), 20.0, 2)),
    "stereo in a garage": (EIGHTH_GARAGE, Survey(GARAGE_STEREO, (0.1, 0.4), 10.0, 2, 0.3)),
}

LATER_SETS = (
    (LATER_SURVEYS, SEED_LATER), (THIRD_SURVEYS, SEED_THIRD), (FOURTH_SURVEYS, SEED_FOURTH),
    (FIFTH_SURVEYS, SEED_FIFTH), (SIXTH_SURVEYS, SEED_SIXTH), (SEVENTH_SURVEYS, SEED_SEVENTH),
    (EIGHTH_SURVEYS, SEED_EIGHTH), (NINTH_SURVEYS, SEED_NINTH), (TENTH_SURVEYS, SEED_TENTH),
)  # fmt: skip
ALL_SURVEYS = {
    name: survey for surveys in (SURVEYS, *(item for item, _ in LATER_SETS)) for name, survey in surveys.items()
}
NARROW = ("depth camera", "stereo camera", "near stereo", "table top", "garage", "Livox on stairs")  # fields of view


def seed_of(name: str) -> int:
    """The seed of the places of a survey for development."""
    return next((seed for surveys, seed in LATER_SETS if name in surveys), 0)
