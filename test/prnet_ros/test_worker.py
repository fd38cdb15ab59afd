"""The queue, which keeps the latest scan only, and the worker thread, which no error ends."""

import threading

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from prnet_ros.node.counters import Counters  # noqa: E402
from prnet_ros.node.pipeline import ScanPipeline  # noqa: E402
from prnet_ros.node.registration_process import LoadedNetwork, ProcessDied, RemoteError  # noqa: E402
from prnet_ros.node.scan_queue import ScanQueue  # noqa: E402
from prnet_ros.node.worker import Worker  # noqa: E402


def test_the_latest_replaces_and_the_older_one_is_reported():
    queue = ScanQueue()
    assert [queue.put(scan) for scan in "abc"] == [False, True, True]
    assert queue.take(0.0) == "c"
    assert queue.take(0.0) is None
    assert queue.put("d") is False


def test_scans_are_taken_in_order_and_the_oldest_is_dropped():
    queue = ScanQueue(2)
    assert [queue.put(scan) for scan in "abc"] == [False, False, True]
    assert [queue.take(0.0) for _ in range(3)] == ["b", "c", None]


def test_another_capacity_drops_the_oldest_scans():
    queue = ScanQueue(3)
    assert queue.is_empty() and not any(queue.put(scan) for scan in "abc")
    assert queue.resize(1) == 2 and queue.resize(1) == 0
    assert queue.put("d") and not queue.is_empty()
    assert queue.resize(2) == 0 and not queue.put("e")
    assert [queue.take(0.0) for _ in range(3)] == ["d", "e", None]


def test_take_waits_for_put_and_for_wake():
    queue = ScanQueue()
    taken = []
    thread = threading.Thread(target=lambda: taken.extend([queue.take(60.0), queue.take(60.0)]))
    thread.start()
    queue.put("a")
    while not taken and thread.is_alive():
        queue.wake()
        thread.join(0.01)
    queue.wake()
    thread.join(60.0)
    assert "a" in taken or taken == [None, "a"]


def test_only_an_unwanted_scan_is_discarded():
    queue = ScanQueue()
    assert queue.discard(lambda scan: True) == 0
    queue.put("a")
    assert queue.discard(lambda scan: scan == "b") == 0
    assert queue.take(0.0) == "a"
    queue.put("a")
    assert queue.discard(lambda scan: scan == "a") == 1
    assert queue.take(0.0) is None


def test_a_node_that_does_not_catch_up_after_the_first_pair_goes_back_to_the_latest_scan():
    counters, queue = Counters(), ScanQueue()
    pipeline = ScanPipeline(counters, queue, *[None] * 5)
    waiting = []

    def register(status, stamp, *arrived):
        for scan in arrived:
            queue.put(scan)
        pipeline._limit_queue(status, stamp)
        waiting.append(list(queue._scans))

    register("first", 0.0, 1)
    queue.take(0.0)
    register("accepted", 0.1, 2, 3, 4, 5)
    register("accepted", 1.0)
    assert waiting == [[1], [3, 4, 5], [3, 4, 5]]
    register("accepted", 1.1)
    register("accepted", 1.2, 6)
    register("reset", 0.5)
    register("accepted", 0.6, 7, 8)
    assert waiting[3:] == [[5], [6], [6], [6, 7, 8]]
    assert counters.copy().totals["dropped"] == 2


class FakeProcess:
    """Stands in for RegistrationProcess."""

    title = "the process"

    def __init__(self):
        self.is_ended, self.is_killed = threading.Event(), False

    def wait_until_ready(self):
        return LoadedNetwork(False, "none", "none")

    def is_alive(self):
        return not self.is_ended.is_set()

    def kill(self):
        self.is_killed = True
        self.is_ended.set()

    close = kill


class Harness:
    """A worker whose processes are fakes, and what it does with scans: exceptions are raised, others are noted."""

    def __init__(self):
        self.processes, self.scans, self.errors, self.deaths, self.ready = [], [], [], [], 0
        self.queue, self.done = ScanQueue(), threading.Semaphore(0)
        self.worker = Worker(self.start, self.queue, self.process, self.on_ready, self.on_died, self.on_error)

    def start(self):
        self.processes.append(FakeProcess())
        return self.processes[-1]

    def process(self, registration, scan):
        if isinstance(scan, Exception):
            raise scan
        self.scans.append((scan, self.processes.index(registration)))
        self.done.release()

    def on_ready(self, registration, loaded):
        self.ready += 1
        self.done.release()

    def on_died(self, reason):
        self.deaths.append(reason)

    def on_error(self, error):
        self.errors.append(error)
        self.done.release()

    def wait(self):
        assert self.done.acquire(timeout=60)

    def put_and_wait(self, scan):
        self.queue.put(scan)
        self.wait()


@pytest.fixture
def harness():
    harness = Harness()
    harness.worker.start()
    harness.wait()  # until the process is ready
    yield harness
    assert harness.worker.stop(60.0)
    assert all(process.is_killed for process in harness.processes)


def test_errors_are_passed_on_and_the_next_scan_is_processed(harness):
    for scan in ("a", ValueError("bad"), RemoteError("KeyError", "worse", ""), "b"):
        harness.put_and_wait(scan)
    assert harness.scans == [("a", 0), ("b", 0)]
    assert [type(error) for error in harness.errors] == [ValueError, RemoteError]


def test_a_process_that_dies_over_a_scan_is_replaced(harness):
    harness.put_and_wait("a")
    harness.put_and_wait(ProcessDied("ended with -9"))  # until the next one is ready
    harness.put_and_wait("b")
    assert harness.scans == [("a", 0), ("b", 1)]
    assert harness.deaths == ["ended with -9"] and harness.ready == 2 and not harness.errors
    assert harness.processes[0].is_killed


def test_a_process_that_dies_while_it_waits_is_replaced(harness):
    harness.processes[0].is_ended.set()
    harness.wait()
    harness.put_and_wait("a")
    assert harness.scans == [("a", 1)] and len(harness.deaths) == 1


def test_actions_run_in_the_worker_thread_between_two_scans(harness):
    in_work, go_on, order = threading.Event(), threading.Event(), []

    def slow(registration, scan):
        in_work.set()
        assert go_on.wait(60)
        order.append((scan, threading.current_thread().name))
        harness.done.release()

    harness.worker._process = slow
    harness.queue.put("a")
    assert in_work.wait(60)
    swapped = harness.worker.between_scans(lambda _: order.append(("swap", threading.current_thread().name)) or "value")
    failed = harness.worker.between_scans(lambda _: 1 / 0)
    harness.queue.put("b")
    go_on.set()
    assert swapped.result(60) == "value"
    with pytest.raises(ZeroDivisionError):
        failed.result(60)
    for _ in range(3):  # a, the error, b
        harness.wait()
    assert [what for what, _ in order] == ["a", "swap", "b"]
    assert {thread for _, thread in order} == {"prnet_worker"}
    assert [type(error) for error in harness.errors] == [ZeroDivisionError]


def test_actions_do_not_wait_for_a_scan(harness):
    assert harness.worker.between_scans(lambda registration: 7).result(60) == 7


def test_stop_cancels_what_was_not_done_and_gives_up_on_a_scan_that_takes_too_long():
    harness, go_on, in_work = Harness(), threading.Event(), threading.Event()

    def stuck(registration, scan):
        in_work.set()
        go_on.wait(60)

    harness.worker._process = stuck
    harness.worker.start()
    harness.queue.put("a")
    assert in_work.wait(60)
    late = harness.worker.between_scans(lambda registration: None)
    assert not harness.worker.stop(0.01)
    assert harness.processes[0].is_killed
    go_on.set()
    assert harness.worker.stop(60.0)
    assert late.cancelled()
