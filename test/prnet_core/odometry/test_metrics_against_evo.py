"""Trajectory errors against evo, the usual tool for them."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry.metrics import absolute_trajectory_error, relative_pose_error

metrics = pytest.importorskip("evo.core.metrics", reason="evo is not installed (the extra benchmark)")


@pytest.fixture(scope="module")
def trajectories():
    """True poses along a curve, and an estimate with drift in another frame: both (30, 4, 4)."""
    rng = np.random.default_rng(0)
    step = np.array([0.5, 0.1, 0.02, 0.01, -0.02, 0.08])
    true = np.stack([se3.exp(step * i) for i in range(30)])
    noisy = [pose @ se3.exp(0.01 * rng.normal(size=6) + 0.002 * i) for i, pose in enumerate(true)]
    return se3.exp(np.array([3.0, -1.0, 2.0, 0.4, 0.5, -0.6])) @ np.stack(noisy), true


def evo_paths(trajectories):
    from evo.core.trajectory import PosePath3D

    return [PosePath3D(poses_se3=list(poses)) for poses in trajectories]


def test_ate(trajectories):
    estimate, true = evo_paths(trajectories)
    estimate.align(true)
    ape = metrics.APE(metrics.PoseRelation.translation_part)
    ape.process_data((true, estimate))
    assert absolute_trajectory_error(*trajectories) == pytest.approx(
        ape.get_statistic(metrics.StatisticsType.rmse)
    )


@pytest.mark.parametrize("step", [1, 10])
def test_rpe(trajectories, step):
    estimate, true = evo_paths(trajectories)
    ours = relative_pose_error(*trajectories, step)
    for relation, value in (
        (metrics.PoseRelation.translation_part, ours.translation_rmse),
        (metrics.PoseRelation.rotation_angle_deg, ours.rotation_rmse_deg),
    ):
        rpe = metrics.RPE(relation, step, metrics.Unit.frames, all_pairs=True)
        rpe.process_data((true, estimate))
        assert value == pytest.approx(rpe.get_statistic(metrics.StatisticsType.rmse))
