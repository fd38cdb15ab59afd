"""The covariance of a chain of motions, as ROS writes it: x y z, then rotation about the fixed axes."""

import numpy as np

from prnet_core.geometry import se3


def compose_covariance(
    T_odom_target: np.ndarray,
    covariance_target: np.ndarray,
    T_target_source: np.ndarray,
    covariance_motion: np.ndarray,
) -> np.ndarray:
    """Covariance (6, 6) of T_odom_target T_target_source.

    covariance_target: (6, 6) of the target's pose: errors of its position and of its rotation about the axes of
    odom. covariance_motion: (6, 6) of a small motion (v, omega) applied in the target's frame after
    T_target_source. To first order the position p = R t + q moves by dq + dtheta x (R t) and by
    R (v + omega x t), the rotation by dtheta + R omega.
    """
    rotation, step = T_odom_target[:3, :3], T_target_source[:3, 3]
    from_target = np.eye(6)
    from_target[:3, 3:] = -se3.skew(rotation @ step)
    from_motion = np.zeros((6, 6))
    from_motion[:3, :3] = from_motion[3:, 3:] = rotation
    from_motion[:3, 3:] = -rotation @ se3.skew(step)
    return from_target @ covariance_target @ from_target.T + from_motion @ covariance_motion @ from_motion.T
