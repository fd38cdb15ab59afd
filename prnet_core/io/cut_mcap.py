"""MCAP files without their end, or with a damaged chunk: the messages before the cut and in the other chunks.

`rosbags` reads an MCAP file by the index at its end, which a recorder writes when it stops. Here the records are read
one after the other instead, as `mcap recover` does; of the chunk that is cut, what can be decompressed.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
_LARGEST_CHUNK = 1 << 26  # bytes, or ten times the file


class McapChannel(NamedTuple):
    """A topic of the file as `rosbags` names a connection: id, topic, type in ROS 2 spelling, number of messages."""

    id: int
    topic: str
    msgtype: str
    msgcount: int


class CutMcap:
    """The readable messages of an MCAP file.

    connections: its topics. num_messages: readable ones. num_damaged: chunks that are skipped.
    cut_at: the byte after which nothing is readable, or None when the end is there. num_bytes: the file's size.
    """

    def __init__(self, path: Path):
        """Read the file through once.

        Raises:
            ValueError: it is no MCAP file, or holds no complete message.
            OSError: it cannot be opened.
        """
        self.path = path
        self.num_bytes = path.stat().st_size
        self.num_damaged = 0
        self.cut_at: int | None = None
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, McapChannel] = {}
        counts: dict[int, int] = {}
        for channel, _, _ in self._read():
            counts[channel] = counts.get(channel, 0) + 1
        self.num_messages = sum(counts.values())
        if not counts:
            raise ValueError("no complete message in it")
        self.connections = [
            channel._replace(msgcount=counts.get(number, 0)) for number, channel in self._channels.items()
        ]

    def messages(self, connections: Collection[Any]) -> Iterator[tuple[McapChannel, int, bytes]]:
        """(connection, log time in nanoseconds, data) in the order of the file."""
        wanted = {connection.id: connection for connection in connections}
        for channel, log_time, data in self._read():
            if channel in wanted:
                yield wanted[channel], log_time, data

    def _read(self) -> Iterator[tuple[int, int, bytes]]:
        """(channel, log time, data) of each message of a known channel."""
        self.num_damaged, self.cut_at = 0, None
        with open(self.path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("it does not begin as an MCAP file")
            while True:
                start = file.tell()
                head = file.read(9)
                if len(head) < 9:
                    self.cut_at = start
                    return
                kind, size = struct.unpack("<BQ", head)
                if kind in (_FOOTER, _DATA_END):
                    return
                left = self.num_bytes - file.tell()
                if kind == _CHUNK:
                    yield from self._chunk(file, min(size, left))
                elif size <= left and kind in (_SCHEMA, _CHANNEL, _MESSAGE):
                    yield from self._record(kind, file.read(size))
                if size > left:
                    self.cut_at = start
                    return
                file.seek(start + 9 + size)

    def _chunk(self, file: BinaryIO, size: int) -> Iterator[tuple[int, int, bytes]]:
        """The messages of a chunk of which `size` bytes are there, by log time."""
        try:
            data = _decompress_chunk(file.read(size), max(_LARGEST_CHUNK, 10 * self.num_bytes))
        except Exception:  # each decompressor raises its own
            self.num_damaged += 1
            return
        messages = []
        position = 0
        while position + 9 <= len(data):
            kind, length = struct.unpack_from("<BQ", data, position)
            position += 9
            if position + length > len(data):
                break
            messages += self._record(kind, data[position : position + length])
            position += length
        yield from sorted(messages, key=lambda message: message[1])

    def _record(self, kind: int, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The message in a record, if it is one; schemas and channels are noted."""
        try:
            if kind == _SCHEMA:
                (number,) = struct.unpack_from("<H", data)
                self._schemas[number] = _strings(data, 2, 1)[0]
            elif kind == _CHANNEL:
                number, schema = struct.unpack_from("<HH", data)
                topic, encoding = _strings(data, 4, 2)
                if encoding == "cdr" and schema in self._schemas:
                    self._channels[number] = McapChannel(number, topic, self._schemas[schema], 0)
            elif kind == _MESSAGE:
                channel, _, log_time = struct.unpack_from("<HIQ", data)
                if channel in self._channels and len(data) >= 22:
                    yield channel, log_time, data[22:]
        except struct.error:
            return


def _strings(data: bytes, position: int, number: int) -> list[str]:
    texts = []
    for _ in range(number):
        (length,) = struct.unpack_from("<I", data, position)
        texts.append(data[position + 4 : position + 4 + length].decode("utf-8", "replace"))
        position += 4 + length
    return texts


def _decompress_chunk(record: bytes, largest: int) -> bytes:
    """The records of a chunk; of one that is cut, those that are there."""
    (size,) = struct.unpack_from("<Q", record, 16)
    (compression,) = _strings(record, 28, 1)
    start = 32 + len(compression) + 8
    if size > largest or len(record) < start:
        raise ValueError("no chunk")
    packed = record[start : start + struct.unpack_from("<Q", record, start - 8)[0]]
    return packed if not compression else _decompressor(compression)(packed, size)


def _decompressor(compression: str) -> Callable[[bytes, int], bytes]:
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor().decompress
    if compression != "zstd":
        raise ValueError(f"unknown compression {compression!r}")
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor().decompress
