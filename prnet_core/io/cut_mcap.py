"""MCAP files without their end, or with a damaged chunk: the messages before the cut and in the other chunks.

`rosbags` reads an MCAP file by the index at its end, which a recorder writes when it stops. Here the records are read
one after the other instead, as `mcap recover` does; a chunk that is cut gives what can be decompressed of it.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from prnet_core.io.cut_bag import BagChannel, CutBag, decompressed

MAGIC = b"\x89MCAP0\r\n"
_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
_LARGEST_CHUNK = 1 << 26  # bytes, or ten times the file


class CutMcap(CutBag):
    """The readable messages of an MCAP file, by log time within a chunk."""

    def _read(self) -> Iterator[tuple[int, int, bytes]]:
        self.num_damaged, self.cut_at = 0, None
        self._schemas: dict[int, str] = {}
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
                    self.cut_at = self.num_bytes if kind == _CHUNK else start
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
                    self._channels[number] = BagChannel(number, topic, self._schemas[schema], 0)
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
    """The records of a chunk; if it is cut, those that exist."""
    (size,) = struct.unpack_from("<Q", record, 16)
    (compression,) = _strings(record, 28, 1)
    start = 32 + len(compression) + 8
    if size > largest or len(record) < start:
        raise ValueError("no chunk")
    packed = record[start : start + struct.unpack_from("<Q", record, start - 8)[0]]
    return decompressed(packed, compression, size)
