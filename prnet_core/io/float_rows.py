"""Files of float32 rows (.bin): x, y, z and more values per point, whose number the file does not state."""

import numpy as np

from prnet_core.io.column_names import xyz_columns
from prnet_core.io.other_columns import refuse_other_columns

_WIDTHS = tuple(range(3, 17))
_USUAL_WIDTH = 6
_FEWEST_ROWS = 64  # of a width beyond the usual ones
_ALIKE = 0.25  # largest Kolmogorov-Smirnov distance of two columns of the same quantity
_SAMPLE = 240_000  # values
_CLEAR = 20.0  # difference of log likelihood above which a width is certain
_TOO_FEW = 64  # fewer values never give a certain width: then x y z intensity, as in KITTI
_SMALLEST, _LARGEST = 1e-20, 1e8


def read_float_rows(data: bytes, columns: str | None = None) -> np.ndarray:
    """xyz (N, 3) float64 of rows of float32, little endian.

    columns: "5" or "x,y,z,intensity,ring" states the row. Otherwise the number of values per row is estimated: with the
    true number, each column has a spread of its own. Raises ValueError for incomplete rows, for values that are not
    float32, and for an ambiguous number of values.
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
    rows = values.reshape(-1, width)
    if columns is None:
        refuse_other_columns(rows[: _SAMPLE // width].astype(np.float64))
    return rows[:, chosen].astype(np.float64)


def _most_likely_width(values: np.ndarray) -> int:
    widths = [w for w in _WIDTHS if len(values) % w == 0 and (w <= _USUAL_WIDTH or len(values) >= _FEWEST_ROWS * w)]
    if not widths:
        raise ValueError(f"{len(values)} float32 values are not rows of 3 to 16: state their number with --columns N")
    sample = values[:_SAMPLE].astype(np.float64)
    size = np.abs(sample[np.isfinite(sample)])
    if np.mean((size > _LARGEST) | ((size > 0.0) & (size < _SMALLEST))) > 0.02 or size.size < len(sample) / 2:
        raise ValueError("the values are no coordinates in float32")
    low, high = np.quantile(sample[np.isfinite(sample)], (0.005, 0.995))
    sample = np.clip(sample, low, high)
    costs = {width: _cost(sample, width) for width in widths}
    best = min(widths, key=lambda width: costs[width])
    # A multiple of the true width fits as well, or better where the points alternate between the rings.
    best = next(w for w in widths if best % w == 0 and _repeats(sample, best, w))
    fitting = [w for w in widths if costs[w] - costs[best] < _CLEAR and not (w > best and w % best == 0)]
    smallest = fitting[0]
    if any(width % smallest for width in fitting):
        if len(values) < _TOO_FEW and 4 in fitting:
            return 4
        raise ValueError(
            f"it is not clear whether a point has {' or '.join(map(str, fitting))} float32 values: "
            "state their number with --columns N"
        )
    return smallest


def _repeats(sample: np.ndarray, width: int, divisor: int) -> bool:
    """Whether the columns of rows of `width` repeat the same quantities after `divisor` columns."""
    rows = np.sort(sample[: len(sample) // width * width].reshape(-1, width), axis=0)
    return all(_distance(rows[:, column % divisor], rows[:, column]) < _ALIKE for column in range(divisor, width))


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    """Kolmogorov-Smirnov distance of two sorted columns; NaN, at the end, counts as larger than all values."""
    values = np.concatenate([first, second])
    shares = [np.searchsorted(column, values, side="right") / len(column) for column in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _cost(sample: np.ndarray, width: int) -> float:
    """Negative log likelihood of normally distributed columns, with a penalty for the parameters (BIC)."""
    rows = sample[: len(sample) // width * width].reshape(-1, width)
    floor = 1e-4 * (np.nanstd(sample) + 1e-12)
    spread = np.sqrt(np.nanvar(rows, axis=0) + floor**2)
    return float(len(rows) * np.log(spread).sum() * len(sample) / rows.size + width * np.log(len(rows) + 1))
