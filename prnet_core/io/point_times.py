"""Per-point times of a scan, whose unit and origin no message states."""

from __future__ import annotations

import numpy as np

_UNITS = (1.0, 1e-3, 1e-6, 1e-9)  # seconds, milliseconds, microseconds, nanoseconds
_TYPICAL_SCAN = 0.1  # s; decides between units that are a factor of 1000 apart
_LONGEST_SCAN = 10.0  # s


def times_from_stamp(values: np.ndarray, stamp: float, is_integer: bool) -> np.ndarray | None:
    """Times in seconds relative to the header's stamp, from a time field of unknown unit and origin.

    values: (N,) float64, as the message has them. stamp: the header's, in seconds. is_integer: the field has an
    integer type, so it does not count seconds.

    Three habits of drivers are told apart:
    absolute (the values lie at the stamp in one of the units), relative (they lie near zero), and a clock of the
    sensor's own (neither: the stamp is then taken for the time of the first point). The unit of the latter two
    is the one that makes the scan's length most like 0.1 s.

    Returns (N,) float64, or None when all points have the same time. A point without a finite time gets 0.
    """
    sample = values
    if len(values) > 1000:  # picked at random: a fixed stride can stay in one column of an organised cloud
        sample = values[np.random.default_rng(0).integers(len(values), size=1000)]
    sample = sample[np.isfinite(sample)]
    if sample.size == 0:
        return None
    low, high = np.percentile(sample, (1, 99))  # a few points with time 0 among absolute times are common
    if low == high:
        return None

    span = high - low
    unit, origin = _unit_and_origin(low, high, stamp, _UNITS[1:] if is_integer else _UNITS)
    if origin is None:
        origin = values[values >= low - span].min() * unit
    times = values * unit - origin
    np.clip(times, (low - span) * unit - origin, (high + span) * unit - origin, out=times)
    times[~np.isfinite(values)] = 0.0
    return times


def _unit_and_origin(
    low: float, high: float, stamp: float, units: tuple[float, ...]
) -> tuple[float, float | None]:
    """The unit in seconds, and the stamp in seconds on the values' clock: None where the first point tells it."""
    span, middle = high - low, (low + high) / 2
    tolerance = min(2.0, stamp / 4)  # so that a relative time is not absolute just after a simulation's start
    for unit in units:
        if span * unit <= _LONGEST_SCAN and abs(middle * unit - stamp) <= tolerance:
            return unit, stamp
    unit = min(units, key=lambda u: abs(np.log(span * u / _TYPICAL_SCAN)))
    is_relative = max(abs(low), abs(high)) * unit <= _LONGEST_SCAN
    return unit, 0.0 if is_relative else None
