"""Base of the readers of damaged bag files, which read record after record without the index of the file."""

import bz2
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple


class BagChannel(NamedTuple):
    """A topic of the file as `rosbags` names a connection: id, topic, type in ROS 2 spelling, number of messages."""

    id: int
    topic: str
    msgtype: str
    msgcount: int


class CutBag:
    """The readable messages of a bag file.

    connections: its topics. num_messages: readable ones. num_damaged: parts that are skipped.
    cut_at: the byte after which nothing is readable, or None when the end is there. num_bytes: the file's size.
    """

    def __init__(self, path: Path):
        """Read the file through once. Raises ValueError for another format, or a file without a complete message."""
        self.path = path
        self.num_bytes = path.stat().st_size
        self.num_damaged = 0
        self.cut_at: int | None = None
        self._channels: dict[int, BagChannel] = {}
        counts: dict[int, int] = {}
        for channel, _, _ in self._read():
            counts[channel] = counts.get(channel, 0) + 1
        self.num_messages = sum(counts.values())
        if not counts:
            raise ValueError("no complete message in it")
        self.connections = [
            channel._replace(msgcount=counts.get(number, 0)) for number, channel in self._channels.items()
        ]

    def messages(self, connections: Collection[Any]) -> Iterator[tuple[BagChannel, int, bytes]]:
        """(connection, log time in nanoseconds, data) in the order of the file."""
        wanted = {connection.id: connection for connection in connections}
        for channel, log_time, data in self._read():
            if channel in wanted:
                yield wanted[channel], log_time, data

    def _read(self) -> Iterator[tuple[int, int, bytes]]:
        """(channel, log time, data) of each message of a known channel; sets num_damaged and cut_at."""
        raise NotImplementedError


def decompressed(data: bytes, compression: str, size: int) -> bytes:
    """The first `size` bytes of a chunk or message, or as many as there are; `compression` as the bag names it.

    Raises ValueError for an unknown compression, and what the decompressors raise for damaged data.
    """
    if compression in ("", "none"):
        return data
    if compression == "bz2":
        return bz2.BZ2Decompressor().decompress(data, size)
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor().decompress(data, size)
    if compression != "zstd":
        raise ValueError(f"unknown compression {compression!r}")
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor().decompress(data, size)
