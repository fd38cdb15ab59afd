"""A Kalman filter of a sensor's pose and velocity, for scenes that do not constrain all directions.

The acceleration is white noise, see Bar-Shalom, Li and Kirubarajan, "Estimation with Applications to Tracking and
Navigation", 2001, chapter 6; the errors are those about the pose, on SE(3). A free direction may last for seconds. The
velocity that predicts there is estimated from many scans, as the difference of two poses at 30 Hz is mostly noise.
"""

import numpy as np

from prnet_core.geometry import se3

SPEED, RATE = 3.0, 3.0  # m/s and rad/s: standard deviation of a velocity that two poses show
CHANGE = np.r_[np.full(3, 1.0), np.full(3, 2.0)]  # the same, of what the velocity changes by in a second


class MotionFilter:
    """pose: (4, 4) T_map_sensor. twist: (6,) of the sensor in its frame, m/s and rad/s."""

    def __init__(self) -> None:
        self.restart(np.eye(4), np.zeros(6))

    def restart(self, pose: np.ndarray, twist: np.ndarray) -> None:
        """Begin at a pose (4, 4) with a twist (6,) that is hardly known."""
        self.pose, self.twist = pose, twist
        self._covariance = np.zeros((12, 12))  # of the pose and the twist, in the sensor's frame
        self._covariance[6:, 6:] = np.diag(np.r_[np.full(3, SPEED), np.full(3, RATE)] ** 2)

    def add(self, measured: np.ndarray, covariance: np.ndarray, elapsed: float, is_weak: bool) -> np.ndarray:
        """The pose (4, 4) after a measured one, `elapsed` seconds after the last: the measured one unless `is_weak`.

        covariance: (6, 6) of the measured pose, x y z rx ry rz about the map's axes.
        """
        self._predict(elapsed)
        about_sensor = se3.moved_covariance(se3.invert(measured), covariance)
        error = se3.log(se3.invert(self.pose) @ measured)
        gain = self._covariance[:, :6] @ np.linalg.inv(self._covariance[:6, :6] + about_sensor)
        correction = gain @ error
        corrected = self._covariance - gain @ self._covariance[:6]
        self._covariance = 0.5 * (corrected + corrected.T)
        self.twist = self.twist + correction[6:]
        self.pose = self.pose @ se3.exp(correction[:6]) if is_weak else measured
        return self.pose

    def _predict(self, elapsed: float) -> None:
        step = se3.exp(elapsed * self.twist)
        transition = np.eye(12)
        transition[:6, :6] = se3.adjoint(se3.invert(step))
        transition[:6, 6:] = elapsed * np.eye(6)
        white = elapsed * np.array([[elapsed**2 / 3.0, elapsed / 2.0], [elapsed / 2.0, 1.0]])
        self.pose = self.pose @ step
        self._covariance = transition @ self._covariance @ transition.T + np.kron(white, np.diag(CHANGE**2))
