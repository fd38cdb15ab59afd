"""A scene that does not constrain all directions: there the predicted motion counts more than the registration.

The update of a Kalman filter for one pose, see Thrun, Burgard and Fox, "Probabilistic Robotics", 2005, section 3.3.
"""

import numpy as np

from prnet_core.geometry import se3

ACCELERATION, TURN = 5.0, 10.0  # m/s^2 and rad/s^2: standard deviation of what the velocity does not predict


def combined_motion(
    measured: np.ndarray,
    twist: np.ndarray,
    covariance: np.ndarray,
    predicted: np.ndarray,
    last_twist: np.ndarray,
    elapsed: float,
    scale: float,
) -> tuple[np.ndarray, np.ndarray]:
    """A measured pose (4, 4) T_map_sensor and twist (6,), moved towards the predicted ones as these are certain.

    covariance: (6, 6) of the measured pose, x y z rx ry rz about the map's axes. The predicted pose (4, 4) is by the
    velocity `elapsed` seconds ago, `last_twist` (6,). scale: median range of the scan, metres, which relates rotations
    to translations.
    """
    units = np.r_[np.ones(3), np.full(3, scale)]
    about_sensor = se3.moved_covariance(se3.invert(measured), covariance) * np.outer(units, units)
    deviation = 0.5 * elapsed**2 * np.r_[np.full(3, ACCELERATION), np.full(3, TURN)] * units
    gain = about_sensor @ np.linalg.inv(about_sensor + np.diag(deviation**2 + 1e-12))
    error = se3.log(se3.invert(measured) @ predicted) * units
    return measured @ se3.exp(gain @ error / units), twist + gain @ ((last_twist - twist) * units) / units
