"""The predicted pose of the sensor at the next scan."""

from __future__ import annotations

import numpy as np

from prnet_core.geometry import se3

CONSTANT_VELOCITY, GUESS_FRAME = "constant velocity", "guess frame"
MAX_TRANSLATION_ERROR = 0.25  # of the scan's median range, and
MAX_ROTATION_ERROR = 0.35  # radians: a guess frame that was further off last time is tried second


class Prediction:
    """Predicts by a guess frame (wheels, IMU) as long as that agrees with what was measured, else by the last velocity.

    A guess frame that stands still while the sensor moves, or that jumps, is noticed at the next measured motion: from
    then on the velocity is tried first, until the guess frame agrees again.
    """

    def __init__(self, max_seconds: float):
        self._max_seconds = max_seconds
        self._guess_motion: np.ndarray | None = np.eye(4)
        self.is_guess_trusted = True

    def add_guess(self, motion: np.ndarray | None) -> None:
        """Motion (4, 4) of the sensor since the last scan, T_last_now, by the guess frame; None when it is not known.

        Motions of scans that were lost are chained. One that is not a rigid transform counts as not known.
        """
        if motion is None or self._guess_motion is None or not is_rigid(motion):
            self._guess_motion = None
        else:
            self._guess_motion = self._guess_motion @ motion

    def poses(self, pose: np.ndarray, twist: np.ndarray, elapsed: float) -> list[tuple[str, np.ndarray]]:
        """Named predicted poses (4, 4), the more trusted first, from the last pose and twist (6,), `elapsed` s ago."""
        if elapsed > self._max_seconds:
            twist = np.zeros(6)
        predicted = [(CONSTANT_VELOCITY, pose @ se3.exp(twist * elapsed))]
        if self._guess_motion is not None:
            predicted.insert(0 if self.is_guess_trusted else 1, (GUESS_FRAME, pose @ self._guess_motion))
        return predicted

    def measured(self, motion: np.ndarray | None, scale: float) -> None:
        """The motion (4, 4) since the last pose was measured, or None (relocated); `scale`: the scan's median range."""
        if motion is not None and self._guess_motion is not None:
            error = se3.invert(self._guess_motion) @ motion
            self.is_guess_trusted = (
                float(np.linalg.norm(error[:3, 3])) < MAX_TRANSLATION_ERROR * scale
                and se3.rotation_angle(error[:3, :3]) < MAX_ROTATION_ERROR
            )
        self._guess_motion = np.eye(4)


def is_rigid(transform: np.ndarray) -> bool:
    """Whether an array is a rigid transform (4, 4), up to rounding."""
    transform = np.asarray(transform)
    if transform.shape != (4, 4) or not np.isfinite(transform).all():
        return False
    rotation = transform[:3, :3]
    return np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3) and np.linalg.det(rotation) > 0.0
