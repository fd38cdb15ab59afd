"""A robot is searched for, followed, lost and found again; ambiguous places wait for more scans."""

from dataclasses import dataclass, field

import numpy as np

from prnet_core.geometry import se3
from prnet_core.mapping.localize import LocalizationResult
from prnet_core.mapping.tracker import MAX_MISSES, MapTracker, OdometryScan

T_MAP_ODOM = se3.exp(np.array([3.0, -1.0, 0.0, 0.0, 0.0, 0.5]))
POINTS = np.random.default_rng(0).uniform(-5.0, 5.0, (500, 3)).astype(np.float32)


@dataclass
class FakeLocalizer:
    """Answers as configured, with the true pose of the scan."""

    status: str = "accepted"
    near_status: str = "accepted"
    T_map_sensor: np.ndarray = field(default_factory=lambda: np.eye(4))
    searches: list = field(default_factory=list)
    checks: int = 0

    def localize(self, points, deadline, origins=None, view_index=None):
        self.searches.append(1 if origins is None else len(origins))
        status = self.status if origins is None or self.status != "joined" else "accepted"
        status = "rejected" if status == "joined" else status
        others = [np.eye(4)] if status == "ambiguous" else []
        return LocalizationResult(status, "as configured", self.T_map_sensor, np.eye(6), alternatives=others)

    def localize_near(self, points, T_map_sensor, search=False):
        self.checks += 1
        return LocalizationResult(self.near_status, "as configured", T_map_sensor, np.eye(6))


class Drive:
    """A robot that moves 0.1 m and 0.1 s a scan; `trajectory` counts how often its odometry was lost."""

    def __init__(self, **settings):
        self.localizer = FakeLocalizer(**settings)
        self.tracker = MapTracker(self.localizer)
        self.k = self.trajectory = 0

    def step(self, number=1, metres=0.1):
        for _ in range(number):
            pose = se3.exp(np.array([metres * self.k, 0.0, 0.0, 0.0, 0.0, 0.0]))
            self.localizer.T_map_sensor = T_MAP_ODOM @ pose
            answer = self.tracker.add_scan(OdometryScan(POINTS, 0.1 * self.k, pose, self.trajectory))
            self.k += 1
        return answer


def test_found_then_followed_at_the_pace_of_the_motion():
    drive = Drive()
    first = drive.step()
    assert first.state == "localized" and first.found is not None
    np.testing.assert_allclose(first.T_map_odom, T_MAP_ODOM, atol=1e-9)
    last = drive.step(40)
    assert drive.localizer.searches == [1] and 4 <= drive.localizer.checks <= 12
    np.testing.assert_allclose(last.T_map_odom, T_MAP_ODOM, atol=1e-9)


def test_a_place_that_is_not_found_is_searched_for_less_and_less_often_while_nothing_moves():
    drive = Drive(status="rejected")
    last = drive.step(200, metres=0.0)
    assert last.state == "searching" and last.T_map_odom is None
    assert 5 <= len(drive.localizer.searches) <= 12


def test_ambiguous_until_more_scans_tell_the_places_apart():
    drive = Drive(status="ambiguous")
    assert drive.step().state == "ambiguous" and drive.step(3).alternatives == 1
    drive.step(20)
    assert max(drive.localizer.searches) > 1  # joined scans
    drive.localizer.status = "joined"
    last = drive.step(20)
    assert last.state == "localized"
    np.testing.assert_allclose(last.T_map_odom, T_MAP_ODOM, atol=1e-9)


def test_where_the_map_ends_odometry_goes_on_and_a_place_found_later_counts():
    drive = Drive()
    drive.step()
    drive.localizer.near_status = drive.localizer.status = "rejected"
    last = drive.step(100)
    assert last.state == "unverified" and drive.localizer.checks == MAX_MISSES
    np.testing.assert_allclose(last.T_map_odom, T_MAP_ODOM, atol=1e-9)
    drive.localizer.near_status = drive.localizer.status = "accepted"
    assert drive.step(60).state == "localized"


def test_a_lost_odometry_starts_a_search_without_a_guess():
    drive = Drive()
    drive.step(5)
    drive.trajectory, drive.localizer.status = 1, "rejected"
    last = drive.step()
    assert last.state == "searching" and last.T_map_odom is None and last.trajectory == 1
    drive.localizer.status = "accepted"
    assert drive.step(10).state == "localized"


def test_an_initial_pose_is_confirmed_or_refused_with_the_reason():
    drive = Drive(status="ambiguous")
    drive.step()
    drive.tracker.set_initial_pose(T_MAP_ODOM)
    answer = drive.step()
    assert answer.state == "localized" and "confirmed" in answer.note
    drive.localizer.near_status = "rejected"
    drive.tracker.set_initial_pose(np.eye(4))
    answer = drive.step()
    assert "not confirmed by the scan: as configured" in answer.note
    np.testing.assert_allclose(answer.T_map_odom, drive.step().T_map_odom)
