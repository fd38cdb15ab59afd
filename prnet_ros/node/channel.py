"""Objects between two processes: small ones through a socket, large arrays through anonymous shared memory."""

from __future__ import annotations

import mmap
import os
import pickle
import socket
from multiprocessing.connection import Connection
from typing import Any

_SHARED_FROM = 4096  # bytes; smaller arrays travel with the object
_ALIGNMENT = 64  # bytes, of an array in the shared memory


class ChannelClosed(Exception):
    """The process at the other end is gone."""


class Channel:
    """One end of a connection that carries one message at a time in each direction: request, answer, request, ...

    An object is pickled; its arrays of 4 kB and more are copied into an anonymous memory file (memfd) that the
    other process maps. Nothing is left in /dev/shm, and the memory is freed with the processes. A received object
    belongs to the receiver. A sender overwrites the memory when it sends again: hence the strict alternation.
    """

    def __init__(self, connection_fd: int, outgoing_fd: int, incoming_fd: int) -> None:
        self._connection = Connection(connection_fd)
        self._outgoing, self._incoming = _SharedFile(outgoing_fd), _SharedFile(incoming_fd)

    @classmethod
    def pair(cls) -> tuple[Channel, tuple[int, int, int]]:
        """This process's end, and the three file descriptors that make the other end: `Channel(*descriptors)`."""
        here, there = socket.socketpair()
        requests, answers = os.memfd_create("prnet_requests"), os.memfd_create("prnet_answers")
        descriptors = there.detach(), os.dup(answers), os.dup(requests)
        return cls(here.detach(), requests, answers), descriptors

    def send(self, message: Any) -> None:
        """Send an object. Raises ChannelClosed."""
        buffers: list[memoryview] = []

        def is_in_band(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < _SHARED_FROM:
                return True
            buffers.append(raw)
            return False

        data = pickle.dumps(message, protocol=5, buffer_callback=is_in_band)
        places, end = [], 0
        for buffer in buffers:
            places.append((end, buffer.nbytes))
            end += -(-buffer.nbytes // _ALIGNMENT) * _ALIGNMENT
        memory = self._outgoing.grown_to(end)
        for (start, length), buffer in zip(places, buffers):
            memory[start : start + length] = buffer
        try:
            self._connection.send_bytes(pickle.dumps((data, places)))
        except OSError as error:
            raise ChannelClosed(str(error)) from error

    def receive(self, timeout: float | None = None) -> Any:
        """The next object. Raises ChannelClosed, and TimeoutError after `timeout` seconds (None: waits on)."""
        try:
            if not self._connection.poll(timeout):
                raise TimeoutError(f"no message within {timeout:g} s")
            data, places = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError) as error:
            raise ChannelClosed(str(error)) from error
        memory = self._incoming.grown_to(max((start + length for start, length in places), default=0))
        buffers = [bytearray(memory[start : start + length]) for start, length in places]
        return pickle.loads(data, buffers=buffers)

    def close(self) -> None:
        """Close this end; the other one gets ChannelClosed."""
        self._connection.close()
        self._outgoing.close()
        self._incoming.close()


class _SharedFile:
    """A memory file; the mapping grows with the largest message."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._map: mmap.mmap | None = None
        self._view = memoryview(b"")

    def grown_to(self, size: int) -> memoryview:
        """The bytes of the file, at least `size` of them."""
        if size > len(self._view):
            size = max(size, 2 * len(self._view))
            if os.fstat(self._fd).st_size < size:
                os.ftruncate(self._fd, size)
            self._unmap()
            self._map = mmap.mmap(self._fd, os.fstat(self._fd).st_size)
            self._view = memoryview(self._map)
        return self._view

    def close(self) -> None:
        self._unmap()
        os.close(self._fd)

    def _unmap(self) -> None:
        self._view.release()
        if self._map is not None:
            self._map.close()
        self._map, self._view = None, memoryview(b"")
