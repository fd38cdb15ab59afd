"""The one thread that owns the network and the odometry."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from prnet_core.odometry import ScanOdometry
from prnet_ros.node.scan_slot import Scan, ScanSlot

Action = Callable[[ScanOdometry], None]


class Worker:
    """Processes the scans of a slot, one after the other, and runs what others want done between two scans.

    process(odometry, scan): called in the worker's thread for every scan.
    on_error(error): called for any exception of `process` or of an action; the thread goes on.
    """

    def __init__(
        self,
        odometry: ScanOdometry,
        slot: ScanSlot,
        process: Callable[[ScanOdometry, Scan], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._odometry = odometry
        self._slot = slot
        self._process = process
        self._on_error = on_error
        self._actions: deque[Action] = deque()
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="prnet_worker", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def between_scans(self, action: Action) -> None:
        """Have `action(odometry)` run in the worker's thread before its next scan; returns at once.

        This is how the network is exchanged: `lambda odometry: setattr(odometry.registration, "network", tuned)`.
        """
        self._actions.append(action)
        self._slot.wake()

    def stop(self, timeout: float) -> bool:
        """End after the scan in work; False when that takes longer than `timeout` seconds."""
        self._is_stopping.set()
        self._slot.wake()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_stopping.is_set():
            scan = self._slot.take(timeout=1.0)
            while self._actions:
                self._attempt(self._actions.popleft(), self._odometry)
            if scan is not None and not self._is_stopping.is_set():
                self._attempt(self._process, self._odometry, scan)

    def _attempt(self, function: Callable, *arguments: object) -> None:
        try:
            function(*arguments)
        except Exception as error:  # noqa: BLE001  a robot's node outlives any error of its core
            self._on_error(error)
