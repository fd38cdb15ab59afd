"""LAS, LAZ and E57, written by the libraries that read them; none where they are not installed."""

from __future__ import annotations

import io
import struct
import tempfile
from pathlib import Path

import numpy as np

from reader_corpus.case import POINTS, UTM, Case


def las(points: np.ndarray, compressed: bool = False, point_format: int = 3, version: str = "1.2") -> bytes:
    """A LAS or LAZ file at 0.25 mm."""
    import laspy

    header = laspy.LasHeader(point_format=point_format, version=version)
    header.scales, header.offsets = np.full(3, 0.00025), np.floor(points.min(axis=0))
    data = laspy.LasData(header)
    data.x, data.y, data.z = points.T
    file = io.BytesIO()
    data.write(file, do_compress=compressed)
    return file.getvalue()


def las_cases() -> list[Case]:
    """LAS and LAZ files."""
    try:
        import laspy  # noqa: F401
    except ImportError:
        return []
    many = las(np.tile(UTM, (500, 1)))
    (record_length,) = struct.unpack_from("<H", many, 105)
    promised = bytearray(las(UTM))
    struct.pack_into("<I", promised, 107, 4_000_000_000)
    cases = [
        Case("utm.las", las(UTM), UTM),
        Case("small.las", las(POINTS), POINTS),
        Case("version_14.las", las(UTM, point_format=6, version="1.4"), UTM),
        Case("cut.las", many[: -100 * record_length - 3], "cut|fewer"),
        Case("cut_header.las", many[:100], "LAS"),
        Case("more_promised.las", bytes(promised), "cut|fewer"),
        Case("empty.las", b"", "LAS"),
        Case("text.las", b"this is no LAS file" * 20, "LAS"),
        Case("text.laz", b"this is no LAZ file" * 20, "LAS"),
    ]
    try:
        packed = las(np.tile(UTM, (500, 1)), compressed=True)
    except Exception:  # laspy without lazrs
        return cases
    layers = las(np.random.default_rng(0).normal(size=(60_000, 3)), compressed=True, point_format=6, version="1.4")
    second = bytearray(layers)  # the second chunk's layers are larger than the file
    (start,) = struct.unpack_from("<I", layers, 96)
    where = layers.find(struct.pack("<I", 10_000), start + 1000)  # its number of points
    struct.pack_into("<I", second, where + 4, 3_000_000_000)
    return [
        *cases,
        Case("layers_of_the_second_chunk.laz", bytes(second), "chunk 1 of 2"),
        Case("utm.laz", las(UTM, compressed=True), UTM),
        Case("version_14.laz", las(UTM, compressed=True, point_format=6, version="1.4"), UTM),
        Case("cut.laz", packed[: len(packed) // 2], "cut|fewer|LAS"),
    ]


def e57_cases() -> list[Case]:
    """E57 files."""
    try:
        import pye57
    except ImportError:
        return []
    quarter = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # w x y z: 90 degrees about z
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.e57"
        with pye57.E57(str(path), mode="w") as file:
            for rotation, shift in ((np.array([1.0, 0, 0, 0]), np.zeros(3)), (quarter, np.array([10.0, 0, 0]))):
                data = {f"cartesian{axis}": POINTS[:, i].copy() for i, axis in enumerate("XYZ")}
                file.write_scan_raw(data, rotation=rotation, translation=shift)
        content = path.read_bytes()
    turned = POINTS @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [10.0, 0, 0]
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 0xFF
    return [
        Case("two_scans.e57", content, np.vstack([POINTS, turned])),
        Case("cut.e57", content[: len(content) // 2], "E57"),
        Case("damaged.e57", bytes(damaged), "E57"),
        Case("text.e57", b"this is no E57 file" * 100, "E57"),
        Case("empty.e57", b"", "E57"),
    ]
