"""Counters of what happened to the scans, for several threads."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Counts:
    """A copy of the counters at one moment.

    totals: name -> how often since the start.
    reasons: name -> the reason given with the last one.
    latencies: seconds from the arrival of a scan to its publication, of the last 100 scans.
    """

    totals: Counter[str]
    reasons: dict[str, str]
    latencies: tuple[float, ...]

    def since(self, earlier: Counts) -> Counter[str]:
        return self.totals - earlier.totals

    def latency(self, quantile: float) -> float | None:
        """A quantile of the latencies in seconds, None without any."""
        return float(np.quantile(self.latencies, quantile)) if self.latencies else None


class Counters:
    """Counts by name, with the last reason for each. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}
        self._latencies: deque[float] = deque(maxlen=100)

    def count(self, name: str, reason: str = "", number: int = 1) -> bool:
        """Add to the count of a name; True when it is the first time."""
        with self._lock:
            is_first = self._totals[name] == 0
            self._totals[name] += number
            if reason:
                self._reasons[name] = reason
        return is_first

    def add_latency(self, seconds: float) -> None:
        with self._lock:
            self._latencies.append(seconds)

    def copy(self) -> Counts:
        with self._lock:
            return Counts(Counter(self._totals), dict(self._reasons), tuple(self._latencies))


class GapDetector:
    """Estimates from the stamps of a sensor with a steady rate how many of its scans never arrived."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._intervals: deque[float] = deque(maxlen=20)

    def missing_before(self, stamp: float) -> int:
        """Scans missing between the last stamp and this one (s); 0 until the rate is known, and after a pause."""
        last, self._last = self._last, stamp
        if last is None or stamp <= last:
            return 0
        interval = stamp - last  # those that span a missing scan are long: hence a low quantile
        usual = float(np.quantile(self._intervals, 0.2)) if len(self._intervals) >= 5 else None
        self._intervals.append(interval)
        if usual is None or interval > 20 * usual:
            return 0
        return max(0, round(interval / usual) - 1)
