"""LAS and LAZ by `laspy`, E57 by `pye57`: both in the extra `files`."""

import logging
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

_LAS_HEADER = 375  # bytes
_LAZ_RECORD, _VARIABLE_CHUNKS = 22204, 0xFFFFFFFF
_LAYERED = (10, 11, 12, 13, 14)  # items of a point that is compressed in layers: point, RGB, RGB and NIR, waves, bytes
_LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}  # of an item; extra bytes have one a byte
_SMALLEST_CHUNK, _LARGEST_CHUNK = 1_000, 1_000_000  # points


def read_las(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 in the file's unit, scale and offset applied.

    Raises ValueError for a file that is not LAS or ends before its last point, ImportError without laspy.
    """
    try:
        import laspy
    except ImportError as error:
        raise ImportError(f"{path}: LAS files need the package laspy: pip install 'laspy[lazrs]'") from error
    logging.getLogger("laspy").setLevel(logging.CRITICAL)
    with open(path, "rb") as stream:
        num_bytes = path.stat().st_size
        table_start = _check_las_header(stream, num_bytes)
        stream.seek(0)
        chunks, number = [], _SMALLEST_CHUNK
        try:
            file = laspy.open(stream, laz_backend=laspy.LazBackend.Lazrs, read_evlrs=False)
            stated = file.header.point_count
            if table_start:
                position = stream.tell()
                (vlr,) = [record for record in file.header.vlrs if record.record_id == _LAZ_RECORD]
                _check_laz_chunks(stream, vlr.record_data, table_start, file.header.offset_to_point_data, stated)
                stream.seek(position)
            while (read := sum(map(len, chunks))) < stated:
                chunk = file.read_points(min(number, stated - read))
                if len(chunk) == 0:
                    break
                chunks.append(np.stack([np.asarray(chunk.x), np.asarray(chunk.y), np.asarray(chunk.z)], axis=1))
                number = min(4 * number, _LARGEST_CHUNK)
        except BaseException as error:  # laspy, struct and numpy raise different errors, lazrs panics
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            raise ValueError(f"not a readable LAS file, or cut short: {error}") from error
    if read < stated:
        raise ValueError(f"cut short: {read} points, fewer than the {stated} of its header")
    return np.concatenate(chunks) if chunks else np.empty((0, 3))


def _check_las_header(stream: BinaryIO, num_bytes: int) -> int:
    """Offset of the table of chunks of a LAZ file; 0 for LAS.

    Raises ValueError where sizes in the file contradict its own: laspy and lazrs allocate what these sizes state.
    """
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
        return 0
    table_start = _int64_at(stream, data_start)
    if table_start == -1:  # the writer could not seek: the last bytes hold the offset of the table
        table_start = _int64_at(stream, num_bytes - 8)
    if not data_start <= table_start <= num_bytes - 8:
        raise ValueError("not a readable LAZ file, or cut short: it has no table of chunks")
    num_chunks = _int64_at(stream, table_start) >> 32
    if not 0 <= num_chunks * point_size <= num_bytes:
        raise ValueError(f"not a readable LAZ file: {num_chunks} chunks do not fit into it")
    return table_start


def _check_laz_chunks(stream: BinaryIO, vlr: bytes, table_start: int, data_start: int, num_points: int) -> None:
    """Raise ValueError where a chunk, or the layers of one, are larger than the file: lazrs allocates what they state.

    vlr: the record of the LAZ compressor, which states the items of a point.
    """
    import lazrs

    items = [struct.unpack_from("<HHH", vlr, 34 + 6 * index) for index in range(struct.unpack_from("<H", vlr, 32)[0])]
    num_layers = sum(_LAYERS[kind] if kind in _LAYERS else size for kind, size, _ in items if kind in _LAYERED)
    stream.seek(table_start)
    compressor = lazrs.LazVlr(vlr)
    table = lazrs.read_chunk_table_only(stream, compressor)
    is_fixed = compressor.chunk_size() != _VARIABLE_CHUNKS
    if (len(table) * compressor.chunk_size() if is_fixed else sum(number for number, _ in table)) < num_points:
        raise ValueError(f"{len(table)} chunks hold fewer than the {num_points} points of its header")
    start = data_start + 8
    for index, (_, size) in enumerate(table):
        if start + size > table_start:
            raise ValueError(f"chunk {index} of {len(table)} does not fit into the file")
        if num_layers:
            stream.seek(start + sum(size for _, size, _ in items) + 4)  # after the first point and a count
            layers = np.frombuffer(stream.read(4 * num_layers).ljust(4 * num_layers, b"\xff"), "<u4")
            if int(layers.sum(dtype=np.int64)) > size:
                raise ValueError(f"the layers of chunk {index} of {len(table)} do not fit into it")
        start += size


def _int64_at(stream: BinaryIO, position: int) -> int:
    stream.seek(position)
    return int.from_bytes(stream.read(8), "little", signed=True)


def read_e57(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 of all scans of the file, in the file's common frame, metres.

    Raises ValueError for a file that is not E57 or is damaged, ImportError without pye57.
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
