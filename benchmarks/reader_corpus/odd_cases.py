"""Unusual files: other columns than expected, other writers, compressed and foreign content."""

from __future__ import annotations

import gzip
import io

import numpy as np

from reader_corpus.array_cases import npy, npz, sweep
from reader_corpus.case import POINTS, Case
from reader_corpus.pcd_cases import pcd
from reader_corpus.ply_cases import XYZ, ply, vertices
from reader_corpus.table_cases import rows

SCAN = sweep(600)
XYZ_SCAN = SCAN[:, :3].astype(float)


def text(*columns: np.ndarray, separator: str = " ") -> bytes:
    """A table of columns with the shortest digits that are exact."""
    file = io.StringIO()
    np.savetxt(file, np.column_stack([np.asarray(column, float) for column in columns]), fmt="%.20g",
               delimiter=separator)  # fmt: skip
    return file.getvalue().encode()


def nameless_tables() -> list[Case]:
    """Tables and .bin files without names, where the first columns are not x, y, z."""
    number = len(SCAN)
    ring, intensity = SCAN[:, 4], SCAN[:, 3]
    first = {
        "ring": ring,
        "relative_time": np.linspace(0.0, 0.1, number),
        "firing_times": np.repeat(np.arange(number // 30), 30) * 1e-4,
        "unix_nanoseconds": 1.7e18 + np.arange(number) * 2**18,
        "unix_milliseconds": 1.7e12 + np.arange(number),
        "number_from_100": 100.0 + np.arange(number),
    }
    cases = [Case(f"{name}_first.txt", text(column, XYZ_SCAN), "--columns") for name, column in first.items()]
    cases += [Case(f"{name}_first.bin", np.c_[column, XYZ_SCAN].astype("<f4").tobytes(), "--columns")
              for name, column in first.items() if "unix" not in name]  # fmt: skip
    two = text(intensity, ring, XYZ_SCAN, separator=",")
    return [
        *cases,
        Case("intensity_and_ring_first.csv", two, "--columns"),
        Case("intensity_and_ring_named.csv", two, XYZ_SCAN, "i,ring,x,y,z"),
        Case("all_whole_numbers.txt", text(np.round(XYZ_SCAN), intensity), np.round(XYZ_SCAN)),
        Case("intensity_last.txt", text(XYZ_SCAN, intensity, ring), XYZ_SCAN),
        Case("wall.txt", text(np.full(number, 2.0), XYZ_SCAN[:, 1:], np.linspace(0, 1, number) ** 2),
             np.c_[np.full(number, 2.0), XYZ_SCAN[:, 1:]]),
    ]  # fmt: skip


def wide_rows() -> list[Case]:
    """.bin files of seven to sixteen values a point, and of other number types."""
    scan = sweep()
    points, rng = scan[:, :3].astype(float), np.random.default_rng(0)
    zeros, ones = np.zeros((len(scan), 8)), np.ones((len(scan), 1))
    wide = {
        "eight": np.c_[scan, scan[:, 5] * 3 + 1, rng.normal(size=len(scan))],
        "padded_to_four": np.c_[scan[:, :3], zeros[:, :1]],
        "padded_to_eight": np.c_[scan[:, :3], ones, scan[:, 3], zeros[:, :3]],
        "padded_to_twelve": np.c_[scan[:, :3], ones, scan[:, 3:6], zeros[:, :5]],
        "flat": np.c_[scan[:, :2], zeros[:, :1], scan[:, 3]],
        "millimetres": np.c_[scan[:, :3] * np.float32(1000), scan[:, 3]],
    }
    cases = [Case(f"{name}.bin", np.ascontiguousarray(table, "<f4").tobytes(), table[:, :3].astype("<f4").astype(float))
             for name, table in wide.items()]  # fmt: skip
    other = {"int16": (points * 100).astype("<i2"), "int32": (points * 1000).astype("<i4"), "float64": points,
             "big_endian": scan.astype(">f4")}  # fmt: skip
    return cases + [Case(f"{name}_rows.bin", table.tobytes(), "float32") for name, table in other.items()]


def other_writers() -> list[Case]:
    """Names, lines and headers as other programs write them."""
    ascii_ply, ascii_pcd = ply("ascii", [("vertex", XYZ, vertices())]), pcd(POINTS, "ascii")
    bom, before = b"\xef\xbb\xbf", rows(POINTS, before=[1.5])
    header = pcd(POINTS).split(b"DATA")[0].replace(b"\n", b"\r\n")
    half = ply("<", [("vertex", XYZ, vertices(POINTS[:2])), ("vertex", XYZ, vertices(POINTS[2:]))])
    named = np.zeros(4, [("höhe", "f4"), ("x", "f4"), ("y", "f4"), ("z", "f4")])
    named["x"], named["y"], named["z"] = POINTS.T
    return [
        Case("header_lidar.csv", b"time,lidar_x,lidar_y,lidar_z\n" + before.encode(), POINTS),
        Case("header_dots.csv", b"stamp,point.x,point.y,point.z\n" + before.encode(), POINTS),
        Case("header_two_frames.csv", b"lidar_x,lidar_y,lidar_z,map_x,map_y,map_z\n" + rows(
            POINTS, after=[1, 2, 3]).encode(), "several"),
        Case("mac_lines.csv", ("t,x,y,z\n" + before).replace("\n", "\r").encode(), POINTS),
        Case("utf16_big.csv", b"\xfe\xff" + ("t,x,y,z\r\n" + before).encode("utf-16-be"), POINTS),
        Case("empty_cells.csv", ("x,y,z,i\n" + rows(POINTS, after=[1]) + ",,,5\n").encode(),
             np.vstack([POINTS, np.full(3, np.nan)])),
        Case("words_later.csv", (rows(POINTS[:1], after=["3"]) + rows(POINTS[1:], after=["tree"])).encode(), POINTS),
        Case("bom_ascii.ply", bom + ascii_ply, POINTS),
        Case("tabs_ascii.ply", ascii_ply.replace(b" ", b"\t"), POINTS),
        Case("vertex_twice.ply", half, "several"),
        Case("row_of_four_ascii.ply", ascii_ply.replace(b"4.5", b"4.5 7"), "4 values"),
        Case("bom_ascii.pcd", bom + ascii_pcd, POINTS),
        Case("tabs_ascii.pcd", ascii_pcd.replace(b" ", b"\t"), POINTS),
        Case("crlf_binary.pcd", header + b"DATA binary\r\n" + POINTS.astype("<f4").tobytes(), POINTS),
        Case("row_of_four_ascii.pcd", ascii_pcd.replace(b"4.5", b"4.5 7"), "4 values"),
        Case("unicode_names.npy", npy(named), POINTS),
        Case("three_rows.npy", npy(np.ones((3, 20))), "transposed"),
        Case("organised.npy", npy(np.ones((4, 5, 3))), "shape"),
        Case("truth_values.npy", npy(np.ones((5, 3), bool)), "not numbers"),
        Case("other_name.npz", npz(positions=POINTS, colors=POINTS), "positions"),
    ]  # fmt: skip


def compressed() -> list[Case]:
    """Files that are compressed as a whole, under the name of what is in them and under their own."""
    contents = {".csv": rows(POINTS).encode(), ".ply": ply("<", [("vertex", XYZ, vertices())]), ".pcd": pcd(POINTS),
                ".npy": npy(POINTS), ".bin": sweep().tobytes()}  # fmt: skip
    cases = [Case(f"gzip{suffix}", gzip.compress(content, mtime=0), "gzip") for suffix, content in contents.items()]
    return [*cases, Case("cloud.ply.gz", gzip.compress(contents[".ply"], mtime=0), "gzip")]


def odd_cases() -> list[Case]:
    """All of these."""
    return [*nameless_tables(), *wide_rows(), *other_writers(), *compressed()]
