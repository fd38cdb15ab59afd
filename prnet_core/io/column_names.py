"""The columns x, y and z of a table, found by their names."""

import re
from collections.abc import Sequence

_UNIT = re.compile(r"^(.*?)\s*[\[(<]\s*([^\])>]*)\s*[\])>]$")
_LENGTH_UNITS = {"m": "m", "meter": "m", "metre": "m", "meters": "m", "metres": "m", "mm": "mm", "cm": "cm", "km": "km",
                 "ft": "ft", "in": "in"}  # fmt: skip
_POSITION_PREFIXES = ("pos", "position", "point", "points", "p", "coord", "coordinate", "xyz", "cartesian", "lidar",
                      "laser", "sensor", "scan", "scanner", "cloud", "velodyne", "pt", "vertex", "local", "world",
                      "map", "global")  # fmt: skip
_OTHER_TRIPLES = (("easting", "northing", "elevation"), ("easting", "northing", "height"),
                  ("easting", "northing", "altitude"), ("east", "north", "up"))  # fmt: skip
_MORE_NAMES = {
    "t", "time", "timestamp", "stamp", "range", "distance", "azimuth", "elevation", "intensity", "reflectivity",
    "ring", "laser", "laserid", "id", "r", "g", "b", "red", "green", "blue", "label", "nx", "ny", "nz",
}  # fmt: skip


def xyz_columns(names: Sequence[str]) -> list[int]:
    """Positions of x, y and z among the column names.

    Capitals, quotes and units (`X [m]`, `x(m)`, `x_m`) are ignored; `pos_x`, `Points:0` and `easting` are known too.
    Raises ValueError, which lists the names, where no or several columns have such names, or their units differ.
    """
    split = [_split(name) for name in names]
    stems = [name for name, _ in split]
    listed = ", ".join(name.strip() for name in names)
    found = [triple for triple in _triples() if all(name in stems for name in triple)]
    if not found:
        raise ValueError(f"no columns x, y, z; the columns are: {listed or 'none'}")
    if len(found) > 1 and found[0] != ("x", "y", "z"):
        raise ValueError(f"several columns could be x, y, z: {listed}")
    triple = found[0]
    columns = [stems.index(name) for name in triple]
    for name in triple:
        if stems.count(name) > 1:
            raise ValueError(f"the column {name} appears twice: {listed}")
    if len({split[column][1] for column in columns}) > 1:
        raise ValueError(f"the units of the columns differ: {listed}")
    return columns


def names_xyz(names: Sequence[str]) -> bool:
    """Whether x, y and z are among the names."""
    stems = [_split(name)[0] for name in names]
    return any(all(name in stems for name in triple) for triple in _triples())


def is_column_name(word: str) -> bool:
    """Whether the word is a common name of a column in files of scans."""
    return _split(word)[0] in _MORE_NAMES


def _triples() -> list[tuple[str, ...]]:
    triples = [tuple(prefix + axis for axis in "xyz") for prefix in ("", *_POSITION_PREFIXES)]
    triples += [tuple(f"{prefix}{axis}" for axis in "012") for prefix in ("points", "point", "pointsmxyz", "position")]
    return [*triples, *_OTHER_TRIPLES]


def _split(name: str) -> tuple[str, str]:
    """The name in lower case without separators, and its unit of length or ''."""
    name = name.strip().strip("\"'").strip().lower()
    match = _UNIT.match(name)
    if match:
        return re.sub(r"[\W_]+", "", match[1]), _LENGTH_UNITS.get(match[2], match[2])
    head, _, tail = name.rpartition("_")
    if head and tail in _LENGTH_UNITS:
        return re.sub(r"[\W_]+", "", head), _LENGTH_UNITS[tail]
    return re.sub(r"[\W_]+", "", name), ""
