"""Text tables of points: comma, semicolon, tab or space between the columns, with or without a line of names.

NumPy converts the numbers. Open3D reads .xyz and .pts, trimesh .xyz, both without names of columns: see
benchmarks/compare_readers.py.
"""

import codecs
import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from prnet_core.io.column_names import is_column_name, names_xyz, xyz_columns
from prnet_core.io.other_columns import refuse_other_columns

_COMMENTS = ("#", "//", "%")
_UNIT_IN_BRACKETS = re.compile(r"[\[(][^\])]*[\])]")
_LONGEST_PREAMBLE = 1000  # lines before the first row
_LONGEST_LINE = 1 << 20  # characters
_LONGEST_HEADER = 5  # lines of names, units and comments right before the rows


class _Format(NamedTuple):
    """delimiter: None for white space. decimal_comma: 1,5 is one and a half."""

    delimiter: str | None
    decimal_comma: bool

    def split(self, line: str) -> list[str]:
        """The cells of a line."""
        if self.delimiter is None:
            return line.split()
        return [cell.strip() for cell in next(csv.reader([line], delimiter=self.delimiter, skipinitialspace=True), [])]

    def numbers(self, line: str) -> int:
        """Number of cells that are numbers."""
        return sum(_is_number(cell.replace(",", ".") if self.decimal_comma else cell) for cell in self.split(line))


_FORMATS = [_Format(delimiter, False) for delimiter in (";", "\t", ",", None)]
_FORMATS += [_Format(delimiter, True) for delimiter in (";", "\t", None)]


def read_table(path: Path, columns: str | None = None) -> np.ndarray:
    """xyz (N, 3) float64 of a text file's rows.

    The columns are those named x, y, z by the line above the rows (as it is or after #, // or %), or by `columns`
    ("t,x,y,z"); the first three where there are no names. Raises ValueError where there are no such rows, for names
    without x, y, z, and for first columns that are no coordinates.
    """
    with open(path, encoding=_encoding(path), errors="replace", newline=None) as file:
        preamble, first = _preamble(file)
        form = _format_of(first)
        names = columns.split(",") if columns else _names(preamble, form, first)
        chosen = [0, 1, 2] if names is None else _chosen(names, form.split(_without_comment(first)))
        more = [] if names else _more_numbers(form.split(_without_comment(first)))

        def load(columns: list[int], **options: Any) -> np.ndarray:
            file.seek(0)
            rows = _rows(islice(file, len(preamble), None), form)
            quote = None if form.delimiter is None else '"'
            return np.loadtxt(
                rows, usecols=columns, ndmin=2, delimiter=form.delimiter, quotechar=quote, comments=None, **options
            )

        try:
            table = load([*chosen, *more])
        except ValueError:
            if form.delimiter is None and not more:
                raise
            # Slower: words in a later column, and empty cells, as spreadsheets write for no value.
            table = load(chosen, converters=None if form.delimiter is None else _number_or_nan)
    if names is None:
        refuse_other_columns(table)
    return table[:, :3]


def _encoding(path: Path) -> str:
    with open(path, "rb") as file:
        start = file.read(4)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def _preamble(file: TextIO) -> tuple[list[str], str]:
    """The lines before the first row, and that row."""
    lines: list[str] = []
    while (line := file.readline(_LONGEST_LINE)) and len(lines) < _LONGEST_PREAMBLE:
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"a line of more than {_LONGEST_LINE} characters is no row of a table")
        text = _without_comment(line)
        if text and max(form.numbers(text) for form in _FORMATS) >= 3:
            return lines, line
        lines.append(line)
    raise ValueError("no line with three numbers")


def _format_of(line: str) -> _Format:
    text = _without_comment(line)
    return next(form for form in _FORMATS if form.numbers(text) >= 3)


def _names(preamble: list[str], form: _Format, first: str) -> list[str] | None:
    """The names of the columns in one of the lines before the rows, or None where there is no such line."""
    width = len(form.split(_without_comment(first)))
    lines = [line.strip() for line in preamble if line.strip()][-_LONGEST_HEADER:]
    for line in reversed(lines):
        named = [names for names in _splits(line, form) if names_xyz(names)]
        if named:
            return next((names for names in named if len(names) == width), named[0])
    if lines:
        line = lines[-1]
        splits = _splits(line, form)
        names = next((names for names in splits if len(names) == width), splits[0])
        num_known = sum(is_column_name(name) for name in names)
        if num_known >= 2 or (len(names) == width and (num_known or not line.startswith(_COMMENTS))):
            return names
    return None


def _splits(line: str, form: _Format) -> list[list[str]]:
    """The words of a header line, by the rows' delimiter and by others, since some writers use two."""
    text = line.lstrip("".join(_COMMENTS)).strip()
    return [form.split(text), _UNIT_IN_BRACKETS.sub("", text).split(), *(other.split(text) for other in _FORMATS)]


def _chosen(names: list[str], cells: list[str]) -> list[int]:
    while len(cells) > len(names) and not cells[-1]:
        cells = cells[:-1]
    while len(names) > len(cells) and not names[-1].strip():
        names = names[:-1]
    if len(names) != len(cells):
        raise ValueError(f"{len(names)} names ({', '.join(names)}) for {len(cells)} columns")
    return xyz_columns(names)


def _rows(lines: Iterator[str], form: _Format) -> Iterator[str]:
    for line in lines:
        text = _without_comment(line)
        if text:
            yield text.replace(",", ".") if form.decimal_comma else text


def _without_comment(line: str) -> str:
    for mark in _COMMENTS:
        if mark in line:
            line = line[: line.index(mark)]
    return line.strip(" \r\n")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _more_numbers(cells: list[str]) -> list[int]:
    """The columns after the third one that hold numbers in this row."""
    return [index for index, cell in enumerate(cells) if index > 2 and _is_number(cell.replace(",", "."))]


def _number_or_nan(cell: str) -> float:
    return float(cell) if cell.strip() else np.nan
