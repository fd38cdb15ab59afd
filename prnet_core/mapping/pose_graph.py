"""Pose graph optimisation by GTSAM."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError

PRIOR_SIGMA = 1e-4
ROBUST_WIDTH = 3.0  # standard deviations from which on a loop closure counts less


def require_gtsam():
    """The module gtsam. Raises MapError where it is not installed."""
    try:
        import gtsam
    except ImportError as error:
        raise MapError("closing loops needs GTSAM: pip install gtsam (or apt install ros-DISTRO-gtsam)") from error
    return gtsam


def optimise(keyframe_map: KeyframeMap) -> list[np.ndarray]:
    """Poses (4, 4) by nonlinear least squares, the first one fixed; closures have a robust kernel (Cauchy).

    Raises MapError without GTSAM.
    """
    gtsam = require_gtsam()
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for index, pose in enumerate(keyframe_map.poses):
        values.insert(index, gtsam.Pose3(pose))
    fixed = gtsam.noiseModel.Isotropic.Sigma(6, PRIOR_SIGMA)
    graph.add(gtsam.PriorFactorPose3(0, gtsam.Pose3(keyframe_map.poses[0]), fixed))
    for constraint in keyframe_map.constraints:
        noise = gtsam.noiseModel.Gaussian.Covariance(gtsam_covariance(constraint.T_first_second, constraint.covariance))
        if constraint.is_closure:
            noise = gtsam.noiseModel.Robust.Create(gtsam.noiseModel.mEstimator.Cauchy.Create(ROBUST_WIDTH), noise)
        relative = gtsam.Pose3(constraint.T_first_second)
        graph.add(gtsam.BetweenFactorPose3(constraint.first, constraint.second, relative, noise))
    solved = gtsam.LevenbergMarquardtOptimizer(graph, values).optimize()
    return [solved.atPose3(index).matrix() for index in range(len(keyframe_map))]


def gtsam_covariance(T_first_second: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """(6, 6) in GTSAM's convention: rotation before translation, in the frame of the second pose."""
    moved = se3.moved_covariance(se3.invert(T_first_second), covariance)
    order = [3, 4, 5, 0, 1, 2]
    return moved[np.ix_(order, order)] + 1e-12 * np.eye(6)
