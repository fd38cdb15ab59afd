"""The pose of a robot in a map, scan after scan: searched without a guess, tracked, and searched again when lost."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from prnet_core.geometry import se3
from prnet_core.mapping.keyframe_map import join_scans
from prnet_core.mapping.localize import LocalizationResult, Localizer
from prnet_core.registration import AMBIGUOUS

State = Literal["searching", "ambiguous", "localized", "unverified"]

SEARCH_TIME = 4.0  # seconds that one search may take
LONGEST_PAUSE = 5.0  # seconds of the stamps between two searches of a place that is not found
PAUSE = 0.5  # seconds more with each search that failed
JOINED_SCANS = 6  # of the last scans, joined by odometry where one alone is too little
JOINED_SECONDS = 15.0
STEP = 0.1  # of the median range: after this translation a scan is joined, or followed,
STEP_ANGLE = 0.35  # or after this rotation, radians,
FOLLOW_PERIOD = 1.0  # or, followed, after this many seconds
MAX_MISSES = 4  # failed verifications near the prediction, in a row, after which the map is searched


@dataclass(frozen=True)
class OdometryScan:
    """A scan with its pose by odometry: points (N, 3), metres, in the sensor's frame; stamp in seconds.

    T_odom_sensor: (4, 4). trajectory: poses of two scans are related only where it is the same.
    """

    points: np.ndarray
    stamp: float
    T_odom_sensor: np.ndarray
    trajectory: int = 0


@dataclass(frozen=True)
class MapPose:
    """The pose of the robot in the map after a scan.

    state: 'searching' (nothing known), 'ambiguous' (several places fit; more scans are needed), 'localized', or
        'unverified' (localized before, by odometry alone since: outside the map, or the place has changed).
    reason: of the last verification. T_map_odom: (4, 4), or None where it is not known, for poses of `trajectory`.
    found: the verification of this scan, when there was one and it was accepted, else None.
    note: the result for an initial pose, else empty. alternatives: number of other places that fit.
    """

    state: State
    reason: str
    stamp: float
    trajectory: int
    T_map_odom: np.ndarray | None = None
    found: LocalizationResult | None = None
    note: str = ""
    alternatives: int = 0


class MapTracker:
    """Tracks the odometry in a map. Stamps are the clock: a recording gives the same result at any speed."""

    def __init__(self, localizer: Localizer) -> None:
        self.localizer = localizer
        self._scans: list[OdometryScan] = []
        self._initial_pose: np.ndarray | None = None
        self._reason = "no scan yet"
        self.forget()

    def forget(self) -> None:
        """Discard the pose: the next scan starts a search."""
        self._T_map_odom: np.ndarray | None = None
        self._state: State = "searching"
        self._verified: OdometryScan | None = None
        self._alternatives = self._misses = self._failures = 0
        self._next_search = -np.inf

    def set_initial_pose(self, T_map_sensor: np.ndarray) -> None:
        """Set an initial guess (4, 4), at which the next scan is verified."""
        self._initial_pose = T_map_sensor

    def add_scan(self, scan: OdometryScan) -> MapPose:
        """Add a scan; search or verify when one is due."""
        if self._scans and scan.trajectory != self._scans[-1].trajectory:
            self._scans.clear()
            self.forget()
            self._reason = "the odometry was lost or started again"
        elif self._scans and scan.stamp < self._scans[-1].stamp:
            self._scans.clear()
            self._next_search = -np.inf
        self._remember(scan)
        if self._initial_pose is not None:
            return self._start_at_initial_pose(scan)
        if self._T_map_odom is None or self._state == "unverified":
            return self.search() if self._is_search_due(scan) else self._answer(scan)
        return self._follow(scan) if self._is_step(self._verified, scan, FOLLOW_PERIOD) else self._answer(scan)

    def search(self) -> MapPose:
        """Search the whole map with the last scan, then with the last scans joined. The previous pose is kept
        unless a place is found. Raises ValueError before the first scan."""
        if not self._scans:
            raise ValueError("no scan has been registered by the odometry yet")
        scan = self._scans[-1]
        result = self.localizer.localize(scan.points, SEARCH_TIME)
        if not result.usable and (len(self._scans) > 2 or self._is_step(self._scans[0], scan)):
            joined = self.localizer.localize(*self._joined())
            result = joined if joined.usable or result.status != AMBIGUOUS else result
        self._reason = result.reason
        if result.usable:
            return self._localized(scan, result)
        self._failures += 1
        self._next_search = scan.stamp + min(LONGEST_PAUSE, PAUSE * self._failures)
        self._alternatives = len(result.alternatives)
        if self._T_map_odom is None:
            self._state = "ambiguous" if result.status == AMBIGUOUS else "searching"
        return self._answer(scan)

    def _follow(self, scan: OdometryScan) -> MapPose:
        result = self.localizer.localize_near(scan.points, self._T_map_odom @ scan.T_odom_sensor)
        self._reason = result.reason
        if result.usable:
            return self._localized(scan, result)
        self._verified = scan
        self._misses += 1
        if self._misses >= MAX_MISSES:
            self._state = "unverified"
        return self._answer(scan)

    def _start_at_initial_pose(self, scan: OdometryScan) -> MapPose:
        guess, self._initial_pose = self._initial_pose, None
        result = self.localizer.localize_near(scan.points, guess, search=True)
        if not result.usable:
            return self._answer(scan, note=f"the initial pose is not confirmed by the scan: {result.reason}")
        self._reason = result.reason
        return self._localized(scan, result, note="the initial pose is confirmed by the scan")

    def _localized(self, scan: OdometryScan, result: LocalizationResult, note: str = "") -> MapPose:
        self._T_map_odom = result.T_map_sensor @ se3.invert(scan.T_odom_sensor)
        self._state, self._verified = "localized", scan
        self._alternatives = self._misses = self._failures = 0
        return self._answer(scan, result, note)

    def _answer(self, scan: OdometryScan, found: LocalizationResult | None = None, note: str = "") -> MapPose:
        return MapPose(
            self._state, self._reason, scan.stamp, scan.trajectory, self._T_map_odom, found, note, self._alternatives
        )

    def _remember(self, scan: OdometryScan) -> None:
        """Keep the newest scan, and of the earlier ones those that are a step apart."""
        if len(self._scans) > 1 and not self._is_step(self._scans[-2], self._scans[-1]):
            self._scans.pop()
        self._scans = [s for s in self._scans if scan.stamp - s.stamp < JOINED_SECONDS][1 - JOINED_SCANS :]
        self._scans.append(scan)

    def _joined(self) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """The arguments of Localizer.localize for the last scans, in the frame of the newest one."""
        T_now_odom = se3.invert(self._scans[-1].T_odom_sensor)
        points, *views = join_scans([(T_now_odom @ scan.T_odom_sensor, scan.points) for scan in self._scans])
        return points, SEARCH_TIME, *views

    def _is_search_due(self, scan: OdometryScan) -> bool:
        is_new_view = len(self._scans) > 1 and self._failures > 0 and self._is_step(self._scans[-2], scan)
        return scan.stamp >= self._next_search or is_new_view

    def _is_step(self, earlier: OdometryScan | None, scan: OdometryScan, period: float = np.inf) -> bool:
        if earlier is None or scan.stamp - earlier.stamp >= period:
            return True
        distance, angle = se3.difference(earlier.T_odom_sensor, scan.T_odom_sensor)
        reach = float(np.median(np.linalg.norm(scan.points, axis=1))) if len(scan.points) else 0.0
        return distance > STEP * reach or angle > STEP_ANGLE
