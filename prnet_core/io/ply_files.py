"""PLY files: vertices in ascii, binary little and big endian; written as binary little endian.

Our own reader: on benchmarks/compare_readers.py it answers 54 of 54 files correctly, plyfile (GPL) 48, Open3D 42 and
trimesh 41; 300,000 binary vertices take all of them less than 0.03 s.
"""

import codecs
import collections
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from prnet_core.io.ascii_rows import of_width
from prnet_core.io.safe_write import replacing

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
_LONGEST_HEADER = 1 << 20  # bytes
_LONGEST_LINE = 1 << 20  # bytes of an ascii row
_ORDERS = {"ascii": "ascii", "binary_little_endian": "<", "binary_big_endian": ">"}


class _Property(NamedTuple):
    """A property of an element: its value's type, and the type of the length in front of a list (else empty)."""

    name: str
    dtype: str
    length_dtype: str


class _Element(NamedTuple):
    name: str
    count: int
    properties: list[_Property]

    def xyz_columns(self) -> list[int]:
        """Positions of x, y and z among the properties."""
        names = [item.name.lower() for item in self.properties]
        for axis in "xyz":
            if names.count(axis) > 1:
                raise ValueError(f"the vertices have the property {axis} twice")
        if not {"x", "y", "z"} <= set(names):
            raise ValueError(f"the vertices have no x, y, z; their properties are: {', '.join(names) or 'none'}")
        columns = [names.index(axis) for axis in "xyz"]
        if any(self.properties[column].length_dtype for column in columns):
            raise ValueError("a coordinate of the vertices is a list")
        return columns


def read_ply(data: bytes) -> np.ndarray:
    """xyz (N, 3) float64 of the vertices in a PLY file's bytes; raises ValueError when it has none."""
    order, elements, position = _read_header(data)
    if sum(element.name == "vertex" for element in elements) > 1:
        raise ValueError("the PLY header has several elements called vertex")
    body = io.BytesIO(data)
    body.seek(position)
    for element in elements:
        columns = element.xyz_columns() if element.name == "vertex" else []
        if order == "ascii":
            points = _read_ascii(body, element, columns)
        else:
            points, position = _read_binary(data, position, order, element, columns)
        if columns:
            return points
    raise ValueError("the PLY file has no vertices")


def _read_header(data: bytes) -> tuple[str, list[_Element], int]:
    """Byte order ('<', '>' or 'ascii'), the elements, and where the body begins."""
    order, elements = "", []
    start = position = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    while True:
        end = data.find(b"\n", position)
        line = data[position:end] if position <= end <= _LONGEST_HEADER else b""
        words = line.decode("ascii", "replace").split()
        if (position == start and words != ["ply"]) or not position <= end <= _LONGEST_HEADER:
            raise ValueError("no PLY header")
        position = end + 1
        if words == ["end_header"]:
            break
        if words[:1] == ["format"]:
            order = _ORDERS.get(words[1] if len(words) > 1 else "", "")
        elif words[:1] == ["element"]:
            elements.append(_Element(words[1] if len(words) > 1 else "", _count(words), []))
        elif words[:1] == ["property"] and elements:
            elements[-1].properties.append(_property(words))
    if not order:
        raise ValueError("unknown PLY format")
    return order, elements, position


def _count(words: list[str]) -> int:
    if len(words) != 3 or not words[2].isdigit():
        raise ValueError(f"no count in the PLY header's {' '.join(words)!r}")
    return int(words[2])


def _property(words: list[str]) -> _Property:
    is_list = words[1:2] == ["list"]
    if len(words) != (5 if is_list else 3):
        raise ValueError(f"the PLY header's {' '.join(words)!r} is no property")
    types = words[2:4] if is_list else words[1:2]
    unknown = [name for name in types if name not in _TYPES]
    if unknown:
        raise ValueError(f"unknown type {unknown[0]!r} in the PLY header")
    return _Property(words[-1], _TYPES[types[-1]], _TYPES[types[0]] if is_list else "")


def _coordinates(table: np.ndarray, columns: list[int]) -> np.ndarray:
    """The columns (N, 3) float64 of a table whose fields are numbered; (0, 3) without columns."""
    if not columns:
        return np.empty((0, 3))
    return np.stack([table[f"{column}"] for column in columns], axis=1).astype(np.float64)


def _read_binary(
    data: bytes, position: int, order: str, element: _Element, columns: list[int]
) -> tuple[np.ndarray, int]:
    """Rows, read at once where all lists have the lengths of the first row's lists, else one after the other.

    Faces follow the vertices in most files, and are then not read.
    """
    row_types = [np.dtype(order + (item.length_dtype or item.dtype)) for item in element.properties]
    if element.count * sum(dtype.itemsize for dtype in row_types) > len(data) - position:
        raise ValueError(f"too short for {element.count} of {element.name!r}")
    if not element.count or not element.properties:
        return np.empty((0, 3)), position
    row_type = _first_row_type(data, position, order, element)
    end = position + element.count * row_type.itemsize
    if end <= len(data):
        table = np.frombuffer(data, row_type, element.count, position)
        lengths = [table[f"{i}"] for i, item in enumerate(element.properties) if item.length_dtype]
        if all((length == length[0]).all() for length in lengths):
            return _coordinates(table, columns), end
    points = np.empty((element.count if columns else 0, 3))
    for index in range(element.count):
        sizes, end = _row_sizes(data, position, order, element)
        if end > len(data):
            raise ValueError(f"too short for {element.count} of {element.name!r}")
        for axis, column in enumerate(columns):
            start = position + sum(sizes[:column])
            points[index, axis] = np.frombuffer(data, row_types[column], 1, start)[0]
        position = end
    return points, position


def _first_row_type(data: bytes, position: int, order: str, element: _Element) -> np.dtype:
    """A field for each property, which is the length of a list, and the bytes of its values."""
    sizes, end = _row_sizes(data, position, order, element)
    if end > len(data):
        raise ValueError(f"too short for {element.count} of {element.name!r}")
    fields = []
    for index, (item, size) in enumerate(zip(element.properties, sizes)):
        number = np.dtype(order + (item.length_dtype or item.dtype))
        fields += [(f"{index}", number), (f"values {index}", f"V{size - number.itemsize}")]
    return np.dtype([field for field in fields if field[1] != "V0"])


def _row_sizes(data: bytes, position: int, order: str, element: _Element) -> tuple[list[int], int]:
    """Bytes of each property of the row at `position`, and where the row ends."""
    sizes = []
    for item in element.properties:
        size = np.dtype(item.dtype).itemsize
        if item.length_dtype:
            length_dtype = np.dtype(order + item.length_dtype)
            if position + length_dtype.itemsize > len(data):
                raise ValueError(f"too short for {element.count} of {element.name!r}")
            number = int(np.frombuffer(data, length_dtype, 1, position)[0])
            if number < 0:
                raise ValueError(f"a list of {number} values in {element.name!r}")
            size = length_dtype.itemsize + number * size
        sizes.append(size)
        position += size
    return sizes, position


def _lines(body: BinaryIO, element: _Element) -> Iterator[bytes]:
    """The next lines that are not blank, as many as the element has rows; ValueError where the file ends before."""
    number = element.count if element.properties else 0
    for index in range(number):
        line = b""
        while not line.strip():
            line = body.readline(_LONGEST_LINE)
            if len(line) == _LONGEST_LINE:
                raise ValueError(f"a row of {element.name!r} with more than {_LONGEST_LINE} characters")
            if not line:
                raise ValueError(f"too short for {number} of {element.name!r}: {index} rows")
        yield line


def _read_ascii(body: BinaryIO, element: _Element, columns: list[int]) -> np.ndarray:
    """Rows of text, one per line."""
    rows = _lines(body, element)
    if not columns or element.count == 0:
        collections.deque(rows, maxlen=0)
        return np.empty((0, 3))
    if not any(item.length_dtype for item in element.properties):
        rows = of_width(rows, len(element.properties))
        return np.loadtxt(rows, usecols=columns, ndmin=2, comments=None, encoding="latin-1")
    values = (value for line in rows for value in _ascii_row(line.split(), element.properties, columns))
    return np.fromiter(values, np.float64).reshape(-1, 3)


def _ascii_row(words: list[bytes], properties: list[_Property], columns: list[int]) -> list[float]:
    starts, position = [], 0
    for item in properties:
        starts.append(position)
        if position >= len(words):
            raise ValueError(f"a row of {len(words)} values ends before {item.name!r}")
        length = int(words[position]) if item.length_dtype else 0
        if length < 0:
            raise ValueError(f"a list of {length} values")
        position += 1 + length
    return [float(words[starts[column]]) for column in columns]


def write_ply(path: Path, points: np.ndarray) -> None:
    """Write points (N, 3) as double vertices."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n"
        "property double x\nproperty double y\nproperty double z\nend_header\n"
    )
    with replacing(path) as temporary:
        temporary.write_bytes(header.encode("ascii") + np.ascontiguousarray(points[:, :3], "<f8").tobytes())
