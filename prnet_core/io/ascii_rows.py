"""Rows of numbers in text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def of_width(lines: Iterable[bytes], width: int) -> Iterator[bytes]:
    """The lines that are not blank; raises ValueError at the first one that has not `width` values."""
    for line in lines:
        number = len(line.split())
        if number not in (0, width):
            than = "fewer" if number < width else "more"
            raise ValueError(f"a row has {number} values, {than} than the {width} of a point")
        if number:
            yield line
