"""The usable points of one scan, with their times, and as they would be seen from one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prnet_core.geometry.rows import row_dots
from prnet_core.odometry.deskew import deskew
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import usable_points

MAX_SWEEP = 1.5  # of the usual time between scans: a longer sweep has incorrect point times
SCALE_POINTS = 10_000


@dataclass(frozen=True)
class Sweep:
    """points: (M, 3) float64, in the sensor's frame, each at its own time.

    rows: (M,) rows of the input that they are. times: (M,) seconds after `middle`, or None: all at one time.
    middle: median of the points' times, seconds after the stamp. note: why given times were not used, or ''.
    """

    points: np.ndarray
    rows: np.ndarray
    times: np.ndarray | None
    middle: float
    note: str = ""

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def scale(self) -> float:
        """Median range of the points; 0 without points."""
        step = max(1, len(self.points) // SCALE_POINTS)
        some = self.points[::step]
        return float(np.sqrt(np.median(row_dots(some, some)))) if len(self) else 0.0

    def limited(self, max_points: int) -> Sweep:
        """About `max_points` of the points, drawn with a probability proportional to the squared range, so that near
        and far surfaces get the same density."""
        if len(self) <= max_points:
            return self
        squared = row_dots(self.points, self.points)
        kept = squared * (max_points / squared.sum())
        for _ in range(3):  # far points are all kept, which leaves more for the near ones
            kept = np.minimum(kept * (max_points / np.minimum(kept, 1.0).sum()), 1.0)
        return self._take(np.flatnonzero(np.random.default_rng(0).random(len(self)) < kept))

    def within(self, limit: float) -> Sweep:
        """The points within a range."""
        if limit == np.inf:
            return self
        return self._take(np.flatnonzero(row_dots(self.points, self.points) <= limit**2))

    def with_times(self, times: np.ndarray) -> Sweep:
        """With times (M,) in seconds after the middle of the sweep, which is at the stamp."""
        return replace(self, times=times, middle=0.0)

    def every(self, step: int) -> Sweep:
        """Every `step`-th point."""
        return self._take(np.arange(0, len(self), step))

    def _take(self, chosen: np.ndarray) -> Sweep:
        times = None if self.times is None else self.times[chosen]
        return replace(self, points=self.points.take(chosen, axis=0), rows=self.rows[chosen], times=times)

    def at_middle(self, twist: np.ndarray) -> np.ndarray:
        """The points (M, 3) as seen from the sensor's place at `middle`, for a twist (6,) in its frame."""
        return self.points if self.times is None else deskew(self.points, self.times, twist)

    def at_stamp(self, twist: np.ndarray) -> np.ndarray:
        """The points (M, 3) as seen from the sensor's place at the stamp."""
        return self.points if self.times is None else deskew(self.points, self.times + self.middle, twist)


def make_sweep(
    points: np.ndarray,
    times: np.ndarray | None,
    config: RegistrationConfig,
    usual_interval: float | None,
    use_times: bool = True,
) -> Sweep:
    """Clean a scan (N, 3) once, in the sensor's own frame; times (N,) seconds relative to the stamp, or None.

    usual_interval: seconds between scans, or None when not known. Times of a sweep that is much longer than that are
    not used. Raises ValueError when there is not one time per point.
    """
    points = np.asarray(points)
    usable = usable_points(points, config)
    note = ""
    if times is not None:
        times = np.asarray(times, dtype=np.float64)
        if times.shape != (len(points),):
            raise ValueError(f"{len(points)} points need times of that many, not {times.shape}")
        with_time = usable & np.isfinite(times)
        note = _problem(times[with_time], usual_interval)
        if note or not use_times or not with_time.any():
            times = None
        else:
            usable = with_time
    rows = np.flatnonzero(usable)
    points = points.take(rows, axis=0)[:, :3].astype(np.float64, copy=False)
    if times is None:
        return Sweep(points, rows, None, 0.0, note)
    times = times[rows]
    middle = float(np.median(times))
    return Sweep(points, rows, None if np.ptp(times) == 0.0 else times - middle, middle)


def _problem(times: np.ndarray, usual_interval: float | None) -> str:
    if usual_interval is None or len(times) == 0:
        return ""
    length = float(np.ptp(times))
    if length <= MAX_SWEEP * usual_interval:
        return ""
    return f"point times not used: a sweep of {length:.3f} s, scans are {usual_interval:.3f} s apart"
