"""The predicted pose of the sensor at the next scan."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3

MAX_TRANSLATION_ERROR = 0.25  # of the scan's median range, and
MAX_ROTATION_ERROR = 0.35  # radians: a guess frame that was further off last time is tried second
SLOWER, FASTER = (0.0, 0.5, 1.0), (1.5, 2.0, 2.5)  # shares of the last velocity, that the sensor may have had since

TURNS = (3.0, 6.0, 9.0, 12.0, 16.0, 21.0, 27.0, 34.0)  # rad/s^2, about each axis


@dataclass(frozen=True)
class Predicted:
    """pose: (4, 4) T_map_sensor in the middle of the next sweep. twist: (6,) of the sensor there, in its frame.

    distance: mean, in voxels, from that sweep to the map by this prediction; None where it was not measured.
    """

    pose: np.ndarray
    twist: np.ndarray
    distance: float | None = None


class Prediction:
    """Predicts by a guess frame (wheels, IMU) as long as that agrees with what was measured, else by the last velocity.

    A guess frame that stands still while the sensor moves, or that jumps, is noticed at the next measured motion: from
    then on the velocity is tried first, until the guess frame agrees again.
    """

    def __init__(self, max_seconds: float):
        self._max_seconds = max_seconds
        self._guess_motion: np.ndarray | None = np.eye(4)
        self._acceleration: np.ndarray | None = None  # (6,), of the last two twists
        self.is_guess_trusted = True

    @property
    def has_guess(self) -> bool:
        """Whether the guess frame predicts the next scan."""
        return self._guess_motion is not None and self.is_guess_trusted

    def add_guess(self, motion: np.ndarray | None) -> None:
        """Motion (4, 4) of the sensor since the last scan, T_last_now, by the guess frame; None when it is not known.

        Motions of scans that were lost are chained. One that is not a rigid transform counts as not known.
        """
        if motion is None or self._guess_motion is None or not se3.is_rigid(np.asarray(motion)):
            self._guess_motion = None
        else:
            self._guess_motion = self._guess_motion @ motion

    def by_velocity(self, pose: np.ndarray, twist: np.ndarray, elapsed: float, is_mean: bool) -> list[Predicted]:
        """Constant velocity, and where the last acceleration is known constant acceleration.

        pose: (4, 4) the last one, `elapsed` seconds ago. twist: (6,) that of the sensor then or, with `is_mean`, its
        mean over the time before.
        """
        if elapsed > self._max_seconds:
            twist = np.zeros(6)
        predicted = [Predicted(pose @ se3.exp(twist * elapsed), twist)]
        if self._acceleration is not None and 0.0 < elapsed <= self._max_seconds:
            change = self._acceleration * elapsed
            mean = twist + (change if is_mean else 0.5 * change)
            predicted.append(Predicted(pose @ se3.exp(mean * elapsed), twist + change))
        return predicted

    def by_changed_velocity(
        self, pose: np.ndarray, twist: np.ndarray, elapsed: float, shares: tuple[float, ...]
    ) -> list[Predicted]:
        """For a sensor that braked, stopped or accelerated since its pose (4, 4) and twist (6,) `elapsed` ago."""
        elapsed = min(elapsed, self._max_seconds)
        return [Predicted(pose @ se3.exp(share * elapsed * twist), share * twist) for share in shares]

    def by_turning(self, pose: np.ndarray, twist: np.ndarray, elapsed: float) -> list[Predicted]:
        """For a sensor that began or stopped turning since its pose (4, 4) and twist (6,) `elapsed` ago.

        The first is for one that did not.
        """
        elapsed = min(elapsed, self._max_seconds)
        axes = np.vstack([np.eye(3), -np.eye(3)])
        changes = [np.zeros(6), *(np.r_[np.zeros(3), elapsed * turn * axis] for turn in TURNS for axis in axes)]
        return [Predicted(pose @ se3.exp((twist + 0.5 * change) * elapsed), twist + change) for change in changes]

    def with_guess(self, pose: np.ndarray, predicted: Predicted) -> list[Predicted]:
        """The guess frame's prediction from the last pose (4, 4) beside another one, the more reliable first."""
        if self._guess_motion is None:
            return [predicted]
        guess = Predicted(pose @ self._guess_motion, predicted.twist)
        return [guess, predicted] if self.is_guess_trusted else [predicted, guess]

    def measured(self, motion: np.ndarray, scale: float, change: np.ndarray | None, elapsed: float) -> None:
        """Take in a measured motion (4, 4) of the last `elapsed` seconds; scale: median range of the scan.

        change: (6,) of the twist in that time, or None when one of both twists is not known.
        """
        self._acceleration = change / elapsed if change is not None and elapsed > 0.0 else None
        if self._guess_motion is not None:
            distance, angle = se3.difference(self._guess_motion, motion)
            self.is_guess_trusted = distance < MAX_TRANSLATION_ERROR * scale and angle < MAX_ROTATION_ERROR
        self._guess_motion = np.eye(4)

    def restart(self) -> None:
        """Continue without a measured motion: the trajectory starts, or the scan was found again elsewhere."""
        self._acceleration, self._guess_motion = None, np.eye(4)
