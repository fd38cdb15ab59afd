"""Files of float32 rows (.bin): x, y, z and more values a point, whose number nothing in the file states."""

from __future__ import annotations

import numpy as np

from prnet_core.io.column_names import xyz_columns

_WIDTHS = (3, 4, 5, 6)
_SAMPLE = 240_000  # values; a multiple of every width
_CLEAR = 20.0  # difference of log likelihood beyond which a width is certain
_TOO_FEW = 64  # values with which no width can be clear: then x y z intensity, as in KITTI
_SMALLEST, _LARGEST = 1e-20, 1e8


def read_float_rows(data: bytes, columns: str | None = None) -> np.ndarray:
    """xyz (N, 3) float64 of rows of float32, little endian.

    columns: "5" or "x,y,z,intensity,ring" states the row. Otherwise the number of values is the one with which each
    column has a spread of its own, if that is clear.

    Raises:
        ValueError: no whole rows, values that are no float32, or a width that is not clear.
    """
    if not data:
        raise ValueError("the file is empty")
    if len(data) % 4:
        raise ValueError(f"{len(data)} bytes are not rows of four float32 values, nor of 3, 5 or 6")
    values = np.frombuffer(data, "<f4")
    chosen = [0, 1, 2]
    if columns is None:
        width = _most_likely_width(values)
    elif columns.strip().isdigit():
        width = int(columns)
    else:
        names = columns.split(",")
        width, chosen = len(names), xyz_columns(names)
    if width < 3 or len(values) % width:
        raise ValueError(f"{len(values)} float32 values are not rows of {width}")
    return values.reshape(-1, width)[:, chosen].astype(np.float64)


def _most_likely_width(values: np.ndarray) -> int:
    widths = [width for width in _WIDTHS if len(values) % width == 0]
    if not widths:
        raise ValueError(f"{len(values)} float32 values are not rows of 3 to 6: state their number with --columns N")
    sample = values[:_SAMPLE].astype(np.float64)
    size = np.abs(sample[np.isfinite(sample)])
    if np.mean((size > _LARGEST) | ((size > 0.0) & (size < _SMALLEST))) > 0.02 or size.size < len(sample) / 2:
        raise ValueError("the values are no coordinates in float32")
    low, high = np.quantile(sample[np.isfinite(sample)], (0.005, 0.995))
    sample = np.clip(sample, low, high)
    costs = {width: _cost(sample, width) for width in widths}
    best = min(widths, key=lambda width: costs[width])
    # A multiple of the true width fits as well; the smallest width that fits is meant.
    fitting = [width for width in widths if costs[width] - costs[best] < _CLEAR]
    smallest = fitting[0]
    if any(width % smallest for width in fitting):
        if len(values) < _TOO_FEW and 4 in fitting:
            return 4
        raise ValueError(
            f"it is not clear whether a point has {' or '.join(map(str, fitting))} float32 values: "
            "state their number with --columns N"
        )
    return smallest


def _cost(sample: np.ndarray, width: int) -> float:
    """Negative log likelihood of the values when each column is normal by itself, with the price of its two numbers."""
    rows = sample[: len(sample) // width * width].reshape(-1, width)
    floor = 1e-4 * (np.nanstd(sample) + 1e-12)
    spread = np.sqrt(np.nanvar(rows, axis=0) + floor**2)
    return float(len(rows) * np.log(spread).sum() * len(sample) / rows.size + width * np.log(len(rows) + 1))
