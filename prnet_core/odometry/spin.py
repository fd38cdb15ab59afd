"""The times of a spinning LiDAR's points where the driver gives none: by their azimuth.

A turn of a moving sensor is distorted. Two turns from different places are distorted alike, but a surface that was seen
ahead and later at the side was measured at other times of the turn: what is left of its distance shows how long a turn
takes, in which sense, and where it begins. Clouds that a driver has deskewed already show a turn of no time.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.sweep import Sweep
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.alignment import nearest
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

SEAMS = np.radians(np.arange(-180.0, 180.0, 45.0))
MAX_DISTANCES = (2.0, 1.0, 1.0, 1.0)  # voxels to the nearest point, each time that the sweeps are deskewed again
NUM_STEPS = 2  # of Gauss-Newton each time
SMALL_CHANGE = 2e-3  # seconds of a turn by which the last time changed it: far below MIN_DEVIATION
MIN_MATCHES = 300
MIN_SCALE = 1e-2  # voxels: residuals are not trusted to be smaller
MIN_SHARE, NUM_SECTORS = 0.01, 8  # of the points, in each sector of the azimuth: the sensor sees all around
MIN_DEVIATION = 0.02  # seconds: the velocity changes within a turn, and the estimate of one pair with it
FIRST_DEVIATION = 0.04  # of the first pair: the velocity of the first scan is extrapolated
SIGNIFICANT, AGREEING = 4.0, 3.0  # standard deviations of the mean from zero, and of the pairs from the mean
SLOW_SIGNIFICANT = 5.0  # where scans were left out: nothing else than the pairs shows the seconds of a turn
RULED_OUT = 2.0  # standard deviations by which the mean is below MIN_SECONDS
LINEAR_SHARE = 0.5  # of a turn's seconds, about, that one step shows: the matches are those of distorted sweeps
MIN_SECONDS, MAX_INTERVALS = 0.04, 1.2  # of a turn; the latter in intervals between scans
UNKNOWN = 1.0  # seconds: no turn takes longer, and as much is not known without an estimate
INFORMATIVE = 0.6  # deviation of a pair, as a share of the mean, below which it counts
MIN_PAIRS, MAX_PAIRS, MOST = 2, 10, 0.6  # that agree, that are tried, and the share of the informative ones that agree
USUAL_SECONDS, DISTINCT = (0.05, 0.1, 0.2), 0.75  # of a turn, where it is less than this share of an interval


@dataclass(frozen=True)
class Spin:
    """One turn about z. seconds: that it takes, counter-clockwise as seen from above; negative for clockwise.

    seam: azimuth in radians where it begins and ends.
    """

    seconds: float
    seam: float

    def times(self, points: np.ndarray) -> np.ndarray:
        """(N,) seconds of points (N, 3) in the sensor's frame, after the middle of the turn."""
        return self.seconds * shares(points, self.seam)


def shares(points: np.ndarray, seam: float) -> np.ndarray:
    """(N,) share of the turn, counter-clockwise, after its middle: -0.5 to 0.5."""
    return np.mod(np.arctan2(points[:, 1], points[:, 0]) - seam, 2.0 * np.pi) / (2.0 * np.pi) - 0.5


def usual_seconds(seconds: float, interval: float) -> float:
    """The nearest seconds of a turn of a usual rate: the interval between scans, or less where scans are left out."""
    usual = np.array([interval, *(other for other in USUAL_SECONDS if other < DISTINCT * interval)])
    return float(np.copysign(usual[np.abs(np.log(usual / abs(seconds))).argmin()], seconds))


class SpinEstimate:
    """Estimates the spin of a sensor from pairs of keyframes, until enough of them agree."""

    def __init__(self) -> None:
        self.spin: Spin | None = None
        self._newest: Keyframe | None = None
        self._normal_equations = np.zeros((len(SEAMS), 2))
        self._pairs: list[tuple[float, float]] = []  # seconds of a turn, and their deviation

    def timed(self, sweep: Sweep) -> Sweep:
        """A sweep with the times of its points, where none are given and the spin is known."""
        if sweep.times is not None or self.spin is None:
            return sweep
        return sweep.with_times(self.spin.times(sweep.points))

    def add(
        self, first: Keyframe, second: Keyframe, voxel_size: float, interval: float, config: RegistrationConfig
    ) -> Spin | None:
        """Take in a pair of keyframes that were not deskewed, once; the spin if they were the last ones needed.

        interval: seconds between scans.
        """
        if self.spin is not None or second is self._newest or self._is_ruled_out():
            return None
        self._newest = second
        if not (sees_all_around(first.points) and sees_all_around(second.points)):
            return None
        pair = _Pair(first, second, voxel_size, config)
        self._normal_equations += pair.normal_equations()
        by_seam = -self._normal_equations[:, 0] / np.maximum(self._normal_equations[:, 1], 1e-12)
        best = int(np.argmax(by_seam**2 * self._normal_equations[:, 1]))
        begin = self._mean()[0] if self._pairs else float(np.clip(by_seam[best] / LINEAR_SHARE, -interval, interval))
        seam = float(SEAMS[best])
        seconds, deviation = pair.estimate(Spin(begin, seam))
        self._pairs.append((seconds, max(deviation, MIN_DEVIATION if self._pairs else FIRST_DEVIATION)))
        self.spin = self._agreed(seam, interval)
        return self.spin

    def _is_ruled_out(self) -> bool:
        mean, deviation = self._mean()
        return len(self._pairs) == MAX_PAIRS or abs(mean) + RULED_OUT * deviation < MIN_SECONDS

    def _mean(self) -> tuple[float, float]:
        """Weighted mean of the pairs, and its standard deviation; inf without pairs."""
        if not self._pairs:
            return 0.0, np.inf
        seconds, deviations = np.array(self._pairs).T
        information = 1.0 / deviations**2
        return float(np.average(seconds, weights=information)), float(1.0 / np.sqrt(information.sum()))

    def _agreed(self, seam: float, interval: float) -> Spin | None:
        """The spin, if the pairs show one and most of them the same."""
        mean, deviation = self._mean()
        each, deviations = np.array(self._pairs).T
        informative = deviations < INFORMATIVE * abs(mean)
        agree = informative & (np.abs(each - mean) < AGREEING * deviations)
        is_full_rate = usual_seconds(mean, interval) == np.copysign(interval, mean)
        significant = SIGNIFICANT if is_full_rate else SLOW_SIGNIFICANT
        is_shown = MIN_SECONDS < abs(mean) < MAX_INTERVALS * interval and abs(mean) > significant * deviation
        if not is_shown or agree.sum() < max(MIN_PAIRS, MOST * informative.sum()):
            return None
        seconds = float(np.average(each[agree], weights=1.0 / deviations[agree] ** 2))
        return Spin(usual_seconds(seconds, interval), seam)


class _Matches(NamedTuple):
    """points (M, 3) of the second sweep, in its frame, and what they hit of the first: (M, 3) in its frame, normals."""

    points: np.ndarray
    hits: np.ndarray
    normals: np.ndarray


class _Pair:
    """Two keyframes from different places."""

    def __init__(self, first: Keyframe, second: Keyframe, voxel_size: float, config: RegistrationConfig):
        self._twists, self._voxel_size, self._config = (first.twist, second.twist), voxel_size, config
        self._pose = se3.invert(first.T_map_sensor) @ second.T_map_sensor
        self._points = tuple(
            small_gicp.voxelgrid_sampling(frame.points.astype(np.float64), voxels * voxel_size).points()[:, :3]
            for frame, voxels in ((first, 0.5), (second, 1.4))
        )

    def normal_equations(self) -> np.ndarray:
        """For each of SEAMS the weighted products of the residuals, and of the derivatives, with the derivatives by the
        seconds of a turn, after the best pose: (S, 2)."""
        target, points = self._clouds(Spin(0.0, 0.0))
        matches = self._matches(target, points, MAX_DISTANCES[0])
        if matches is not None:
            hessian, gradient = self._equations(matches, SEAMS[:0])
            self._move(-np.linalg.solve(hessian, gradient))
            matches = self._matches(target, points, MAX_DISTANCES[1])
        if matches is None:
            return np.zeros((len(SEAMS), 2))
        hessian, gradient = self._equations(matches, SEAMS)
        by_pose = np.linalg.solve(hessian[:6, :6], hessian[:6, 6:])
        squared = np.diag(hessian)[6:] - np.sum(by_pose * hessian[:6, 6:], axis=0)
        return np.stack([gradient[6:] - gradient[:6] @ by_pose, squared], axis=1)

    def estimate(self, spin: Spin) -> tuple[float, float]:
        """Seconds of a turn, and their standard deviation, from an initial spin."""
        seconds, hessian = spin.seconds, np.zeros((7, 7))
        for number, distance in enumerate(MAX_DISTANCES):
            begin = seconds
            target, points = self._clouds(Spin(begin, spin.seam))
            for _ in range(NUM_STEPS):
                matches = self._matches(target, points, distance)
                if matches is None:
                    return 0.0, UNKNOWN
                hessian, gradient = self._equations(matches, np.array([spin.seam]))
                step = -np.linalg.solve(hessian, gradient)
                self._move(step)
                seconds = float(np.clip(seconds + step[6], -UNKNOWN, UNKNOWN))
            if number and abs(seconds - begin) < SMALL_CHANGE:
                break
        return seconds, float(np.sqrt(np.linalg.inv(hessian)[6, 6]))

    def _clouds(self, spin: Spin) -> tuple[PreparedCloud, np.ndarray]:
        """The first keyframe, prepared, and points (N, 3) of the second, both deskewed."""
        first, second = (deskew(p, spin.times(p), twist) for p, twist in zip(self._points, self._twists))
        return prepare_cloud(first, self._voxel_size, self._config), second

    def _move(self, step: np.ndarray) -> None:
        self._pose = self._pose @ se3.exp(step[:6])

    def _matches(self, first: PreparedCloud, points: np.ndarray, max_distance: float) -> _Matches | None:
        moved = (se3.apply(self._pose, points) - first.centre) / first.voxel_size
        index, distance = nearest(first.level.tree, moved, self._config.num_threads)
        matched = distance < max_distance
        if matched.sum() < MIN_MATCHES:
            return None
        index = index[matched]
        return _Matches(points[matched], first.points[index] * first.voxel_size + first.centre, first.normals[index])

    def _equations(self, matches: _Matches, seams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hessian and gradient of the robust point-to-plane distances for the pose (6), and for the seconds of a turn
        that begins at each of seams (S,)."""
        points, hits, normals = matches
        rotation = self._pose[:3, :3]
        residuals = np.sum((se3.apply(self._pose, points) - hits) * normals, axis=1)
        scale = max(1.4826 * float(np.median(np.abs(residuals))), MIN_SCALE * self._voxel_size)
        variance = scale**2 * self._config.correlated_points
        weights = 1.0 / (1.0 + (residuals / (2.0 * scale)) ** 2) ** 2 / variance
        own = normals @ rotation
        columns = [own, np.cross(points, own)]
        if len(seams):
            moved = np.sum(_velocities(points, self._twists[1]) * own, axis=1)
            moved_hits = np.sum(_velocities(hits, self._twists[0]) * normals, axis=1)
            columns += [(moved * shares(points, s) - moved_hits * shares(hits, s))[:, None] for s in seams]
        jacobian = np.hstack(columns)
        weighted = jacobian * weights[:, None]
        return weighted.T @ jacobian + 1e-9 * np.eye(jacobian.shape[1]), weighted.T @ residuals


def sees_all_around(points: np.ndarray) -> bool:
    """Whether points (N, 3) lie in all directions about z."""
    sectors = (shares(points, 0.0) + 0.5) * NUM_SECTORS
    counts = np.bincount(np.minimum(sectors.astype(np.int64), NUM_SECTORS - 1), minlength=NUM_SECTORS)
    return bool(counts.min() > MIN_SHARE * len(points))


def _velocities(points: np.ndarray, twist: np.ndarray) -> np.ndarray:
    return twist[:3] + np.cross(twist[3:], points)
