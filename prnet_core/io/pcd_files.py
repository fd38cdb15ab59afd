"""PCD files (Point Cloud Library): ascii, binary and binary_compressed, without a library."""

from pathlib import Path

import numpy as np

_KINDS = {"F": "f", "I": "i", "U": "u"}


def read_pcd(data: bytes, path: Path) -> np.ndarray:
    """xyz (N, 3) float64 of a PCD file's bytes; raises ValueError when the header or the data is not one."""
    header, body = _split_header(data, path)
    names = header.get("FIELDS", [])
    sizes = [int(value) for value in header.get("SIZE", [])]
    kinds = header.get("TYPE", [])
    counts = [int(value) for value in header.get("COUNT", ["1"] * len(names))]
    if not {"x", "y", "z"} <= set(names) or not len(names) == len(sizes) == len(kinds) == len(counts):
        raise ValueError(f"{path}: the PCD header has no x, y, z or is incomplete")
    num_points = int(header.get("POINTS", header.get("WIDTH", ["0"]))[0])
    dtype = np.dtype(
        [
            (f"{name}_{i}" if name == "_" else name, f"<{_KINDS[kind]}{size}", (count,))
            for i, (name, size, kind, count) in enumerate(zip(names, sizes, kinds, counts))
        ]
    )
    encoding = header["DATA"][0]
    if encoding == "ascii":
        starts = np.concatenate([[0], np.cumsum(counts)])
        columns = [int(starts[names.index(axis)]) for axis in "xyz"]
        rows = np.loadtxt(body.decode("ascii", "replace").splitlines(), usecols=columns, ndmin=2)
        return rows.reshape(-1, 3)
    if encoding == "binary_compressed":
        return _read_compressed(body, dtype, num_points, path)
    if encoding != "binary":
        raise ValueError(f"{path}: unknown PCD encoding {encoding!r}")
    if len(body) < num_points * dtype.itemsize:
        raise ValueError(
            f"{path}: {num_points} points need {num_points * dtype.itemsize} bytes, not {len(body)}"
        )
    table = np.frombuffer(body, dtype, num_points)
    return np.stack([table[axis][:, 0] for axis in "xyz"], axis=1).astype(np.float64)


def _split_header(data: bytes, path: Path) -> tuple[dict[str, list[str]], bytes]:
    header: dict[str, list[str]] = {}
    position = 0
    while "DATA" not in header:
        end = data.find(b"\n", position)
        if end < 0:
            raise ValueError(f"{path}: no PCD header (a DATA line is missing)")
        words = data[position:end].decode("ascii", "replace").split()
        position = end + 1
        if words and not words[0].startswith("#"):
            header[words[0].upper()] = words[1:]
    return header, data[position:]


def _read_compressed(body: bytes, dtype: np.dtype, num_points: int, path: Path) -> np.ndarray:
    """Two uint32 sizes, then LZF of all values field by field (not point by point)."""
    if len(body) < 8:
        raise ValueError(f"{path}: the compressed block is missing")
    packed, unpacked = np.frombuffer(body, "<u4", 2)
    raw = decompress_lzf(body[8 : 8 + int(packed)], int(unpacked))
    if len(raw) < num_points * dtype.itemsize:
        raise ValueError(f"{path}: the compressed block holds fewer than {num_points} points")
    columns, offset = {}, 0
    for name in dtype.names:
        field = dtype[name]
        if name in ("x", "y", "z"):
            columns[name] = np.frombuffer(raw, field.base, num_points, offset)
        offset += field.itemsize * num_points
    return np.stack([columns[axis] for axis in "xyz"], axis=1).astype(np.float64)


def decompress_lzf(data: bytes, size: int) -> bytes:
    """LZF (Lehmann): literal runs, and references back into what is already there; `size` bytes come out."""
    out = bytearray()
    position, end = 0, len(data)
    while position < end:
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
    if len(out) != size:
        raise ValueError(f"LZF data gives {len(out)} bytes, {size} were promised")
    return bytes(out)
