"""Stamps of consecutive scans: which are late, outliers, or the start of another time."""

from collections import deque

import numpy as np

USED, IGNORED, RESET = "used", "ignored", "reset"
REMEMBERED_INTERVALS = 15
JUMP_INTERVALS = 10.0  # usual intervals between scans that a stamp may be ahead without confirmation


class StampFilter:
    """Decides for each stamp whether its scan is used, ignored, or the first after a reset.

    A stamp that jumps (ahead, or back by `jump` seconds or more) is an outlier until the next stamp follows it: then
    time has jumped. Stamps that are a little behind are late scans.
    """

    def __init__(self, jump: float):
        self._jump = jump
        self._last: float | None = None
        self._pending: float | None = None
        self._intervals: deque[float] = deque(maxlen=REMEMBERED_INTERVALS)

    @property
    def usual_interval(self) -> float | None:
        """Median seconds between scans that were used; None before the second."""
        return float(np.median(self._intervals)) if self._intervals else None

    def check(self, stamp: float) -> tuple[str, str]:
        """USED, IGNORED or RESET, and the reason as text. Raises ValueError when the stamp is not finite."""
        if not np.isfinite(stamp):
            raise ValueError(f"a stamp must be finite, not {stamp}")
        if self._last is None:
            return self._use(stamp)
        ahead = stamp - self._last
        usual = self.usual_interval
        limit = np.inf if usual is None else max(self._jump, JUMP_INTERVALS * usual)
        if 0.0 < ahead <= limit:
            return self._use(stamp)
        if -self._jump < ahead <= 0.0:
            how_far = f"{-ahead:.6f} s behind" if ahead else "the same as"
            return IGNORED, f"the stamp is {how_far} the last one"
        if not self._follows_pending(stamp):
            self._pending = stamp
            direction = "ahead of" if ahead > 0.0 else "behind"
            return (
                IGNORED,
                f"the stamp is {abs(ahead):.3f} s {direction} the last one: an outlier unless the next one follows it",
            )
        self._last = self._pending  # the interval that follows a jump may be another one
        self._intervals.clear()
        self._use(stamp)
        if ahead > 0.0:
            return USED, ""
        return RESET, f"time went back by {-ahead:.3f} s"

    def _follows_pending(self, stamp: float) -> bool:
        """Whether a stamp comes after the one that jumped, by no more than that jump."""
        if self._pending is None or self._last is None:
            return False
        return 0.0 < stamp - self._pending <= max(self._jump, abs(self._pending - self._last))

    def _use(self, stamp: float) -> tuple[str, str]:
        if self._last is not None:
            self._intervals.append(stamp - self._last)
        self._last, self._pending = stamp, None
        return USED, ""
