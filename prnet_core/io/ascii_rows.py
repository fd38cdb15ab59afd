"""Rows of numbers in text."""

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np


def of_width(lines: Iterable[bytes], width: int) -> Iterator[bytes]:
    """The lines that are not blank; raises ValueError at the first one that does not have `width` values."""
    for line in lines:
        number = len(line.split())
        if number not in (0, width):
            than = "fewer" if number < width else "more"
            raise ValueError(f"a row has {number} values, {than} than the {width} of a point")
        if number:
            yield line


def read_numbers(path: Path | str, ndmin: int = 2) -> np.ndarray:
    """The numbers of a text file, one row per line, of at least `ndmin` dimensions; empty where it has no rows.

    Raises ValueError, which names the file, for words and for rows of different lengths.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a file without rows
            return np.loadtxt(path, ndmin=ndmin, encoding="utf-8-sig")
    except ValueError as error:
        raise ValueError(f"{path}: not rows of numbers: {error}") from error
