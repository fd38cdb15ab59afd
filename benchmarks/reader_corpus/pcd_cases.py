"""PCD files: three encodings, every header that the format allows, and damaged ones."""

from __future__ import annotations

import numpy as np

from reader_corpus.case import GRID, POINTS, UTM, Case

KINDS = {"F": "f", "U": "u", "I": "i"}


def pcd(
    points: np.ndarray,
    encoding: str = "binary",
    fields: str = "x y z",
    sizes: str = "4 4 4",
    kinds: str = "F F F",
    counts: str = "1 1 1",
    width: int | None = None,
    leave_out: str = "",
    data: np.ndarray | None = None,
) -> bytes:
    """A file with the named fields; other fields than x, y, z hold 7. `leave_out` names header lines not written."""
    names = fields.split()
    dtype = np.dtype([
        (f"{i}_{name}", f"<{KINDS[kind.upper()]}{size}", (int(count),))
        for i, (name, size, kind, count) in enumerate(zip(names, sizes.split(), kinds.split(), counts.split()))
    ])  # fmt: skip
    table = np.zeros(len(points), dtype)
    for key in dtype.names:
        name = key.split("_", 1)[1]
        table[key] = points[:, ["xyz".index(name)]] if name in "xyz" else 7
    width = width or len(points)
    lines = {
        "VERSION": "0.7", "FIELDS": fields, "SIZE": sizes, "TYPE": kinds, "COUNT": counts, "WIDTH": width,
        "HEIGHT": len(points) // width, "VIEWPOINT": "0 0 0 1 0 0 0", "POINTS": len(points), "DATA": encoding,
    }  # fmt: skip
    header = "# .PCD v0.7\n" + "".join(f"{key} {value}\n" for key, value in lines.items() if key not in leave_out)
    return header.encode() + body(table, encoding)


def body(table: np.ndarray, encoding: str) -> bytes:
    """The points as text, as records, or field by field and compressed with literal runs only."""
    if encoding == "ascii":
        rows = [np.concatenate([np.ravel(value) for value in row]) for row in table.tolist()]
        return "".join(" ".join(f"{value:.17g}" for value in row) + "\n" for row in rows).encode()
    if encoding == "binary":
        return table.tobytes()
    raw = b"".join(np.ascontiguousarray(table[name]).tobytes() for name in table.dtype.names)
    packed = b"".join(bytes([len(raw[i : i + 32]) - 1]) + raw[i : i + 32] for i in range(0, len(raw), 32))
    return np.array([len(packed), len(raw)], "<u4").tobytes() + packed


def lzf_repeats() -> bytes:
    """Ten points (1, 1, 1): one float, then a back reference that overlaps what it writes."""
    one = np.array([1.0], "<f4").tobytes()
    packed = bytes([3]) + one + bytes([(7 << 5), 116 - 9, 3])
    header = pcd(np.ones((10, 3)), "binary_compressed").split(b"DATA")[0] + b"DATA binary_compressed\n"
    return header + np.array([len(packed), 120], "<u4").tobytes() + packed


def promising(content: bytes, number: int) -> bytes:
    """A file of four points whose header states another number."""
    for key in (b"POINTS", b"WIDTH"):
        content = content.replace(key + b" 4\n", key + b" %d\n" % number)
    return content


def pcd_cases() -> list[Case]:
    """All PCD files."""
    cases = []
    for encoding in ("ascii", "binary", "binary_compressed"):
        cases += [
            Case(f"xyz_{encoding}.pcd", pcd(POINTS, encoding), POINTS),
            Case(f"utm_{encoding}.pcd", pcd(UTM, encoding, sizes="8 8 8"), UTM),
            Case(f"organised_{encoding}.pcd", pcd(GRID, encoding, width=4), GRID),
            Case(f"organised_no_points_{encoding}.pcd", pcd(GRID, encoding, width=4, leave_out="POINTS"), GRID),
            Case(f"no_width_{encoding}.pcd", pcd(GRID, encoding, leave_out="WIDTH HEIGHT"), GRID),
            Case(f"lower_case_type_{encoding}.pcd", pcd(POINTS, encoding, kinds="f f f"), POINTS),
            Case(f"no_count_{encoding}.pcd", pcd(POINTS, encoding, leave_out="COUNT"), POINTS),
            Case(f"count_and_padding_{encoding}.pcd", pcd(
                POINTS, encoding, "_ normal x _ y z ring", "1 4 4 1 8 4 2", "U F F U F F U", "3 3 1 5 1 1 1"), POINTS),
            Case(f"field_twice_{encoding}.pcd", pcd(
                POINTS, encoding, "x rgb y rgb z", "4 4 4 4 4", "F U F U F", "1 1 1 1 1"), POINTS),
            Case(f"cut_{encoding}.pcd", pcd(GRID, encoding)[:-40], "fewer|need|short|compressed|stated|column"),
            Case(f"more_promised_{encoding}.pcd", pcd(GRID, encoding).replace(b"POINTS 12", b"POINTS 13"),
                 "POINTS|points|fewer"),
        ]  # fmt: skip
    integers = np.round(POINTS * 4)
    binary, text = pcd(POINTS), pcd(POINTS, "ascii")
    header = binary.split(b"DATA")[0]
    cases += [
        Case("int16.pcd", pcd(integers, sizes="2 2 2", kinds="I I I"), integers),
        Case("lzf_repeats.pcd", lzf_repeats(), np.ones((10, 3))),
        Case("nan_ascii.pcd", text.replace(b"4.5", b"nan"), np.where(POINTS == 4.5, np.nan, POINTS)),
        Case("crlf_ascii.pcd", text.replace(b"\n", b"\r\n"), POINTS),
        Case("encoding_in_capitals.pcd", text.replace(b"DATA ascii", b"DATA ASCII"), POINTS),
        Case("version_6.pcd", text.replace(b"VERSION 0.7", b"VERSION .6"), POINTS),
        Case("blank_lines_ascii.pcd", text.replace(b"\n3", b"\n\n3") + b"\n\n", POINTS),
        Case("more_rows_ascii.pcd", text + b"1 2 3\n", "more"),
        Case("empty.pcd", b"", "no PCD header"),
        Case("no_data.pcd", binary.split(b"DATA")[0], "no PCD header"),
        Case("no_points.pcd", pcd(POINTS[:0], width=1), "no points"),
        Case("no_z.pcd", pcd(POINTS, fields="x y a"), "no x, y, z"),
        Case("unknown_type.pcd", binary.replace(b"F F F", b"F Q F"), "type"),
        Case("size_3.pcd", binary.replace(b"SIZE 4 4 4", b"SIZE 4 3 4"), "type"),
        Case("size_missing.pcd", binary.replace(b"SIZE 4 4 4", b"SIZE 4 4"), "incomplete"),
        Case("huge.pcd", promising(binary, 4_000_000_000_000), "need"),
        Case("negative.pcd", promising(binary, -4), "points"),
        Case("words_for_numbers.pcd", binary.replace(b"POINTS 4", b"POINTS four"), "four"),
        Case("unknown_encoding.pcd", binary.replace(b"DATA binary", b"DATA morse"), "morse"),
        Case("words_ascii.pcd", text.replace(b"4.5", b"four"), "four"),
        Case("compressed_bomb.pcd", promising(header, 300_000_000) + b"DATA binary_compressed\n"
             + np.array([8, 3600000000], "<u4").tobytes() + b"\x07aaaaaaa", "compressed|LZF"),
    ]  # fmt: skip
    return cases
