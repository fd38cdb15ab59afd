"""Passes scans from the subscriber to the worker, latest only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import PointCloud2

from prnet_core.io.pointcloud2 import Cloud


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


class ScanSlot:
    """Holds one scan: a newer one replaces one that still waits. For any number of threads."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._scan: Scan | None = None
        self._is_woken = False

    def put(self, scan: Scan) -> bool:
        """Leave a scan; True when an older one that nobody took was dropped for it."""
        with self._ready:
            dropped = self._scan is not None
            self._scan = scan
            self._ready.notify()
        return dropped

    def take(self, timeout: float) -> Scan | None:
        """The waiting scan; None after `timeout` seconds of the steady clock, or when woken."""
        with self._ready:
            self._ready.wait_for(lambda: self._scan is not None or self._is_woken, timeout)
            scan, self._scan, self._is_woken = self._scan, None, False
        return scan

    def discard(self, is_unwanted: Callable[[Scan], bool] = lambda scan: True) -> bool:
        """Forget the scan that waits if it is unwanted; True when there was one."""
        with self._ready:
            discarded = self._scan is not None and is_unwanted(self._scan)
            if discarded:
                self._scan = None
        return discarded

    def wake(self) -> None:
        """Make `take` return now."""
        with self._ready:
            self._is_woken = True
            self._ready.notify()


def seconds(stamp: Time) -> float:
    """A stamp in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9
