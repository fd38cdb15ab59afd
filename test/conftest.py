"""Settings of the whole suite, and the fixture of tests that use ROS."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

try:
    from hypothesis import settings
except ImportError:  # tests that need it are skipped by name
    pass
else:
    settings.register_profile("no_deadline", deadline=None)  # a busy machine is no failure
    settings.load_profile("no_deadline")

# A shell's background jobs ignore SIGINT, and so would the processes under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DOMAIN_IDS = range(1, 102)  # the ids whose ports lie below Linux's ephemeral range


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other running test on this machine uses, set in the environment of child processes.

    It is the free one whose last use is longest ago: the endpoints of a killed process stay in the graph of its domain
    for 20 s. Skips where rclpy is not installed. In the test's own process: `rclpy.init(domain_id=ros_domain)`, or a
    context.
    """
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    for domain in sorted(DOMAIN_IDS, key=_last_use):
        try:
            lock = _lock_file(domain).open("w")
        except PermissionError:  # of another user
            continue
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
            yield domain
            os.utime(lock.fileno())
            return
    pytest.fail("every ROS domain id is taken by a running test")


def _lock_file(domain: int) -> Path:
    return Path(tempfile.gettempdir(), f"prnet_ros_domain_{domain}.lock")


def _last_use(domain: int) -> float:
    """Time stamp of the lock file; 0 where no test has used the domain."""
    try:
        return _lock_file(domain).stat().st_mtime
    except OSError:
        return 0.0
