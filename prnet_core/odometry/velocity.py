"""The velocity of a sweep, by its own points and by the poses of the last two sweeps.

Points alone hardly show a velocity that deskewed the keyframes as well: all sweeps are then distorted alike. The motion
between two sweeps shows it, where the stamps are exact.
"""

from collections import deque

import numpy as np

GAIN = 0.5  # of the difference: poses jitter, and the velocity changes between two sweeps
MAX_PAUSE = 3.0  # times a sweep's own length from one to the next: the mean over a longer time shows little of it
NUM_INTERVALS, MAX_CHANGE = 3, 0.01  # so many intervals in a row differ by less than this share: exact stamps


class SweepVelocity:
    """Corrects the velocities of consecutive sweeps by the motions between them."""

    def __init__(self) -> None:
        self._intervals: deque[float] = deque(maxlen=NUM_INTERVALS)

    def corrected(
        self, twist: np.ndarray, last_twist: np.ndarray, mean: np.ndarray, elapsed: float, length: float
    ) -> np.ndarray:
        """The twist (6,) of a sweep, its linear velocity moved to what explains the mean twist (6,) since the last one.

        last_twist: (6,) of the last sweep, `elapsed` seconds ago. length: seconds that the sweep took. Stamps that
        jitter, scans that are missing, and long pauses between sweeps leave the twist as it is.
        """
        self._intervals.append(elapsed)
        shortest, longest = min(self._intervals), max(self._intervals)
        is_regular = len(self._intervals) == NUM_INTERVALS and longest - shortest < MAX_CHANGE * longest
        if not is_regular or elapsed > MAX_PAUSE * length:
            return twist
        difference = mean - 0.5 * (last_twist + twist)
        return twist + GAIN * np.r_[difference[:3], np.zeros(3)]
