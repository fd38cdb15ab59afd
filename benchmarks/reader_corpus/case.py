"""One file of the corpus, and what a correct reader answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POINTS = np.array([[0.5, -1.25, 2.0], [3.0, 4.5, -0.75], [-7.5, 0.0, 1.0], [2.25, -3.0, 8.5]])
UTM = POINTS + [500123.25, 5400321.5, 120.75]
GRID = np.arange(1.0, 37.0).reshape(12, 3) / 4.0


@dataclass(frozen=True)
class Case:
    """name: file name. content: bytes. expected: points (N, 3), or words of the error that refuses the file.

    `columns` is what the user says about the file, as `prnet ... --columns` does.
    """

    name: str
    content: bytes
    expected: np.ndarray | str
    columns: str | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the file holds a cloud."""
        return not isinstance(self.expected, str)
