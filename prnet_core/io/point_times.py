"""Per-point times of a scan. Messages state neither their unit nor their origin."""

import re

import numpy as np

_UNITS = (1.0, 1e-3, 1e-6, 1e-9)  # seconds, milliseconds, microseconds, nanoseconds
_TYPICAL_SCAN = 0.1  # s; decides between units that are a factor of 1000 apart
_LONGEST_SCAN = 10.0  # s
_SLOW_SCAN = 0.25  # s: two groups of times within this are two sectors of one sweep
_FARTHEST_OFFSET = 1.35  # sweeps: relative times do not lie farther from the stamp, where 270 degrees are seen

# In order of preference, without separators and capitals: names that the drivers of LiDARs and depth cameras use.
_NAMES = (
    "t", "time", "timestamp", "timestamps", "offsettime", "timeoffset", "relativetime", "reltime", "timerel", "ts",
    "stamp", "pointtime", "pointtimestamp", "pointtimeoffset", "firingtime", "firingtimeoffset", "dt", "deltat",
    "deltatime", "timedelta", "tof", "offset",
)  # fmt: skip
_NAME_UNITS = {
    "ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9, "nanos": 1e-9, "nanosec": 1e-9, "nanoseconds": 1e-9,
    "us": 1e-6, "usec": 1e-6, "usecs": 1e-6, "micros": 1e-6, "microsec": 1e-6, "microseconds": 1e-6,
    "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millis": 1e-3, "millisec": 1e-3, "milliseconds": 1e-3,
    "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0,
}  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Periods after which clocks roll over: a second, a minute, an hour, a day, a week, or the range of an integer type.
_PERIODS = tuple(seconds / unit for seconds in (1.0, 60.0, 3600.0, 86400.0, 604800.0) for unit in _UNITS)
_PERIODS += (2.0**16, 2.0**24, 2.0**32, 2.0**32 / 1e3)


def time_field(name: str) -> tuple[int, float | None] | None:
    """(order of preference, unit in seconds or None) of a field that holds point times by its name, else None.

    `timeOffset`, `time_offset` and `TIME_OFFSET_NS` are known alike.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if "".join(words) in _NAMES and words != ["offset"]:
        return _NAMES.index("".join(words)), None
    if len(words) > 1 and words[-1] in _NAME_UNITS and "".join(words[:-1]) in _NAMES:
        return _NAMES.index("".join(words[:-1])), _NAME_UNITS[words[-1]]
    return None


def times_from_stamp(
    values: np.ndarray, stamp: float, is_integer: bool, unit: float | None = None
) -> tuple[np.ndarray | None, str]:
    """Times in seconds relative to the header's stamp, from a time field; (None, reason) where it holds no usable ones.

    values: (N,) float64, as the message has them. stamp: the header's, in seconds. is_integer: the field has an
    integer type, so it does not count seconds. unit: in seconds, where the field's name states it.

    Drivers write one of three kinds: absolute times (near the stamp in one of the units), relative times (near zero),
    or times of the sensor's own clock (neither: the stamp is then the time of the first point). The unit of the latter
    two is the one that makes the scan's duration closest to 0.1 s. A clock that rolls over within the scan is
    unwrapped.

    Returns times (N,) float64 and ''. A point without a finite time gets 0. The reasons are: all points have one time,
    times that are too far apart for one scan, or in two groups.
    """
    sample = values
    if len(values) > 1000:  # picked at random: a fixed stride can stay in one column of an organised cloud
        sample = values[np.random.default_rng(0).integers(len(values), size=1000)]
        sample = np.r_[sample, np.nanmin(values), np.nanmax(values)]  # a few points may lie before a rollover
    sample = _without_missing(np.sort(sample[np.isfinite(sample)]))
    if sample.size == 0 or sample[0] == sample[-1]:
        return None, "all points have one time"
    period, threshold = _rollover(sample, stamp, _UNITS if unit is None else (unit,))
    if period:
        values = np.where(values > threshold, values - period, values)
        sample = np.sort(np.where(sample > threshold, sample - period, sample))
    low, high = np.percentile(sample, (1, 99))  # a few points with time 0 among absolute times are common
    if low == high:
        return None, "all points have one time"
    units = (_UNITS[1:] if is_integer else _UNITS) if unit is None else (unit,)
    span = high - low
    unit, origin = _unit_and_origin(low, high, stamp, units)
    if span * unit > _LONGEST_SCAN:
        return None, f"times {span * unit:.3g} s apart in one scan"
    if not period and _is_split(sample, 0.95 if span * unit <= _SLOW_SCAN else 0.8):
        return None, "the times of one scan lie in two groups far apart"
    if origin is None or period:
        origin = values[values >= low - span].min() * unit
    times = values * unit - origin
    np.clip(times, (low - span) * unit - origin, (high + span) * unit - origin, out=times)
    times[~np.isfinite(values)] = 0.0
    return times, ""


def _without_missing(sample: np.ndarray) -> np.ndarray:
    """The sorted times without the zeros of points that have none, which lie far from all others."""
    others = sample[sample != 0.0]
    if 0 < len(others) < len(sample) and others[0] > 10.0 * (others[-1] - others[0]):
        return others
    return sample


def _gap(sample: np.ndarray) -> tuple[int, float]:
    """Index after the largest gap of the sorted times, and the share of the gap in their span."""
    steps = np.diff(sample)
    after = int(np.argmax(steps)) + 1
    return after, float(steps[after - 1] / (sample[-1] - sample[0]))


def _rollover(sample: np.ndarray, stamp: float, units: tuple[float, ...]) -> tuple[float, float]:
    """(period, threshold): times above the threshold are before the rollover; (0, 0) where there is none.

    An unknown period is taken to end where the times end: the error is the time between two firings.
    """
    after, share = _gap(sample)
    low, high = sample[:after], sample[after:]
    if share < 0.5 or low[0] < 0.0:
        return 0.0, 0.0
    threshold = float((low[-1] + high[0]) / 2)
    for period in sorted(_PERIODS):
        jump = low[0] + period - high[-1]
        span = low[-1] + period - high[0]
        is_near_zero = low[-1] < 0.25 * period and high[0] > 0.75 * period
        if is_near_zero and 0.0 <= jump < 0.2 * span and high[-1] <= period:
            return period, threshold
    span = low[-1] + high[-1] - high[0]
    if span <= 0.0 or low[0] > 0.05 * span:
        return 0.0, 0.0
    unit = min(units, key=lambda u: abs(np.log(span * u / _TYPICAL_SCAN)))
    is_one_sweep = (high[-1] - low[0]) * unit <= _SLOW_SCAN
    is_absolute = any(abs(np.median(high) * u - stamp) <= 2.0 for u in units)
    if is_one_sweep or is_absolute:
        return 0.0, 0.0
    return float(high[-1] + span / len(sample)), threshold


def _is_split(sample: np.ndarray, widest: float) -> bool:
    """Whether a gap of more than the share `widest` of the span lies between two groups of more than a few points."""
    after, share = _gap(sample)
    return share > widest and min(after, len(sample) - after) >= 0.01 * len(sample) - 1 and len(sample) > 20


def _unit_and_origin(low: float, high: float, stamp: float, units: tuple[float, ...]) -> tuple[float, float | None]:
    """The unit in seconds, and the stamp in seconds on the values' clock; None: the first point is at the stamp."""
    span, middle = high - low, (low + high) / 2
    tolerance = min(2.0, stamp / 4)  # so that a relative time is not absolute just after a simulation's start
    for unit in units:
        if span * unit <= _LONGEST_SCAN and abs(middle * unit - stamp) <= tolerance:
            return unit, stamp
    unit = min(units, key=lambda u: abs(np.log(span * u / _TYPICAL_SCAN)))
    is_relative = max(abs(low), abs(high)) * unit <= _FARTHEST_OFFSET * max(_TYPICAL_SCAN, span * unit)
    return unit, 0.0 if is_relative else None
