"""Text tables: delimiters, headers, comments, quotes, units, encodings."""

from __future__ import annotations

import numpy as np

from reader_corpus.case import POINTS, UTM, Case


def rows(points: np.ndarray, separator: str = ",", before: list = (), after: list = ()) -> str:
    """Lines of numbers, with other values before and after the coordinates."""
    return "".join(separator.join(str(value) for value in [*before, *point, *after]) + "\n" for point in points)


def reordered(points: np.ndarray, separator: str = ",") -> str:
    """Lines `z time y intensity x`."""
    return "".join(separator.join(map(str, [z, 9.5, y, 7, x])) + "\n" for x, y, z in points)


def table_cases() -> list[Case]:
    """All text tables."""
    valid = {
        "spaces.xyz": rows(POINTS, " "),
        "tabs.txt": rows(POINTS, "\t"),
        "commas.csv": rows(POINTS),
        "comma_space.csv": rows(POINTS, ", "),
        "semicolons.csv": rows(POINTS, ";"),
        "decimal_commas.csv": rows(POINTS, ";").replace(".", ","),
        "decimal_commas_spaces.txt": rows(POINTS, " ").replace(".", ","),
        "padded.xyz": "".join(f"   {x:9.3f}  {y:9.3f}  {z:9.3f}  \n" for x, y, z in POINTS),
        "intensity.xyz": rows(POINTS, " ", after=[12]),
        "trailing_comma.csv": rows(POINTS, after=[""]),
        "crlf.csv": rows(POINTS).replace("\n", "\r\n"),
        "header.csv": "x,y,z\n" + rows(POINTS),
        "header_t.csv": "t,x,y,z\n" + rows(POINTS, before=[1.5]),
        "header_laser.csv": "intensity,laser,x,y,z\n" + rows(POINTS, before=[3, 17]),
        "header_other_order.csv": "z,time,y,intensity,x\n" + reordered(POINTS),
        "header_semicolons.csv": "z;time;y;intensity;x\n" + reordered(POINTS, ";"),
        "header_spaces.txt": "z time y intensity x\n" + reordered(POINTS, " "),
        "header_tabs.txt": "z\ttime\ty\tintensity\tx\n" + reordered(POINTS, "\t"),
        "header_capitals.csv": "Time,X,Y,Z\n" + rows(POINTS, before=[1.5]),
        "header_quoted.csv": '"time, s","x","y","z"\n' + rows(POINTS, before=[1.5]),
        "values_quoted.csv": '"t","x","y","z"\n' + "".join(f'"1","{x}","{y}","{z}"\n' for x, y, z in POINTS),
        "header_units.csv": "t [s],x [m],y [m],z [m]\n" + rows(POINTS, before=[1.5]),
        "header_units_round.csv": "t(s),x(m),y(m),z(m)\n" + rows(POINTS, before=[1.5]),
        "header_units_spaces.txt": "t [s] x [m] y [m] z [m]\n" + rows(POINTS, " ", before=[1.5]),
        "units_in_a_second_line.csv": "time,x,y,z\ns,m,m,m\n" + rows(POINTS, before=[1.5]),
        "comment_after_the_header.csv": "time,x,y,z\n# from the left scanner\n" + rows(POINTS, before=[1.5]),
        "header_quoted_spaces.txt": '"t" "x" "y" "z"\n' + rows(POINTS, " ", before=[1.5]),
        "header_units_suffix.csv": "time_s,x_m,y_m,z_m\n" + rows(POINTS, before=[1.5]),
        "header_comment.txt": "# t x y z\n" + rows(POINTS, " ", before=[1.5]),
        "header_slashes.asc": "//R X Y Z\n" + rows(POINTS, " ", before=[200]),
        "header_after_text.txt": "Exported on 2024-01-05 by a scanner\n\nt x y z\n" + rows(POINTS, " ", before=[1.5]),
        "header_index.csv": ",x,y,z\n" + "".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(POINTS)),
        "header_points.csv": '"Intensity","Points:0","Points:1","Points:2"\n' + rows(POINTS, before=[9]),
        "header_position.csv": "stamp,pos_x,pos_y,pos_z,nx,ny,nz\n" + rows(POINTS, before=[1.5], after=[0, 0, 1]),
        "header_normals_first.csv": "nx,ny,nz,x,y,z\n" + rows(POINTS, before=[0, 0, 1]),
        "header_word_column.csv": "label,x,y,z\n" + rows(POINTS, before=["tree"]),
        "comments.xyz": "# a scan\n# of a room\n" + rows(POINTS, " ") + "# the end\n",
        "comments_between.xyz": rows(POINTS[:2], " ") + "\n# second half\n" + rows(POINTS[2:], " "),
        "comment_at_line_end.xyz": rows(POINTS, " ").replace("\n", "  # point\n"),
        "text_before.xyz": "a scan of a room\n\n" + rows(POINTS, " "),
        "count_line.pts": f"{len(POINTS)}\n" + rows(POINTS, " ", after=[-100, 20, 30, 40]),
        "bom.csv": "\ufefft,x,y,z\n" + rows(POINTS, before=[1.5]),
        "exponents.xyz": "".join(f"{x:.6e} {y:.6E} {z:+.6e}\n" for x, y, z in POINTS),
    }  # fmt: skip
    refused = {
        "empty.csv": ("", "no line with three numbers"),
        "words.xyz": ("hello\nworld\n", "no line with three numbers"),
        "two_columns.csv": ("1,2\n3,4\n", "no line with three numbers"),
        "named_otherwise.csv": ("range,azimuth,elevation\n" + rows(POINTS), "range, azimuth, elevation"),
        "named_otherwise_comment.txt": ("# time range azimuth ring\n" + rows(POINTS, " ", [1]), "time, range"),
        "fewer_names.csv": ("x,y,z\n" + rows(POINTS, before=[1.5]), "3 names.*4 columns"),
        "other_names_fewer.txt": ("time range azimuth\n" + rows(POINTS, " ", [1]), "time, range"),
        "x_twice.csv": ("x,x,y,z\n" + rows(POINTS, before=[1.5]), "twice"),
        "units_differ.csv": ("x [m],y [m],z [mm]\n" + rows(POINTS), "units"),
        "row_too_short.csv": (rows(POINTS) + "1,2\n", "row|column"),
        "word_in_a_row.csv": (rows(POINTS) + "1,two,3\n", "two"),
        "index_first.csv": ("".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(np.tile(POINTS, (5, 1)))),
                            "--columns"),
        "unix_time_first.csv": ("".join(f"{1.7e9 + i / 100:.2f},{x},{y},{z}\n"
                                        for i, (x, y, z) in enumerate(np.tile(POINTS, (5, 1)))), "--columns"),
    }  # fmt: skip
    cases = [Case(name, text.encode(), POINTS) for name, text in valid.items()]
    cases += [Case(name, text.encode(), words) for name, (text, words) in refused.items()]
    cases += [
        Case("utm.xyz", rows(UTM, " ").encode(), UTM),
        Case("utf16.csv", ("t,x,y,z\n" + rows(POINTS, before=[1.5])).encode("utf-16"), POINTS),
        Case("latin1.csv", ("höhe,x,y,z\n" + rows(POINTS, before=[1.5])).encode("latin-1"), POINTS),
        Case("nan.xyz", rows(POINTS, " ").replace("4.5", "nan").encode(), np.where(POINTS == 4.5, np.nan, POINTS)),
        Case("stated_columns.csv", rows(POINTS, before=[1.5]).encode(), POINTS, "t,x,y,z"),
        Case("stated_too_few.csv", rows(POINTS, before=[1.5]).encode(), "3 names.*4 columns", "x,y,z"),
        Case("binary.txt", bytes(range(256)) * 4, "no line with three numbers"),
    ]
    return cases
