"""PCD files (Point Cloud Library): ascii, binary and binary_compressed.

Our own reader: on benchmarks/compare_readers.py it answers 59 of 59 files correctly, Open3D 45 (14 with other
points and no error) and pypcd4 36. Only LZF is faster elsewhere: an organised cloud of 300,000 points takes 0.34 s
here, 0.014 s in C.
"""

import io
import warnings
from typing import NamedTuple

import numpy as np

from prnet_core.io.ascii_rows import of_width

_KINDS = {"F": "f", "I": "i", "U": "u"}
_TYPES = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}
_LONGEST_HEADER = 1 << 20  # bytes
_LZF_LARGEST_RATIO = 88  # three bytes become 264


class _Header(NamedTuple):
    """columns: position of x, y, z among the fields. dtypes, counts: of each field. num_points: as stated."""

    columns: list[int]
    dtypes: list[np.dtype]
    counts: list[int]
    num_points: int
    encoding: str

    @property
    def sizes(self) -> list[int]:
        """Bytes of each field in one point."""
        return [dtype.itemsize * count for dtype, count in zip(self.dtypes, self.counts)]


def read_pcd(data: bytes) -> np.ndarray:
    """xyz (N, 3) float64 of a PCD file's bytes; raises ValueError when the header or the data is not one."""
    lines, body = _split_header(data)
    header = _parse(lines)
    if header.num_points == 0:
        return np.empty((0, 3))
    if header.encoding == "ascii":
        return _read_ascii(body, header)
    if header.encoding == "binary_compressed":
        return _read_compressed(body, header)
    if header.encoding != "binary":
        raise ValueError(f"unknown PCD encoding {header.encoding!r}")
    point_size = sum(header.sizes)
    if len(body) < header.num_points * point_size:
        raise ValueError(f"{header.num_points} points need {header.num_points * point_size} bytes, not {len(body)}")
    offsets = np.concatenate([[0], np.cumsum(header.sizes)])
    columns = [
        np.ndarray((header.num_points,), header.dtypes[column], body, int(offsets[column]), (point_size,))
        for column in header.columns
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _split_header(data: bytes) -> tuple[dict[str, list[str]], bytes]:
    lines: dict[str, list[str]] = {}
    position = 0
    while "DATA" not in lines:
        end = data.find(b"\n", position)
        if not position <= end <= _LONGEST_HEADER:
            raise ValueError("no PCD header (a DATA line is missing)")
        words = data[position:end].decode("ascii", "replace").split()
        position = end + 1
        if words and not words[0].startswith("#"):
            lines[words[0].upper()] = words[1:]
    return lines, data[position:]


def _parse(lines: dict[str, list[str]]) -> _Header:
    names = [name.lower() for name in lines.get("FIELDS", lines.get("COLUMNS", []))]
    sizes, kinds = lines.get("SIZE", []), lines.get("TYPE", [])
    counts = [_number("COUNT", value) for value in lines.get("COUNT", ["1"] * len(names))]
    if not {"x", "y", "z"} <= set(names):
        raise ValueError(f"the PCD file has no x, y, z; its fields are: {' '.join(names) or 'none'}")
    if not len(names) == len(sizes) == len(kinds) == len(counts):
        raise ValueError("the PCD header is incomplete: FIELDS, SIZE, TYPE and COUNT differ in number")
    types = [f"{_KINDS.get(kind.upper(), '?')}{size}" for kind, size in zip(kinds, sizes)]
    for kind, size, name in zip(kinds, sizes, types):
        if name not in _TYPES:
            raise ValueError(f"unknown PCD type {kind} of size {size}")
    columns = [names.index(axis) for axis in "xyz"]
    for axis, column in zip("xyz", columns):
        if names.count(axis) > 1 or counts[column] != 1:
            raise ValueError(f"the PCD field {axis} holds more than one value per point")
    encoding = lines["DATA"][0].lower() if lines["DATA"] else ""
    return _Header(columns, [np.dtype("<" + name) for name in types], counts, _num_points(lines), encoding)


def _num_points(lines: dict[str, list[str]]) -> int:
    """POINTS, or WIDTH x HEIGHT; both where both are given, and then they have to agree."""
    points, width, height = (
        _number(key, lines[key][0]) if lines.get(key) else None for key in ("POINTS", "WIDTH", "HEIGHT")
    )
    if width is None:
        if points is None:
            raise ValueError("the PCD header has neither POINTS nor WIDTH")
        return points
    grid = width * (1 if height is None else height)
    if points is not None and points != grid:
        raise ValueError(f"the PCD header states {points} POINTS and a grid of {width} x {height}")
    return grid


def _number(key: str, text: str) -> int:
    if not text.isdigit() or len(text) > 18:
        raise ValueError(f"the PCD header's {key} is no number of points or values: {text!r}")
    return int(text)


def _read_ascii(body: bytes, header: _Header) -> np.ndarray:
    starts = np.concatenate([[0], np.cumsum(header.counts)])
    columns = [int(starts[column]) for column in header.columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a body without rows
        lines = of_width(io.BytesIO(body), int(starts[-1]))
        rows = np.loadtxt(lines, usecols=columns, ndmin=2, comments=None, encoding="latin-1")
    if len(rows) != header.num_points:
        than = "fewer" if len(rows) < header.num_points else "more"
        raise ValueError(f"{len(rows)} rows, {than} than the {header.num_points} points stated")
    return rows


def _read_compressed(body: bytes, header: _Header) -> np.ndarray:
    """Two uint32 sizes, then LZF of all values field by field (not point by point)."""
    if len(body) < 8:
        raise ValueError("the compressed block is missing")
    packed, unpacked = (int(value) for value in np.frombuffer(body, "<u4", 2))
    block = body[8 : 8 + packed]
    needed = header.num_points * sum(header.sizes)
    if unpacked < needed:
        raise ValueError(f"the compressed block holds fewer than {header.num_points} points")
    if len(block) < packed or unpacked > _LZF_LARGEST_RATIO * packed:
        raise ValueError(f"the compressed block has {len(block)} bytes, too few for the {unpacked} stated")
    raw = decompress_lzf(block, unpacked)
    offsets = np.concatenate([[0], np.cumsum(header.sizes)]) * header.num_points
    columns = [
        np.frombuffer(raw, header.dtypes[column], header.num_points, int(offsets[column])) for column in header.columns
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def decompress_lzf(data: bytes, size: int) -> bytes:
    """Decompress LZF (Lehmann), literal runs and references to earlier output, to `size` bytes."""
    out = bytearray()
    position, end = 0, len(data)
    try:
        while position < end and len(out) <= size:
            control = data[position]
            position += 1
            if control < 32:
                out += data[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[position]
                position += 1
            start = len(out) - ((control & 31) << 8) - data[position] - 1
            position += 1
            if start < 0:
                raise ValueError("LZF data refers to before its start")
            length += 2
            while length > 0:
                chunk = out[start : start + length]
                out += chunk
                start += len(chunk)
                length -= len(chunk)
    except IndexError:
        raise ValueError("LZF data ends within a reference") from None
    if len(out) != size:
        raise ValueError(f"LZF data gives {len(out)} bytes, {size} were stated")
    return bytes(out)
