"""The history of one frame in the buffer: its parent and its transform over time."""

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from tf2_ros.exceptions import ExtrapolationException
from tf2_ros.transforms import interpolate

LATEST = 0


class Sample(NamedTuple):
    """T_parent_child (4, 4) takes points of the child into `parent` at `stamp` (ns)."""

    stamp: int
    parent: str
    T_parent_child: np.ndarray


def seconds(stamp: int) -> str:
    """The stamp as tf2's messages print it."""
    return f"{stamp / 1e9:.6f}"


class TimeCache:
    """The samples of a moving frame, the last `cache_time` nanoseconds of them."""

    def __init__(self, cache_time: int) -> None:
        self._cache_time = cache_time
        self._samples: list[Sample] = []

    def insert(self, sample: Sample) -> str | None:
        """Store the sample; returns the reason where it is refused, else None."""
        if self._samples and sample.stamp < self._samples[-1].stamp - self._cache_time:
            return "TF_OLD_DATA ignoring data from the past"
        position = bisect_left(self._samples, sample.stamp, key=lambda s: s.stamp)
        if position < len(self._samples) and self._samples[position].stamp == sample.stamp:
            return "TF_REPEATED_DATA ignoring data with redundant timestamp"
        self._samples.insert(position, sample)
        oldest = self._samples[-1].stamp - self._cache_time
        del self._samples[: bisect_left(self._samples, oldest, key=lambda s: s.stamp)]
        return None

    def at(self, stamp: int) -> Sample:
        """The (interpolated) sample at `stamp`; LATEST gives the newest. Raises ExtrapolationException."""
        samples = self._samples
        if stamp == LATEST:
            return samples[-1]
        position = bisect_left(samples, stamp, key=lambda s: s.stamp)
        if position < len(samples) and samples[position].stamp == stamp:
            return samples[position]
        if len(samples) == 1:
            raise ExtrapolationException(
                f"Lookup would require extrapolation at time {seconds(stamp)}, "
                f"but only time {seconds(samples[0].stamp)} is in the buffer"
            )
        if position == len(samples):
            raise ExtrapolationException(
                f"Lookup would require extrapolation into the future.  Requested time {seconds(stamp)} "
                f"but the latest data is at time {seconds(samples[-1].stamp)}"
            )
        if position == 0:
            raise ExtrapolationException(
                f"Lookup would require extrapolation into the past.  Requested time {seconds(stamp)} "
                f"but the earliest data is at time {seconds(samples[0].stamp)}"
            )
        before, after = samples[position - 1], samples[position]
        if before.parent != after.parent:
            return before._replace(stamp=stamp)
        ratio = (stamp - before.stamp) / (after.stamp - before.stamp)
        return Sample(stamp, before.parent, interpolate(before.T_parent_child, after.T_parent_child, ratio))


class StaticCache:
    """The one transform of a frame that does not move: the same at every time."""

    def __init__(self) -> None:
        self._sample: Sample | None = None

    def insert(self, sample: Sample) -> None:
        """Store the sample; it replaces the one before."""
        self._sample = sample._replace(stamp=LATEST)

    def at(self, stamp: int) -> Sample:
        """The sample, at any time."""
        return self._sample._replace(stamp=stamp)
