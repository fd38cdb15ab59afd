from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from prnet_core.evaluation.metrics import euler_angles_deg
from prnet_core.geometry import se3
from prnet_core.pairs.protocol import PROTOCOLS, protocol_pair


@pytest.fixture
def shape():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(2048, 3)) * [1.0, 0.6, 0.3]
    return (points / np.linalg.norm(points, axis=1).max()).astype(np.float32)


def distances(source, target, T_target_source):
    return cKDTree(target).query(se3.apply(T_target_source, source.astype(float)))[0]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_pair_is_seeded_by_its_index(shape, name):
    first, again, other = (protocol_pair(shape, i, name) for i in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[2], other[2])
    kept = PROTOCOLS[name].num_kept
    assert first[0].shape == first[1].shape == (kept, 3)
    assert first[0].dtype == first[1].dtype == np.float32


def test_motion_is_in_the_papers_range(shape):
    transforms = np.stack([protocol_pair(shape, i, "objects")[2] for i in range(300)])
    angles = euler_angles_deg(transforms[:, :3, :3])
    assert angles.min() >= 0 and angles.max() <= 45
    np.testing.assert_allclose(angles.mean(axis=0), 22.5, atol=3)
    assert np.abs(transforms[:, :3, 3]).max() <= 0.5
    np.testing.assert_allclose(np.linalg.det(transforms[:, :3, :3]), 1)


def test_full_clouds_are_farthest_point_samples_of_the_whole_shape(shape):
    source, target, T_target_source = protocol_pair(shape, 0, "full")
    assert len(source) == len(target) == 768
    whole = cKDTree(shape[:1024].astype(float))
    for sample in (source, se3.apply(se3.invert(T_target_source), target)):
        assert whole.query(sample)[0].max() < 1e-6
        spacing = np.quantile(whole.query(shape[:1024], k=2)[0][:, 1], 0.9)
        assert cKDTree(sample).query(shape[:1024])[0].max() < 2.0 * spacing
    common = (distances(source, target, T_target_source) < 1e-6).mean()
    assert 0.7 < common < 1.0, "the samples begin at different points"
    assert np.abs(se3.apply(T_target_source, source) - target).max() > 0.1, "the order must not give the matches"


def test_crop_is_one_viewpoint_for_both(shape):
    """A far viewpoint on the diagonal keeps 95 % of the crop in common, random ones about 78 %."""

    def overlap(protocol):
        pairs = [protocol_pair(shape, i, protocol) for i in range(60)]
        return np.mean([(distances(*pair) < 1e-5).mean() for pair in pairs])

    assert overlap(PROTOCOLS["objects"]) == pytest.approx(0.95, abs=0.03)
    assert 0.68 < overlap(replace(PROTOCOLS["objects"], independent_views=True)) < 0.85


def test_crop_keeps_the_side_towards_the_diagonal(shape):
    for index in range(10):
        source, _, _ = protocol_pair(shape, index, "objects")
        kept = cKDTree(source).query(shape[:1024])[0] == 0
        height = shape[:1024].astype(float).sum(axis=1)
        height = -height if height[kept].mean() < 0 else height
        assert height[~kept].max() < height[kept].min() + 0.01


def test_noise_is_small_clipped_and_separate(shape):
    protocol = replace(PROTOCOLS["objects"], num_kept=1024, noise=0.01)
    source, target, T_target_source = protocol_pair(shape, 0, protocol)
    moved = cKDTree(shape[:1024].astype(float)).query(source)[0]
    assert 0 < moved.max() <= 0.05 * np.sqrt(3)
    assert np.median(distances(source, target, T_target_source)) > 1e-3


def test_hard_pairs_share_no_point(shape):
    source, target, T_target_source = protocol_pair(shape, 0, replace(PROTOCOLS["hard"], noise=0.0))
    assert distances(source, target, T_target_source).min() > 1e-6


def test_too_few_points_are_refused(shape):
    with pytest.raises(ValueError, match="needs 2048 points"):
        protocol_pair(shape[:1500], 0, "hard")
