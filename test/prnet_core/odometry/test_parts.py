"""Deskewing, covariance of chained motions and key frames against values known by construction."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.deskew import deskew
from prnet_core.odometry.keyframes import KeyFrames
from prnet_core.registration import Registration

TWIST = np.array([1.0, -0.5, 0.2, 0.3, -0.1, 2.0])


@pytest.mark.parametrize("twist", [TWIST, np.array([2.0, 1.0, 0.0, 0.0, 0.0, 0.0]), np.zeros(6)])
def test_deskew_is_the_exponential_of_each_point(twist):
    rng = np.random.default_rng(0)
    points, times = rng.normal(size=(50, 3)), rng.uniform(-0.1, 0.1, 50)
    expected = [se3.apply(se3.exp(twist * t), p[None])[0] for p, t in zip(points, times, strict=True)]
    np.testing.assert_allclose(deskew(points, times, twist), expected, atol=1e-12)


def test_deskew_needs_one_time_a_point():
    with pytest.raises(ValueError, match="need times"):
        deskew(np.zeros((5, 3)), np.zeros(4), TWIST)


def test_covariance_of_a_chain_agrees_with_sampling():
    rng = np.random.default_rng(1)
    first, second = se3.exp(TWIST), se3.exp(np.array([3.0, 1.0, 0.5, -0.2, 0.4, 0.6]))
    spread = np.diag([0.02, 0.01, 0.03, 0.01, 0.02, 0.015])
    covariance = spread @ spread
    samples = []
    for _ in range(4000):
        position, turn = np.split(spread @ rng.normal(size=6), 2)
        noisy_first = se3.make_transform(se3.rotation_exp(turn) @ first[:3, :3], first[:3, 3] + position)
        noisy = noisy_first @ se3.exp(spread @ rng.normal(size=6)) @ second
        exact = first @ second
        samples.append(np.r_[noisy[:3, 3] - exact[:3, 3], se3.rotation_log(noisy[:3, :3] @ exact[:3, :3].T)])
    composed = compose_covariance(first, covariance, second, covariance)
    np.testing.assert_allclose(np.cov(np.array(samples).T), composed, atol=0.1 * composed.max())


def test_key_frames_are_joined_in_the_newest_frame():
    registration = Registration(None)
    frames = KeyFrames(num_joined=2, num_remembered=3, max_points=1000)
    rng = np.random.default_rng(2)
    clouds = rng.uniform(-1, 1, (4, 500, 3))
    poses = [se3.make_transform(np.eye(3), np.array([10.0 * i, 0, 0])) for i in range(4)]
    for cloud, pose in zip(clouds, poses, strict=True):
        frames.add(cloud, pose, np.eye(6))
    target = frames.target(registration, 0.1)
    x = target.points[:, 0] * target.voxel_size + target.centre[0]
    assert x.min() == pytest.approx(-11, abs=0.1) and x.max() == pytest.approx(1, abs=0.1)
    assert len(frames) == 3
    older = frames.older(np.zeros(3))
    assert [frame.T_odom_sensor[0, 3] for frame in older] == [10.0]
    frames.restart_from(older[0])
    assert len(frames) == 1 and frames.newest is older[0]


def test_a_large_key_frame_keeps_points_of_every_laser():
    frames = KeyFrames(num_joined=1, num_remembered=1, max_points=1000)
    firings = np.zeros((500, 16, 3))
    firings[..., 2] = np.arange(16)
    frames.add(firings.reshape(-1, 3), np.eye(4), np.eye(6))
    kept = frames.newest.points
    assert len(kept) == 1000 and kept.base is None
    assert np.bincount(kept[:, 2].astype(int), minlength=16).min() > 30


def test_the_target_must_be_a_known_one():
    with pytest.raises(ValueError, match="target must be"):
        OdometryConfig(target="world")
