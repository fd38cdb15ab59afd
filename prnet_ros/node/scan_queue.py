"""A queue of scans between two threads; when it is full the oldest scan is dropped."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import PointCloud2

from prnet_core.io.pointcloud2 import Cloud

T = TypeVar("T")


@dataclass(frozen=True)
class Scan:
    """A scan for the worker. cloud: what the message holds. received: seconds of the steady clock."""

    message: PointCloud2
    cloud: Cloud
    stamp: Time
    frame_id: str
    received: float

    def rows(self, chosen: np.ndarray | None) -> np.ndarray:
        """(M,) points of the message that the points `chosen` (M,) of the cloud are; None: all of the cloud."""
        rows = np.arange(len(self.cloud.points)) if self.cloud.rows is None else self.cloud.rows
        return rows if chosen is None else rows[chosen]


class ScanQueue(Generic[T]):
    """The last `capacity` scans; latest-only with a capacity of 1. Thread-safe."""

    def __init__(self, capacity: int = 1) -> None:
        self._ready = threading.Condition()
        self._scans: deque[T] = deque()
        self._capacity = capacity
        self._is_woken = False

    def put(self, scan: T) -> bool:
        """Append a scan; True when the oldest one was dropped for it."""
        with self._ready:
            self._scans.append(scan)
            self._ready.notify()
            return self._trim() > 0

    def take(self, timeout: float) -> T | None:
        """The oldest scan; None after `timeout` seconds of the steady clock, or when woken."""
        with self._ready:
            self._ready.wait_for(lambda: self._scans or self._is_woken, timeout)
            self._is_woken = False
            return self._scans.popleft() if self._scans else None

    def is_empty(self) -> bool:
        return not self._scans

    def resize(self, capacity: int) -> int:
        """Change the capacity; the number of scans that were dropped for it."""
        with self._ready:
            self._capacity = capacity
            return self._trim()

    def discard(self, is_unwanted: Callable[[T], bool]) -> int:
        """Drop the scans that are unwanted; their number."""
        with self._ready:
            wanted = deque(scan for scan in self._scans if not is_unwanted(scan))
            number = len(self._scans) - len(wanted)
            self._scans = wanted
            return number

    def wake(self) -> None:
        """Make `take` return now."""
        with self._ready:
            self._is_woken = True
            self._ready.notify()

    def _trim(self) -> int:
        number = max(0, len(self._scans) - self._capacity)
        for _ in range(number):
            self._scans.popleft()
        return number
