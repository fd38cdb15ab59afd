"""Simulated places and drives: free paths, exact ground truth, the same scans for the same seed."""

import numpy as np
import pytest

from prnet_core.simulation.buildings import building
from prnet_core.simulation.drives import PLACES, SENSORS, Drive, make_drive
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.outdoors import street
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.trajectories import PathTrajectory

SPINNING = SpinningLidar(columns=180, max_range=60.0)


@pytest.fixture(scope="module")
def places():
    return {name: make(0) for name, make in PLACES.items()}


def path_of(place):
    return PathTrajectory(place.path, lambda along: along, closed=True)


@pytest.mark.parametrize("name", PLACES)
def test_the_path_is_free(places, name):
    place = places[name]
    path = path_of(place)
    poses = path(np.arange(0.0, path.length, 0.2))
    positions = poses[:, :3, 3] + (0.0, 0.0, place.sensor_height)
    assert RayScene.from_solids(place.solids).surface_distance(positions).min() > 0.35
    assert not place.solids.contain(positions[::5], margin=0.2).any()


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("lidar", [SPINNING, NonRepetitiveLidar(4000)])
def test_deskewed_with_the_true_trajectory_static_points_lie_on_surfaces(places, name, lidar):
    place = places[name]
    drive = Drive(place, lidar, 13, moving_objects=False, stamp_jitter=0.01, num_bumps=1)
    surfaces = RayScene.from_solids(place.solids)
    for scan in list(drive)[::6]:
        np.testing.assert_allclose(scan.T_world_sensor, drive.trajectory(scan.index / drive.rate), atol=1e-12)
        pose = drive.trajectory(scan.index / drive.rate + scan.point_times)
        world = np.einsum("nij,nj->ni", pose[:, :3, :3], scan.points) + pose[:, :3, 3]
        distance = surfaces.surface_distance(world)
        assert np.median(distance) < 0.015
        assert np.percentile(distance, 99) < 0.06


def test_a_seed_gives_the_same_scans_whatever_was_drawn_before():
    options = dict(seed=3, lost_share=0.2, stamp_jitter=0.004)
    first, second = (list(make_drive("stairs", "kinect", 4, **options)) for _ in range(2))
    assert [scan.index for scan in first] == [scan.index for scan in second]
    for one, other in zip(first, second, strict=True):
        assert one.stamp == other.stamp and one.scene == other.scene == "stairs 3"
        np.testing.assert_array_equal(one.points, other.points)
    longer = list(make_drive("stairs", "kinect", 6, **options))
    np.testing.assert_array_equal(longer[0].points, first[0].points)


def test_lost_scans_and_jitter_have_the_stated_size(places):
    drive = Drive(places["garage"], SpinningLidar(4, 8), 400, lost_share=0.2, stamp_jitter=0.005)
    scans = list(drive)
    assert 0.14 < 1.0 - len(scans) / 400 < 0.26
    jitter = [scan.stamp - scan.index / 10.0 for scan in scans]
    assert np.std(jitter) == pytest.approx(0.005, rel=0.15)


def test_stop_and_go_stands_and_a_bump_pitches_the_sensor(places):
    place, lidar = places["street"], SpinningLidar(4, 8)
    still = Drive(place, lidar, 1, stops=True).trajectory(np.array([19.9, 20.0, 20.1]))
    assert np.linalg.norm(still[2, :3, 3] - still[0, :3, 3]) < 0.01
    times = np.arange(0.0, 120.0, 0.05)
    pitch = [
        np.degrees(np.arcsin(-Drive(place, lidar, 1, num_bumps=bumps).trajectory(times)[:, 2, 0])).max()
        for bumps in (0, 3)
    ]
    assert pitch[0] < 1.0 and 4.0 < pitch[1] < 7.0


def test_the_sensor_moves_as_fast_as_the_place_says(places):
    for place in places.values():
        poses = Drive(place, SpinningLidar(4, 8), 1).trajectory(np.arange(2.0, 30.0, 0.1))
        speed = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1) / 0.1
        assert np.median(speed) == pytest.approx(place.speed, rel=0.15)


def test_the_building_has_forty_rooms_eight_of_them_equal():
    place = building()
    assert len(place.rooms) == 40 and len(place.twins) == 8
    assert set(np.round(place.rooms[:, 2], 1)) == {0.0, 3.2}
    scene, lidar = RayScene.from_solids(place.solids), SpinningLidar(range_noise=0.0, dropout=0.0)
    ranges = []
    for room in place.twins:
        rotated = place.rooms[room, 1] < 0  # doors face the corridor on both sides
        pose = np.eye(4)
        pose[:2, :2] *= -1.0 if rotated else 1.0
        pose[:3, 3] = place.rooms[room] + (0.0, 0.0, 1.2)
        ranges.append(np.linalg.norm(_all_ranges(scene, lidar, pose), axis=1))
    for other in ranges[1:]:
        assert (np.abs(other - ranges[0]) < 0.01).mean() > 0.95  # the rest is seen through the door


def _all_ranges(scene, lidar, pose):
    directions = lidar._directions().reshape(-1, 3)
    distance = scene.cast(pose[:3, 3], directions @ pose[:3, :3].T).distance
    return directions * np.minimum(distance, 20.0)[:, None]


def test_the_street_is_a_loop_of_500_metres():
    path = path_of(street())
    assert path.length == pytest.approx(500.0, abs=10.0)
    np.testing.assert_allclose(path(0.0)[:2, 3], path(path.length)[:2, 3], atol=1e-6)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="moon is not known: street"):
        make_drive("moon", "lidar32", 1)
    with pytest.raises(ValueError, match="sonar is not known: lidar16"):
        make_drive("street", "sonar", 1)
    assert set(SENSORS) >= {"lidar16", "lidar32", "lidar64", "lidar128", "livox", "kinect", "stereo"}
