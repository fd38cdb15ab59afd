"""Objects and arrays between two ends of a channel; nothing of it has a name in the file system."""

import threading
from pathlib import Path

import numpy as np
import pytest

from prnet_ros.node.channel import Channel, ChannelClosed


@pytest.fixture
def ends():
    here, descriptors = Channel.pair()
    there = Channel(*descriptors)
    yield here, there
    here.close()
    there.close()


def test_objects_and_arrays_of_any_size_arrive_as_they_were_sent(ends):
    here, there = ends
    rng = np.random.default_rng(0)
    for size in (0, 3, 600, 30_000, 100, 1_000_000):  # the memory grows, and is then larger than needed
        message = {"name": "scan", "points": rng.normal(size=(size, 3)), "times": rng.random(size, np.float32), "n": 3}
        here.send(message)
        there.send(there.receive())
        answer = here.receive()
        assert (answer["name"], answer["n"]) == ("scan", 3)
        np.testing.assert_array_equal(answer["points"], message["points"])
        assert answer["times"].dtype == np.float32 and np.array_equal(answer["times"], message["times"])


def test_what_was_received_belongs_to_the_receiver(ends):
    here, there = ends
    here.send(np.zeros(10_000))
    first = there.receive()
    here.send(np.ones(10_000))
    second = there.receive()
    first += 2.0
    assert (first == 2.0).all() and (second == 1.0).all()


def test_arrays_that_are_not_contiguous(ends):
    here, there = ends
    array = np.arange(6_000.0).reshape(3, -1)
    here.send((array.T, array[:, ::2]))
    transposed, strided = there.receive()
    np.testing.assert_array_equal(transposed, array.T)
    np.testing.assert_array_equal(strided, array[:, ::2])


def test_a_closed_end_ends_a_wait_and_a_timeout_too(ends):
    here, there = ends
    with pytest.raises(TimeoutError):
        here.receive(timeout=0.01)
    thread = threading.Timer(0.05, there._connection.close)
    thread.start()
    with pytest.raises(ChannelClosed):
        here.receive()
    thread.join()  # this end sees the close before the call has returned
    with pytest.raises(ChannelClosed):
        for _ in range(3):  # a socket may take the first
            here.send("more")


def test_nothing_is_left_in_dev_shm(ends):
    here, there = ends
    before = set(Path("/dev/shm").iterdir())
    here.send(np.zeros(100_000))
    there.receive()
    assert not {path for path in Path("/dev/shm").iterdir() if "prnet" in path.name} - before
