"""The motion of the robot's base, from that of a sensor fixed to it."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.update import OdometryUpdate
from prnet_core.registration.result import UNKNOWN_VARIANCE


@dataclass(frozen=True)
class BaseMotion:
    """An odometry update seen from the base.

    T_odom_base: (4, 4), takes points of the base into the odometry frame, which is where the base was at the
        first scan.
    covariance: (6, 6) of T_odom_base as ROS writes it: position, then rotation about the fixed axes.
    twist: (6,) vx vy vz wx wy wz of the base in the base's own frame, m/s and rad/s.
    twist_covariance: (6, 6) of the twist, in the base's frame.
    """

    T_odom_base: np.ndarray
    covariance: np.ndarray
    twist: np.ndarray
    twist_covariance: np.ndarray


def motion_of_base(update: OdometryUpdate, T_base_sensor: np.ndarray) -> BaseMotion:
    """Move an update of the sensor to the base to which it is fixed at T_base_sensor (4, 4).

    T_odom_base = T_base_sensor T_odom_sensor T_base_sensor^-1. The position of the base moves with the error of
    the rotation on the lever arm: dp_base = R dp_sensor - dtheta_base x (R_odom_base t_base_sensor).
    """
    T_odom_base = T_base_sensor @ update.T_odom_sensor @ se3.invert(T_base_sensor)
    rotation, lever = T_base_sensor[:3, :3], T_odom_base[:3, :3] @ T_base_sensor[:3, 3]
    jacobian = np.zeros((6, 6))
    jacobian[:3, :3] = jacobian[3:, 3:] = rotation
    jacobian[:3, 3:] = se3.skew(lever) @ rotation
    return BaseMotion(
        T_odom_base=T_odom_base,
        covariance=jacobian @ update.covariance @ jacobian.T,
        twist=se3.adjoint(T_base_sensor) @ update.twist,
        twist_covariance=se3.moved_covariance(T_base_sensor, _twist_covariance(update)),
    )


def _twist_covariance(update: OdometryUpdate) -> np.ndarray:
    """(6, 6) in the sensor's frame: the motion is the difference of two registrations, each with its error.

    exp(d) T = T exp(Ad(T^-1) d) moves the registration's covariance from the target's frame to the sensor's.
    """
    if update.registration is None or update.elapsed is None:
        return np.eye(6) * UNKNOWN_VARIANCE
    registration = update.registration
    covariance = se3.moved_covariance(se3.invert(registration.T_target_source), registration.covariance)
    return 2.0 * covariance / update.elapsed**2
