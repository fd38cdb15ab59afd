"""PLY files: vertices in ascii, binary little and big endian; written as binary little endian."""

from pathlib import Path

import numpy as np

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip


def read_ply(data: bytes, path: Path) -> np.ndarray:
    """xyz (N, 3) float64 of a PLY file's vertices; raises ValueError when there are none to be read.

    Elements before the vertices must have scalar properties only; what comes after does not matter.
    """
    order, elements, body = _read_header(data, path)
    for name, count, properties in elements:
        if any(kind is None for _, kind in properties):
            raise ValueError(f"{path}: a list comes before the vertices, which cannot be skipped")
        width = len(properties)
        if order == "ascii":
            lines = body.split(b"\n", count)
            table, body = lines[:count], lines[count] if len(lines) > count else b""
        else:
            dtype = np.dtype([(key, order + _TYPES[kind]) for key, kind in properties])
            if len(body) < count * dtype.itemsize:
                raise ValueError(f"{path}: too short for {count} of {name!r}")
            table, body = np.frombuffer(body, dtype, count), body[count * dtype.itemsize :]
        if name != "vertex":
            continue
        keys = [key for key, _ in properties]
        if not {"x", "y", "z"} <= set(keys):
            raise ValueError(f"{path}: the vertices have no x, y, z")
        if order != "ascii":
            return np.stack([table[axis] for axis in "xyz"], axis=1).astype(np.float64)
        rows = np.array([line.split()[:width] for line in table], dtype=np.float64).reshape(-1, width)
        return rows[:, [keys.index(axis) for axis in "xyz"]]
    raise ValueError(f"{path}: the PLY file has no vertices")


def _read_header(data: bytes, path: Path) -> tuple[str, list, bytes]:
    """Byte order ('<', '>' or 'ascii'), elements [(name, count, [(property, type or None for a list)])], body."""
    end = data.find(b"end_header")
    body_start = data.find(b"\n", end) + 1
    if not data.startswith(b"ply") or end < 0 or body_start == 0:
        raise ValueError(f"{path}: no PLY header")
    order, elements = "", []
    for line in data[:end].decode("ascii", "replace").splitlines():
        words = line.split()
        if words[:1] == ["format"]:
            order = {"ascii": "ascii", "binary_little_endian": "<", "binary_big_endian": ">"}.get(
                words[1], ""
            )
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"] and elements:
            elements[-1][2].append((words[-1], None if words[1] == "list" else words[1]))
    if not order:
        raise ValueError(f"{path}: unknown PLY format")
    return order, elements, data[body_start:]


def write_ply(path: Path, points: np.ndarray) -> None:
    """Write points (N, 3) as double vertices."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n"
        "property double x\nproperty double y\nproperty double z\nend_header\n"
    )
    path.write_bytes(header.encode("ascii") + np.ascontiguousarray(points[:, :3], "<f8").tobytes())
