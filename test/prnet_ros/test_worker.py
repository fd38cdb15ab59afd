"""The slot, where the newest wins, and the thread behind it, which nothing ends."""

import threading

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from prnet_ros.node.scan_slot import ScanSlot  # noqa: E402
from prnet_ros.node.worker import Worker  # noqa: E402


def test_newest_wins_and_the_older_one_is_reported():
    slot = ScanSlot()
    assert [slot.put(scan) for scan in "abc"] == [False, True, True]
    assert slot.take(0.0) == "c"
    assert slot.take(0.0) is None
    assert slot.put("d") is False


def test_take_waits_for_put_and_for_wake():
    slot = ScanSlot()
    taken = []
    thread = threading.Thread(target=lambda: taken.extend([slot.take(60.0), slot.take(60.0)]))
    thread.start()
    slot.put("a")
    while not taken and thread.is_alive():
        slot.wake()
        thread.join(0.01)
    slot.wake()
    thread.join(60.0)
    assert "a" in taken or taken == [None, "a"]


def test_only_an_unwanted_scan_is_discarded():
    slot = ScanSlot()
    slot.discard(lambda scan: True)
    slot.put("a")
    slot.discard(lambda scan: scan == "b")
    assert slot.take(0.0) == "a"
    slot.put("a")
    slot.discard(lambda scan: scan == "a")
    assert slot.take(0.0) is None


class Harness:
    """A worker whose odometry is a list that the scans are added to."""

    def __init__(self):
        self.odometry, self.errors, self.slot = [], [], ScanSlot()
        self.done = threading.Semaphore(0)
        self.worker = Worker(self.odometry, self.slot, self.process, self.on_error)

    def process(self, odometry, scan):
        if isinstance(scan, Exception):
            raise scan
        odometry.append((scan, threading.current_thread().name))
        self.done.release()

    def on_error(self, error):
        self.errors.append(error)
        self.done.release()

    def put_and_wait(self, scan):
        self.slot.put(scan)
        assert self.done.acquire(timeout=60)


@pytest.fixture
def harness():
    harness = Harness()
    harness.worker.start()
    yield harness
    assert harness.worker.stop(60.0)


def test_errors_are_handed_on_and_the_next_scan_is_processed(harness):
    for scan in ("a", ValueError("bad"), KeyError("worse"), "b"):
        harness.put_and_wait(scan)
    assert [scan for scan, _ in harness.odometry] == ["a", "b"]
    assert [type(error) for error in harness.errors] == [ValueError, KeyError]


def test_actions_run_in_the_worker_thread_between_two_scans(harness):
    in_work, go_on = threading.Event(), threading.Event()

    def slow(odometry, scan):
        in_work.set()
        assert go_on.wait(60)
        odometry.append((scan, threading.current_thread().name))
        harness.done.release()

    harness.worker._process = slow
    harness.slot.put("a")
    assert in_work.wait(60)
    harness.worker.between_scans(lambda odometry: odometry.append(("swap", threading.current_thread().name)))
    harness.worker.between_scans(lambda odometry: 1 / 0)
    harness.slot.put("b")
    go_on.set()
    for _ in range(3):
        assert harness.done.acquire(timeout=60)
    assert [what for what, _ in harness.odometry] == ["a", "swap", "b"]
    assert {thread for _, thread in harness.odometry} == {"prnet_worker"}
    assert [type(error) for error in harness.errors] == [ZeroDivisionError]


def test_actions_do_not_wait_for_a_scan(harness):
    ran = threading.Event()
    harness.worker.between_scans(lambda odometry: ran.set())
    assert ran.wait(60)


def test_stop_gives_up_on_a_scan_that_takes_too_long():
    harness, go_on, in_work = Harness(), threading.Event(), threading.Event()

    def stuck(odometry, scan):
        in_work.set()
        go_on.wait(60)

    harness.worker._process = stuck
    harness.worker.start()
    harness.slot.put("a")
    assert in_work.wait(60)
    assert not harness.worker.stop(0.01)
    go_on.set()
    assert harness.worker.stop(60.0)
