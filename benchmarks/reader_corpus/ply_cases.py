"""PLY files: every encoding and type, lists in every place, headers of the kinds that writers make."""

from __future__ import annotations

import struct

import numpy as np

from reader_corpus.case import POINTS, UTM, Case

TYPES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
XYZ = ["float x", "float y", "float z"]
FACES = ("face", ["list uchar int vertex_indices"], [[[0, 1, 2]], [[1, 2, 3]]])


def ply(order: str, elements: list, comments: str = "", newline: str = "\n") -> bytes:
    """A file: elements are (name, properties as written, rows of numbers or lists). order: 'ascii', '<' or '>'."""
    kind = {"ascii": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    lines = ["ply", f"format {kind} 1.0", *comments.splitlines()]
    body = []
    for name, properties, rows in elements:
        lines.append(f"element {name} {len(rows)}")
        lines += [f"property {text}" for text in properties]
        body += [row(order, properties, values) for values in rows]
    header = newline.join([*lines, "end_header", ""]).encode()
    return header + (newline if order == "ascii" else "").encode().join([*body, b""])


def row(order: str, properties: list[str], values: list) -> bytes:
    """One row as text or as bytes."""
    flat = []
    for text, value in zip(properties, values):
        words = text.split()
        if words[0] == "list":
            flat += [(words[1], len(value)), *((words[2], item) for item in value)]
        else:
            flat.append((words[0], value))
    if order == "ascii":
        return " ".join(f"{value:.17g}" for _, value in flat).encode()
    return b"".join(
        struct.pack(order + TYPES[kind], value if kind in ("float", "double") else int(value)) for kind, value in flat
    )


def vertices(points: np.ndarray = POINTS, before: list = (), after: list = ()) -> list:
    """Rows with other values before and after the coordinates."""
    return [[*before, *point, *after] for point in points]


def ply_cases() -> list[Case]:
    """All PLY files."""
    cases = []
    for label, order in (("ascii", "ascii"), ("little", "<"), ("big", ">")):
        shapes = {
            "xyz": [("vertex", XYZ, vertices())],
            "double_utm": [("vertex", ["double x", "double y", "double z"], vertices(UTM))],
            "colours": [("vertex", [*XYZ, "uchar red", "uchar green"], vertices(after=[255, 7]))],
            "other_order": [("vertex", ["uchar ring", "float z", "double y", "float x"], [
                [3, z, y, x] for x, y, z in POINTS])],
            "list_in_vertices": [("vertex", [*XYZ, "list uchar int neighbours"], [
                [*point, list(range(i))] for i, point in enumerate(POINTS)])],
            "list_before_xyz": [("vertex", ["list int short tags", *XYZ], [
                [[i] * (3 - i % 3), *point] for i, point in enumerate(POINTS)])],
            "faces_first": [FACES, ("vertex", XYZ, vertices())],
            "camera_first": [("camera", ["float f"], [[1.0]]), ("vertex", XYZ, vertices()), FACES],
            "property_twice": [("vertex", ["float x", "uchar q", "float y", "uchar q", "float z"], [
                [x, 1, y, 2, z] for x, y, z in POINTS])],
        }  # fmt: skip
        cases += [Case(f"{name}_{label}.ply", ply(order, elements), UTM if "utm" in name else POINTS)
                  for name, elements in shapes.items()]  # fmt: skip
    xyz = [("vertex", XYZ, vertices())]
    integers = [("vertex", ["int x", "short y", "char z"], [[1, 2, 3], [-4, 5, -6]])]
    sized = ply("<", xyz).replace(b"property float", b"property float32")
    comment = "comment made by hand\ncomment end_header is the last word\nobj_info num_cols 4"
    binary = ply("<", xyz)
    cases += [
        Case("integers.ply", ply(">", integers), np.array([[1.0, 2, 3], [-4, 5, -6]])),
        Case("sized_names.ply", sized, POINTS),
        Case("comment_end_header.ply", ply("<", xyz, comment), POINTS),
        Case("comment_end_header_ascii.ply", ply("ascii", xyz, comment), POINTS),
        Case("crlf_ascii.ply", ply("ascii", xyz, newline="\r\n"), POINTS),
        Case("crlf_binary.ply", ply("<", xyz, newline="\r\n"), POINTS),
        Case("blank_lines_ascii.ply", ply("ascii", xyz) + b"\n\n", POINTS),
        Case("capitals.ply", ply("<", [("vertex", ["float X", "float Y", "float Z"], vertices())]), POINTS),
        Case("no_points.ply", ply("<", [("vertex", XYZ, [])]), "no points"),
        Case("not_ply.ply", b"hello", "no PLY header"),
        Case("empty.ply", b"", "no PLY header"),
        Case("no_xyz.ply", ply("<", [("vertex", ["float u", "float v"], [[1, 2]])]), "no x, y, z"),
        Case("x_twice.ply", ply("<", [("vertex", ["float x", *XYZ], vertices(before=[9]))]), "twice"),
        Case("cut_binary.ply", binary[:-5], "too short|ends"),
        Case("cut_list.ply", ply("<", [FACES, ("vertex", XYZ, vertices())])[:-50], "too short|ends"),
        Case("cut_ascii.ply", ply("ascii", xyz).rsplit(b"\n", 2)[0], "too short|ends|row"),
        Case("words_ascii.ply", ply("ascii", xyz).replace(b"4.5", b"four"), "four|number"),
        Case("huge_count.ply", binary.replace(b"vertex 4", b"vertex 4000000000000"), "too short|ends"),
        Case("negative_count.ply", binary.replace(b"vertex 4", b"vertex -4"), "count|number"),
        Case("unknown_type.ply", binary.replace(b"float x", b"quad x"), "type"),
        Case("unknown_format.ply", binary.replace(b"little_endian", b"middle_endian"), "format"),
        Case("only_faces.ply", ply("<", [FACES]), "no vertices"),
    ]
    return cases
