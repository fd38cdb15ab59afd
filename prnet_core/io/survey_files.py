"""LAS and LAZ by `laspy`, E57 by `pye57`: both in the extra `files`."""

from __future__ import annotations

import logging
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

_LAS_HEADER = 375  # bytes
_SMALLEST_CHUNK, _LARGEST_CHUNK = 1_000, 1_000_000  # points


def read_las(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 in the file's unit, scale and offset applied.

    Raises:
        ValueError: not a LAS file, or one that ends before its last point.
        ImportError: laspy is not installed.
    """
    try:
        import laspy
    except ImportError as error:
        raise ImportError(f"{path}: LAS files need the package laspy: pip install 'laspy[lazrs]'") from error
    logging.getLogger("laspy").setLevel(logging.CRITICAL)
    with open(path, "rb") as stream:
        _check_las_header(stream, path.stat().st_size)
        stream.seek(0)
        chunks, number = [], _SMALLEST_CHUNK
        try:
            file = laspy.open(stream, laz_backend=laspy.LazBackend.Lazrs, read_evlrs=False)
            promised = file.header.point_count
            while (read := sum(map(len, chunks))) < promised:
                chunk = file.read_points(min(number, promised - read))
                if len(chunk) == 0:
                    break
                chunks.append(np.stack([np.asarray(chunk.x), np.asarray(chunk.y), np.asarray(chunk.z)], axis=1))
                number = min(4 * number, _LARGEST_CHUNK)
        except BaseException as error:  # laspy, struct and numpy each raise their own, lazrs panics
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            raise ValueError(f"not a readable LAS file, or cut short: {error}") from error
    if read < promised:
        raise ValueError(f"cut short: {read} points, fewer than the {promised} of its header")
    return np.concatenate(chunks) if chunks else np.empty((0, 3))


def _check_las_header(stream: BinaryIO, num_bytes: int) -> None:
    """Raise ValueError where sizes in the file contradict its own: laspy and lazrs would allocate what they promise."""
    header = stream.read(_LAS_HEADER)
    if not header.startswith(b"LASF") or len(header) < 227:
        raise ValueError("not a LAS file")
    header_size, data_start, num_records, point_format, point_size, count = struct.unpack_from("<HIIBHI", header, 94)
    if header[25] >= 4 and len(header) >= 255:
        (count,) = struct.unpack_from("<Q", header, 247)
    if not header_size + 54 * num_records <= data_start <= num_bytes:
        raise ValueError("not a readable LAS file, or cut short: its header and records do not fit into it")
    if point_format < 128:
        if data_start + count * point_size > num_bytes:
            raise ValueError(f"cut short: fewer points than the {count} of its header")
        return
    table_start = _int64_at(stream, data_start)
    if table_start == -1:  # of a writer that could not seek: the last bytes say where the table is
        table_start = _int64_at(stream, num_bytes - 8)
    if not data_start <= table_start <= num_bytes - 8:
        raise ValueError("not a readable LAZ file, or cut short: it has no table of chunks")
    if point_format & 0x3F >= 6 and count:
        stream.seek(data_start + 8 + point_size + 4)  # of the first chunk: after the table's place, a point, a count
        layers = struct.unpack("<9I", stream.read(36).ljust(36, b"\xff"))
        if sum(layers) > num_bytes:
            raise ValueError("not a readable LAZ file, or cut short: the layers of its first chunk do not fit into it")
    num_chunks = _int64_at(stream, table_start) >> 32
    if not 0 <= num_chunks * point_size <= num_bytes:
        raise ValueError(f"not a readable LAZ file: {num_chunks} chunks do not fit into it")


def _int64_at(stream: BinaryIO, position: int) -> int:
    stream.seek(position)
    return int.from_bytes(stream.read(8), "little", signed=True)


def read_e57(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 of all scans of the file, in the file's common frame, metres.

    Raises:
        ValueError: not an E57 file, or a damaged one.
        ImportError: pye57 is not installed.
    """
    try:
        import pye57
    except ImportError as error:
        raise ImportError(f"{path}: E57 files need the package pye57: pip install pye57") from error
    try:
        with pye57.E57(str(path)) as file:
            scans = [file.read_scan(index, ignore_missing_fields=True) for index in range(file.scan_count)]
    except Exception as error:  # the C++ library has no exception type of its own in Python
        raise ValueError(f"not a readable E57 file: {error}") from error
    clouds = [np.stack([scan[f"cartesian{axis}"] for axis in "XYZ"], axis=1) for scan in scans]
    return np.concatenate(clouds) if clouds else np.empty((0, 3))
