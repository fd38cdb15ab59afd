"""Detects row numbers, times and rings in the first three columns of a table without names."""

import numpy as np

_FEWEST_ROWS = 10
_FEWEST_FRACTIONAL = 3  # columns: x, y and z can be these instead
_CLOCK = 1e9  # from this value on, a column that hardly changes and never falls is a time
_NARROW = 0.02  # fraction of the spread of the next two columns


def refuse_other_columns(table: np.ndarray) -> None:
    """Raise ValueError where one of the first three columns of (N, C >= 4) does not look like coordinates.

    Such a column is a row number or a time (it grows evenly, or it is sorted and narrow), or holds whole numbers such
    as rings and intensities where three other columns have fractions.
    """
    if len(table) < _FEWEST_ROWS or table.shape[1] < 4:
        return
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < _FEWEST_ROWS:
        return
    kind = _counter(table)
    is_whole = (table == np.round(table)).all(axis=0)
    varies = np.ptp(table, axis=0) > 0.0
    if not kind and (is_whole & varies)[:3].any() and np.count_nonzero(~is_whole & varies) >= _FEWEST_FRACTIONAL:
        kind = f"column {1 + int(np.argmax((is_whole & varies)[:3]))} holds whole numbers alone, as rings do"
    if kind:
        raise ValueError(
            f"{kind}, and nothing names the columns: add a line of names, or name them with --columns t,x,y,z"
        )


def _counter(table: np.ndarray) -> str:
    """The kind of counter in the first column, as text; '' if it is no counter."""
    first = table[:, 0]
    steps = np.diff(first)
    if (steps < 0.0).any() or first[-1] == first[0]:
        return ""
    typical = float(np.median(steps))
    if typical > 0.0 and np.abs(steps - typical).max() <= 0.01 * typical:
        return "the first column looks like a row number or a time"
    is_clock = first[0] >= _CLOCK and first[-1] - first[0] < 1e-5 * first[0]
    spread = np.ptp(np.quantile(table[:, 1:3], (0.05, 0.95), axis=0), axis=0).min()
    return "the first column looks like a time" if is_clock or np.ptp(first) < _NARROW * spread else ""
