"""The latest scans that differ from each other, for fine-tuning."""

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np

from prnet_core.geometry.subsets import at_most

MIN_DIFFERENCE = 0.12
SAMPLE = 2000
CELLS_PER_RADIUS, CELLS = 2.0, 16
SMALLEST_CELL = 1e-12


@dataclass(frozen=True)
class RecentScan:
    """points: (N, 3) float64, metres, in the sensor's frame. stamp: seconds.

    T_odom_sensor: (4, 4), or None where the scan was not registered. Poses are comparable within one `trajectory`.
    """

    points: np.ndarray
    T_odom_sensor: np.ndarray | None
    stamp: float
    trajectory: int = 0


class RecentScans:
    """A ring buffer of `capacity` scans that differ by at least MIN_DIFFERENCE. Thread-safe.

    A scan similar to a kept one is not added, so a robot that stands still or returns to a place adds no scans. A full
    buffer drops the oldest scan. Two scans are compared in the sensor frame (`CellGrid.difference`), so no pose is
    needed: the network should learn from scans that could not be registered. Noise alone gives a difference of about
    0.06, a rotation by 5 degrees or a step of 20 cm in a room about 0.12.
    """

    def __init__(self, capacity: int) -> None:
        self._lock = threading.Lock()
        self._scans: deque[RecentScan] = deque(maxlen=capacity)
        self._samples: deque[np.ndarray] = deque(maxlen=capacity)
        self._trajectory = 0

    def __len__(self) -> int:
        return len(self._scans)

    def add(self, points: np.ndarray, T_odom_sensor: np.ndarray | None, stamp: float) -> bool:
        """Keep a scan (N, 3) if it has finite points and differs from the others. True if it was kept."""
        points = np.asarray(points, dtype=np.float64)
        points = points[np.isfinite(points).all(axis=1)]
        if len(points) == 0:
            return False
        sample = at_most(points, SAMPLE)
        grid = CellGrid(sample)
        with self._lock:
            if any(grid.difference(other) < MIN_DIFFERENCE for other in reversed(self._samples)):
                return False
            self._scans.append(RecentScan(points, T_odom_sensor, stamp, self._trajectory))
            self._samples.append(sample)
        return True

    def start_trajectory(self) -> None:
        """Start a new trajectory: later poses are not comparable with earlier ones."""
        with self._lock:
            self._trajectory += 1

    def resize(self, capacity: int) -> None:
        """Change the capacity. A smaller one drops the oldest scans."""
        with self._lock:
            self._scans = deque(self._scans, capacity)
            self._samples = deque(self._samples, capacity)

    def snapshot(self) -> list[RecentScan]:
        """The current scans, oldest first."""
        with self._lock:
            return list(self._scans)


class CellGrid:
    """A grid of CELLS^3 cells around a cloud. Points outside count to the outermost cells."""

    def __init__(self, points: np.ndarray) -> None:
        self._centre = np.median(points, axis=0)
        radius = float(np.quantile(np.linalg.norm(points - self._centre, axis=1), 0.9))
        self._cell = max(radius / CELLS_PER_RADIUS, SMALLEST_CELL)
        self._own = self._shares(points)

    def difference(self, other: np.ndarray) -> float:
        """Fraction of points (M, 3) in different places: 0 for equal scans, 1 for disjoint ones.

        Total variation of the fractions of points in the cells, which are half the radius of 90 % of the cloud wide.
        """
        return 0.5 * float(np.abs(self._own - self._shares(other)).sum())

    def _shares(self, points: np.ndarray) -> np.ndarray:
        places = (points - self._centre).T / self._cell + CELLS / 2
        x, y, z = np.clip(places, 0.0, CELLS - 1.0).astype(np.int64)
        return np.bincount((x * CELLS + y) * CELLS + z, minlength=CELLS**3) / len(points)
