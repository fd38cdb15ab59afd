"""Point features and their matches."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.registration.features import fpfh, histogram, mutual_matches

TRUTH = se3.exp(np.array([1.0, -2.0, 0.5, 0.4, -1.1, 1.9]))


@pytest.fixture(scope="module")
def surface():
    """A bent sheet with bumps: points (N, 3) and unit normals (N, 3)."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-10, 10, (2, 600))
    z = 3 * np.sin(x / 3) + 2 * np.cos(y / 2) + 0.02 * x * y
    slope = np.stack([-(np.cos(x / 3) + 0.02 * y), np.sin(y / 2) - 0.02 * x, np.ones_like(x)], axis=1)
    return np.stack([x, y, z], axis=1), slope / np.linalg.norm(slope, axis=1, keepdims=True)


def test_features_do_not_change_with_the_pose(surface):
    points, normals = surface
    moved = se3.apply(TRUTH, points)
    rotated = normals @ TRUTH[:3, :3].T
    np.testing.assert_allclose(fpfh(moved, rotated, 4.0, 40), fpfh(points, normals, 4.0, 40), atol=1e-4)


def test_features_have_three_histograms_each_for_itself_and_its_neighbours(surface):
    feature = fpfh(*surface, 4.0, 40)
    assert feature.shape == (600, 33)
    np.testing.assert_allclose(feature.reshape(600, 3, 11).sum(axis=2), 2.0, atol=1e-4)


def test_a_lonely_point_has_a_zero_feature(surface):
    points, normals = surface
    points = np.vstack([points, [[1e3, 0, 0]]])
    feature = fpfh(points, np.vstack([normals, [[0, 0, 1.0]]]), 4.0, 40)
    np.testing.assert_array_equal(feature[-1], 0.0)


def test_histogram_clips_and_sums_to_one():
    counts = histogram(np.array([0, 0, 2]), np.array([-1.0, 1.0, 5.0]), 1.0, 3)
    assert counts[0, 0] == counts[0, -1] == 0.5
    np.testing.assert_array_equal(counts[1], 0.0)
    assert counts[2, -1] == 1.0


def test_mutual_matches_of_a_permutation():
    rng = np.random.default_rng(2)
    feature = rng.normal(size=(50, 33)).astype(np.float32)
    order = rng.permutation(50)
    i, j = mutual_matches(feature, feature[order])
    np.testing.assert_array_equal(order[j], i)
    assert len(i) == 50
