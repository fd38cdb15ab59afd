"""The last scans that were registered, for adapting the network to them."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RecentScan:
    """points: (N, 3) float32, metres, in the sensor's frame. T_odom_sensor: (4, 4). stamp: seconds."""

    points: np.ndarray
    T_odom_sensor: np.ndarray
    stamp: float


class RecentScans:
    """A ring buffer of `capacity` scans. For any number of threads."""

    def __init__(self, capacity: int) -> None:
        self._lock = threading.Lock()
        self._scans: deque[RecentScan] = deque(maxlen=capacity)

    def add(self, points: np.ndarray, T_odom_sensor: np.ndarray, stamp: float) -> None:
        """Keep a scan; the oldest goes when the buffer is full."""
        scan = RecentScan(np.asarray(points, dtype=np.float32), T_odom_sensor, stamp)
        with self._lock:
            self._scans.append(scan)

    def clear(self) -> None:
        """Forget all scans: their poses belong to a trajectory that has ended."""
        with self._lock:
            self._scans.clear()

    def snapshot(self) -> list[RecentScan]:
        """The scans of this moment, oldest first."""
        with self._lock:
            return list(self._scans)
