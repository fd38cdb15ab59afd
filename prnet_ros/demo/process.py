"""A process that the demo starts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

STOP_TIMEOUT = 20.0  # s
LOG_LINES = 15


class DemoError(RuntimeError):
    """The demo cannot continue; the text says why."""


class Process:
    """A Python module run as a process of its own, its output in a log file; ended when the `with` block ends."""

    def __init__(self, name: str, module: str, arguments: list[str], log: Path) -> None:
        """Start `python -m module arguments`; `name` is used in error messages."""
        self._name = name
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments], stdout=output, stderr=subprocess.STDOUT
            )

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def check_running(self) -> None:
        """Raise DemoError with the last lines of its log when it has ended."""
        if not self.is_running():
            raise self.failure(f"ended with exit code {self._process.returncode}")

    def wait_until(self, is_reached: Callable[[], bool], timeout: float) -> bool:
        """Whether it is reached within `timeout` seconds. Raises DemoError when the process ends meanwhile."""
        deadline = time.monotonic() + timeout
        while not is_reached():
            self.check_running()
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def failure(self, what: str) -> DemoError:
        """An error that says `what` happened to the process, with the last lines of its log."""
        lines = self._log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        return DemoError("\n  ".join([f"the {self._name} {what}; last lines of its log ({self._log}):", *lines]))

    def stop(self) -> int:
        """Send SIGINT, after STOP_TIMEOUT SIGKILL; its exit code."""
        if self.is_running():
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()
