"""The local map as a target."""

import numpy as np
import pytest

from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.local_map import LocalMap
from prnet_core.registration import RegistrationConfig

VOXEL, REACH = 0.2, 20.0


def keyframe(noise, count):
    """A floor and two walls, seen from the origin, with noise in metres."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-4.0, 4.0, (count, 3))
    points[np.arange(count), np.arange(count) % 3] = -3.0
    points += rng.normal(size=points.shape) * noise
    return Keyframe(points, np.eye(4), np.eye(6), np.zeros(6))


def targets(frames):
    """Points and normals of the target and of the fine target of the last frame alone, after the others."""
    local_map = LocalMap(RegistrationConfig(), 1)
    for frame in frames:
        local_map.add(frame)
        local_map.target(VOXEL, np.zeros(3), REACH)
    clouds = (get(VOXEL, np.zeros(3), REACH) for get in (local_map.target, local_map.fine_target))
    return [values for cloud in clouds for values in (cloud.points, cloud.normals)]


@pytest.mark.parametrize("last", [(0.0, 20_000), (0.0, 1500), (0.05, 20_000)])
@pytest.mark.parametrize("before", [(0.0, 20_000), (0.0, 1500), (0.05, 20_000)])
def test_the_keyframe_before_does_not_change_the_surfaces_of_the_next(before, last):
    """Precise, sparse and noisy keyframes take other neighbours; those of the one before are tried first."""
    expected = targets([keyframe(*last)])
    for found, wanted in zip(targets([keyframe(*before), keyframe(*last)]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
