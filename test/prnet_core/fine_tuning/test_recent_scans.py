"""The ring buffer of scans: variety, order, robustness."""

import threading

import numpy as np
import pytest

from prnet_core.fine_tuning.recent_scans import CellGrid, RecentScans
from prnet_core.geometry import se3

RNG = np.random.default_rng(0)
SURFACE = RNG.uniform(-0.5, 0.5, (20000, 3))
SURFACE[np.arange(20000), RNG.integers(3, size=20000)] = RNG.choice([-0.5, 0.5], size=20000)
SURFACE *= [8.0, 6.0, 3.0]


def scan(pose=None, number=6000):
    pose = np.eye(4) if pose is None else pose
    points = SURFACE[RNG.choice(len(SURFACE), number, replace=False)]
    return se3.apply(se3.invert(pose), points) + RNG.normal(scale=0.01, size=(number, 3))


def rotated(degrees, x=0.0):
    return se3.exp(np.array([x, 0.0, 0.0, 0.0, 0.0, np.radians(degrees)]))


def test_robot_that_stands_still_leaves_one_scan():
    scans = RecentScans(10)
    kept = [scans.add(scan(), np.eye(4), float(i)) for i in range(50)]
    assert kept == [True] + [False] * 49 and len(scans.snapshot()) == 1


@pytest.mark.parametrize("pose", [rotated(20), rotated(0, x=1.0)])
def test_robot_that_turns_or_drives_leaves_more(pose):
    scans, place = RecentScans(10), np.eye(4)
    for i in range(6):
        assert scans.add(scan(place), place, float(i))
        place = place @ pose
    stored = scans.snapshot()
    assert [s.stamp for s in stored] == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(stored[1].T_odom_sensor, pose)


def test_place_seen_before_is_not_kept_again():
    scans = RecentScans(10)
    for i, degrees in enumerate([0, 30, 60, 30, 0]):
        scans.add(scan(rotated(degrees)), None, float(i))
    assert [s.stamp for s in scans.snapshot()] == [0, 1, 2]


def test_oldest_goes_when_full_and_when_shrunk():
    scans = RecentScans(3)
    for i in range(5):
        scans.add(scan(rotated(25 * i)), None, float(i))
    assert [s.stamp for s in scans.snapshot()] == [2, 3, 4]
    scans.resize(2)
    assert [s.stamp for s in scans.snapshot()] == [3, 4]
    assert not scans.add(scan(rotated(75)), None, 9.0)
    scans.resize(5)
    assert scans.add(scan(rotated(130)), None, 10.0) and len(scans.snapshot()) == 3


def test_poses_of_two_trajectories_are_distinguished():
    scans = RecentScans(5)
    scans.add(scan(), np.eye(4), 0.0)
    scans.start_trajectory()
    scans.add(scan(rotated(40)), np.eye(4), 1.0)
    assert [s.trajectory for s in scans.snapshot()] == [0, 1]


def test_only_finite_points_are_kept():
    scans = RecentScans(5)
    points = scan()
    points[::2] = np.nan
    points[1, 0] = np.inf
    assert scans.add(points, None, 0.0)
    stored = scans.snapshot()[0].points
    assert stored.shape == (2999, 3) and stored.dtype == np.float64 and np.isfinite(stored).all()
    assert not scans.add(np.full((100, 3), np.nan), None, 1.0)
    assert not scans.add(np.zeros((0, 3)), None, 2.0)
    assert scans.add(np.zeros((100, 3)), None, 3.0)  # odd, but unlike the other
    assert not scans.add(np.zeros((100, 3)), None, 4.0)
    scans.add(1e30 * RNG.normal(size=(100, 3)), None, 5.0)


def test_difference_does_not_depend_on_unit_place_or_density():
    a, b = scan(), scan(rotated(15, 0.3), number=3000)
    difference = CellGrid(a).difference(b)
    assert 0.1 < difference < 0.5
    assert CellGrid(1000 * a).difference(1000 * b) == pytest.approx(difference, abs=0.02)
    assert CellGrid(a + 500.0).difference(b + 500.0) == pytest.approx(difference, abs=0.02)
    assert CellGrid(a).difference(a) == 0.0
    assert CellGrid(a).difference(a + 100.0) == 1.0


def test_many_threads():
    scans = RecentScans(4)

    def work(offset):
        for i in range(20):
            scans.add(scan(rotated(9 * i + offset), number=500), np.eye(4), float(i))
            assert len(scans.snapshot()) <= 4

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(scans.snapshot()) == 4
