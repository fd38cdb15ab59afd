"""What one scan did to the odometry."""

from dataclasses import dataclass

import numpy as np

from prnet_core.registration import RegistrationResult


@dataclass(frozen=True)
class OdometryUpdate:
    """Answer to one scan.

    status: 'first' (starts the trajectory), 'accepted', 'weak' (usable, wide covariance), 'rejected' (no motion was
        found; the pose is the prediction and must not be published), 'ignored' (stamp not newer than the last one),
        'reset' (time went back: the trajectory starts anew with this scan).
    T_odom_sensor: (4, 4), takes points of the sensor's frame into the frame of the first scan.
    T_previous_sensor: (4, 4), motion since the last scan that was used.
    twist: (6,) vx vy vz wx wy wz, m/s and rad/s, in the sensor's frame; zero where it is not known.
    elapsed: seconds over which the twist was measured, or None: at the first scan, and at one that was found again
        at an older key frame, where the motion since the last scan is the jump of the estimate too.
    covariance: (6, 6) of T_odom_sensor, x y z rx ry rz about the odometry frame's axes; it grows.
    """

    status: str
    reason: str
    stamp: float
    T_odom_sensor: np.ndarray
    T_previous_sensor: np.ndarray
    twist: np.ndarray
    covariance: np.ndarray
    elapsed: float | None = None
    registration: RegistrationResult | None = None
