"""The process of the node that the demo starts."""

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


class NodeProcess:
    """prnet_node in a process of its own, its output in a log file; ended when the `with` block ends."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self._log = log
        command = [sys.executable, "-m", "prnet_ros.node.main", *arguments]
        with log.open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_until(self, is_reached: Callable[[], bool], timeout: float) -> bool:
        """Whether it is reached within `timeout` seconds. Raises DemoError when the node ends meanwhile."""
        deadline = time.monotonic() + timeout
        while not is_reached():
            if self._process.poll() is not None:
                raise self.failure(f"ended with exit code {self._process.returncode}")
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def failure(self, what: str) -> DemoError:
        """An error that says `what` happened to the node, with the last lines of its log."""
        lines = self._log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        return DemoError("\n  ".join([f"the node {what}; last lines of its log ({self._log}):", *lines]))

    def stop(self) -> int:
        """Send SIGINT, after STOP_TIMEOUT SIGKILL; its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return self._process.wait()
