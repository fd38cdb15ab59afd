"""The thread that owns a process of the node."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from prnet_ros.node.registration_process import LoadedNetwork, ProcessDied, RegistrationProcess
from prnet_ros.node.scan_queue import Scan, ScanQueue

Action = Callable[[RegistrationProcess], Any]
_WATCH_PERIOD = 1.0  # s, between two checks of an idle process
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0  # s, before a restart; doubled each time until a scan was processed


class Worker:
    """Starts the process, sends it the scans of a queue one after the other, and restarts it when it ends.

    start_process(): makes a RegistrationProcess. The other functions are called in the worker's thread:
    on_ready(registration, loaded): the process, or one that replaces it, can take scans. process(registration, scan):
    for every scan. on_died(reason): the process has ended by itself; its odometry is lost. on_error(error): for any
    exception of `process` or of an action; the thread continues.
    """

    def __init__(
        self,
        start_process: Callable[[], RegistrationProcess],
        queue: ScanQueue,
        process: Callable[[RegistrationProcess, Scan], None],
        on_ready: Callable[[RegistrationProcess, LoadedNetwork], None],
        on_died: Callable[[str], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._start_process = start_process
        self._queue = queue
        self._process = process
        self._on_ready, self._on_died, self._on_error = on_ready, on_died, on_error
        self._lock = threading.Lock()  # of the start of a process and `stop`
        self._registration: RegistrationProcess | None = None
        self._actions: deque[tuple[Action, Future]] = deque()
        self._pause = _FIRST_PAUSE
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="prnet_worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def between_scans(self, action: Action) -> Future:
        """Run `action(registration)` in the worker's thread before its next scan; returns at once.

        The future has its value, or its exception, or is cancelled when the worker stops.
        """
        future: Future = Future()
        self._actions.append((action, future))
        self._queue.wake()
        return future

    def stop(self, timeout: float) -> bool:
        """End the process, also during a call, and the thread; False when that takes over `timeout` seconds."""
        with self._lock:
            self._is_stopping.set()
            if self._registration is not None:
                self._registration.kill()
        self._queue.wake()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_stopping.is_set():
            try:
                self._serve_one_process()
            except ProcessDied as died:
                if self._is_stopping.is_set():
                    break
                self._on_died(str(died))
            except Exception as error:  # the node continues, and reports the error
                self._on_error(error)
            self._is_stopping.wait(self._pause)
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        while self._actions:
            self._actions.popleft()[1].cancel()

    def _serve_one_process(self) -> None:
        """Run one process until it dies (ProcessDied), cannot start (RemoteError), or the worker is to stop."""
        with self._lock:
            if self._is_stopping.is_set():
                return
            self._registration = registration = self._start_process()
        try:
            self._on_ready(registration, registration.wait_until_ready())
            while not self._is_stopping.is_set():
                scan = self._queue.take(timeout=_WATCH_PERIOD)
                self._run_actions(registration)
                if scan is not None and not self._is_stopping.is_set():
                    self._attempt(registration, scan)
                if not registration.is_alive():
                    raise ProcessDied(f"{registration.title} ended between two scans")
        finally:
            with self._lock:
                self._registration = None
            registration.close()

    def _run_actions(self, registration: RegistrationProcess) -> None:
        while self._actions:
            action, future = self._actions.popleft()
            try:
                future.set_result(action(registration))
            except ProcessDied as died:
                future.set_exception(died)
                raise
            except Exception as error:
                future.set_exception(error)
                self._on_error(error)

    def _attempt(self, registration: RegistrationProcess, scan: Scan) -> None:
        try:
            self._process(registration, scan)
            self._pause = _FIRST_PAUSE
        except ProcessDied:
            raise
        except Exception as error:  # no error of the core may end the node
            self._on_error(error)
