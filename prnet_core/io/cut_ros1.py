"""ROS 1 bags without their index, as a recorder leaves them that was cut off (.bag.active), or with a damaged chunk.

`rosbags` reads a ROS 1 bag by the index at its end. Here the records are read one after the other instead, as
`rosbag reindex` does; a chunk that is cut gives the messages that are complete in it.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from prnet_core.io.cut_bag import BagChannel, CutBag, decompressed

MAGIC = b"#ROSBAG V2.0\n"
_MESSAGE, _CHUNK, _CONNECTION = 0x02, 0x05, 0x07
_LARGEST_HEADER = 1 << 20  # bytes
_LARGEST_CHUNK = 1 << 26  # bytes, or ten times the file

Record = tuple[dict[str, bytes], bytes]


class CutRos1(CutBag):
    """The readable messages of a ROS 1 bag file, version 2.0."""

    def _read(self) -> Iterator[tuple[int, int, bytes]]:
        self.num_damaged, self.cut_at = 0, None
        with open(self.path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("it does not begin as a ROS 1 bag")
            while (start := file.tell()) < self.num_bytes:
                record = self._next(file)
                if record is None:
                    self.cut_at = start
                    return
                fields, data = record
                if fields.get("op") == bytes([_CHUNK]):
                    yield from self._chunk(fields, data)
                else:
                    yield from self._record(fields, data)
                if file.tell() > self.num_bytes:
                    self.cut_at = self.num_bytes
                    return

    def _next(self, file: BinaryIO) -> Record | None:
        """The record at the file's position, its data as far as it is there; None where there is none."""
        length = file.read(4)
        if len(length) < 4 or not 0 < (size := struct.unpack("<I", length)[0]) <= _LARGEST_HEADER:
            return None
        fields = _fields(file.read(size))
        length = file.read(4)
        if "op" not in fields or len(length) < 4:
            return None
        (size,) = struct.unpack("<I", length)
        end = file.tell() + size
        data = file.read(min(size, self.num_bytes - file.tell()))
        if end > self.num_bytes and fields["op"] != bytes([_CHUNK]):
            return None
        file.seek(end)
        return fields, data

    def _chunk(self, fields: dict[str, bytes], packed: bytes) -> Iterator[tuple[int, int, bytes]]:
        try:
            data = _unpacked(fields, packed, max(_LARGEST_CHUNK, 10 * self.num_bytes))
        except Exception:  # each decompressor raises its own
            self.num_damaged += 1
            return
        position = 0
        while position + 4 <= len(data):
            (header,) = struct.unpack_from("<I", data, position)
            start = position + 4 + header + 4
            if start > len(data):
                return
            end = start + struct.unpack_from("<I", data, start - 4)[0]
            if end > len(data):
                return
            yield from self._record(_fields(data[position + 4 : position + 4 + header]), data[start:end])
            position = end

    def _record(self, fields: dict[str, bytes], data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The message in a record, if it is one; connections are noted."""
        try:
            if fields.get("op") == bytes([_CONNECTION]):
                (number,) = struct.unpack("<I", fields["conn"])
                package, _, name = _fields(data)["type"].decode("utf-8", "replace").rpartition("/")
                topic = fields["topic"].decode("utf-8", "replace")
                self._channels[number] = BagChannel(number, topic, f"{package}/msg/{name}", 0)
            elif fields.get("op") == bytes([_MESSAGE]):
                (number,) = struct.unpack("<I", fields["conn"])
                seconds, nanoseconds = struct.unpack("<II", fields["time"])
                if number in self._channels:
                    yield number, seconds * 10**9 + nanoseconds, data
        except (struct.error, KeyError):
            return


def _fields(header: bytes) -> dict[str, bytes]:
    """The `name=value` of a record's header; those before the first that is damaged."""
    fields: dict[str, bytes] = {}
    position = 0
    while position + 4 <= len(header):
        (length,) = struct.unpack_from("<I", header, position)
        name, separator, value = header[position + 4 : position + 4 + length].partition(b"=")
        if not separator:
            break
        fields[name.decode("ascii", "replace")] = value
        position += 4 + length
    return fields


def _unpacked(fields: dict[str, bytes], packed: bytes, largest: int) -> bytes:
    (size,) = struct.unpack("<I", fields["size"])
    if size > largest:
        raise ValueError(f"a chunk of {size} bytes")
    return decompressed(packed, fields.get("compression", b"none").decode("ascii", "replace"), size)
