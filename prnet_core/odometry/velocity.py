"""The velocity of a sweep, by its own points and by the poses of the last two sweeps.

Points alone hardly show a velocity that deskewed the keyframes as well: all sweeps are then distorted alike. The motion
between two sweeps shows it, where the stamps are exact.
"""

from collections import deque

import numpy as np

GAIN = 0.75  # of the difference: poses jitter, and the velocity changes between two sweeps
MAX_PAUSE = 3.0  # times a sweep's own length from one to the next: the mean over a longer time shows little of it
NUM_INTERVALS, MAX_CHANGE = 3, 0.01  # so many intervals in a row differ by less than this share: exact stamps


class SweepVelocity:
    """Corrects the velocities of consecutive sweeps by the motions between them."""

    def __init__(self) -> None:
        self._stamps: deque[float] = deque(maxlen=NUM_INTERVALS + 1)

    def corrected(
        self, twist: np.ndarray, last_twist: np.ndarray, mean: np.ndarray, elapsed: float, length: float, stamp: float
    ) -> np.ndarray:
        """The twist (6,) of a sweep, moved to what explains the mean twist (6,) since the last one.

        last_twist: (6,) of the last sweep, `elapsed` seconds ago. length: seconds that the sweep took. stamp: of the
        scan, seconds; those that jitter, scans that are missing, and long pauses between sweeps leave the twist as it
        is.
        """
        self._stamps.append(stamp)
        intervals = np.diff(self._stamps)
        is_regular = len(intervals) == NUM_INTERVALS and np.ptp(intervals) < MAX_CHANGE * intervals.max()
        if not is_regular or elapsed > MAX_PAUSE * length:
            return twist
        return twist + GAIN * (mean - 0.5 * (last_twist + twist))
