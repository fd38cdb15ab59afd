"""Transforms of spatially consistent matches, against transforms known by construction."""

import numpy as np
import pytest
import torch

from prnet_core.geometry import se3
from prnet_core.geometry.consistent_transforms import consistent_transforms, weighted_kabsch
from prnet_core.geometry.kabsch import procrustes

TRUE = se3.exp(np.array([1.0, -2.0, 0.5, 0.4, -1.1, 1.9]))


def test_the_true_transform_is_found_among_nine_incorrect_matches_in_ten():
    rng = np.random.default_rng(3)
    source = rng.uniform(-20, 20, (300, 3))
    target = rng.uniform(-20, 20, (300, 3))
    target[:30] = se3.apply(TRUE, source[:30]) + 0.1 * rng.normal(size=(30, 3))
    best = consistent_transforms(source, target, 1.0, 3)[0]
    assert se3.transform_distance(best, TRUE, 20.0) < 1.0


def test_transforms_are_distinct_and_rigid():
    rng = np.random.default_rng(4)
    source, target = rng.uniform(-20, 20, (2, 60, 3))
    transforms = consistent_transforms(source, target, 1.0, 4)
    assert 1 <= len(transforms) <= 4
    for k, transform in enumerate(transforms):
        assert np.linalg.det(transform[:3, :3]) == pytest.approx(1.0)
        assert all(se3.transform_distance(transform, other, 20.0) > 1.0 for other in transforms[:k])


def test_the_result_does_not_depend_on_the_order_of_ties():
    rng = np.random.default_rng(5)
    source = rng.uniform(-20, 20, (40, 3))
    once = consistent_transforms(source, se3.apply(TRUE, source), 1.0, 3)
    again = consistent_transforms(source.copy(), se3.apply(TRUE, source), 1.0, 3)
    assert len(once) == len(again) == 1
    np.testing.assert_array_equal(once[0], again[0])
    np.testing.assert_allclose(once[0], TRUE, atol=1e-9)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_matches_give_no_transform(count):
    assert consistent_transforms(np.zeros((count, 3)), np.zeros((count, 3)), 1.0, 3) == []


def test_degenerate_matches_give_a_finite_transform():
    line = np.outer(np.arange(5.0), [1.0, 0.0, 0.0])
    for points in (np.zeros((5, 3)), line):
        for transform in consistent_transforms(points, points, 1.0, 3):
            assert np.isfinite(transform).all()
            np.testing.assert_allclose(se3.apply(transform, points), points, atol=1e-6)


def degenerate_points() -> list[np.ndarray]:
    return [np.zeros((5, 3)), np.outer(np.arange(5.0), [1.0, 0.0, 0.0])]


@pytest.mark.parametrize("points", [*degenerate_points(), np.random.default_rng(6).normal(size=(5, 3))])
def test_kabsch_of_one_batch_in_numpy_is_that_of_pytorch(points):
    target, weights = se3.apply(TRUE, points), np.random.default_rng(7).uniform(0.1, 1.0, (4, len(points)))
    weights[0] = 0.0
    found = weighted_kabsch(points, target, weights)
    batch = [torch.from_numpy(np.broadcast_to(cloud, (4, *cloud.shape)).copy()) for cloud in (points, target)]
    reference = procrustes(*batch, torch.from_numpy(weights)).numpy()
    np.testing.assert_allclose(np.linalg.det(found[:, :3, :3]), 1.0)
    for transform, other in zip(found, reference, strict=True):
        np.testing.assert_allclose(se3.apply(transform, points), se3.apply(other, points), atol=1e-6)
