import numpy as np
import pytest
from scipy.spatial import cKDTree

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.pairs.normalise import UNIT_RADIUS_90, downsample_pair, normalise_pair


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_normalised_pair_is_centred_and_of_unit_size(rng):
    source, target = rng.normal(size=(400, 3)) * 30.0 + 500.0, rng.normal(size=(300, 3)) * 10.0
    unit_source, unit_target, _ = normalise_pair(source, target)
    for cloud in (unit_source, unit_target):
        assert cloud.dtype == np.float32
        assert np.allclose(cloud.mean(0), 0.0, atol=1e-5)
    assert np.quantile(np.linalg.norm(unit_source, axis=1), 0.9) == pytest.approx(UNIT_RADIUS_90, abs=1e-5)
    assert np.quantile(np.linalg.norm(unit_target, axis=1), 0.9) < UNIT_RADIUS_90 / 2


def test_poses_go_to_metres_and_back(rng):
    T_metric = np.eye(4)
    T_metric[:3, :3], T_metric[:3, 3] = any_rotation(rng), [3.0, -40.0, 7.0]
    source = rng.normal(size=(200, 3)) * 12.0 + 30.0
    target = source @ T_metric[:3, :3].T + T_metric[:3, 3]
    unit_source, unit_target, normalisation = normalise_pair(source, target)
    T_unit = normalisation.to_unit(T_metric)
    assert np.allclose(unit_source @ T_unit[:3, :3].T + T_unit[:3, 3], unit_target, atol=1e-5)
    assert np.allclose(normalisation.to_metric(T_unit), T_metric, atol=1e-9)


def test_a_single_repeated_point_stays_finite():
    source, target, normalisation = normalise_pair(np.ones((5, 3)), np.zeros((4, 3)))
    assert np.isfinite(source).all() and np.isfinite(target).all() and np.isfinite(normalisation.scale)


def test_downsampling_evens_out_the_density(rng):
    """A flat scan with a hundred times the density near its middle."""
    radius = 10.0 * rng.random(20_000) ** 2
    angle = rng.uniform(0.0, 2 * np.pi, 20_000)
    cloud = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(angle)], axis=1)
    downsampled, _, voxel = downsample_pair(cloud, cloud, 400, rng)
    assert downsampled.shape == (400, 3)
    distance, _ = cKDTree(downsampled).query(downsampled, k=2)
    near = np.linalg.norm(downsampled, axis=1) < 4.0
    spacing_near, spacing_far = np.median(distance[near, 1]), np.median(distance[~near, 1])
    assert 0.5 < spacing_near / spacing_far < 2.0
    assert 0.3 * voxel < spacing_near < 2.0 * voxel


def test_downsampling_uses_one_voxel_for_both_and_the_sparser_decides(rng):
    small, large = rng.uniform(0, 1, (5000, 3)) * [1, 1, 0], rng.uniform(0, 4, (5000, 3)) * [1, 1, 0]
    _, _, voxel = downsample_pair(small, large, 300, rng)
    assert 300 <= len(voxel_centroids(small, voxel)) <= 450
    assert len(voxel_centroids(large, voxel)) > 1500


def test_few_points_are_filled_up_from_the_cloud_itself(rng):
    few = rng.normal(size=(7, 3))
    downsampled, other, _ = downsample_pair(few, rng.normal(size=(500, 3)), 64, rng)
    assert downsampled.shape == other.shape == (64, 3)
    distance, _ = cKDTree(few).query(downsampled)
    assert distance.max() < 1e-12


def test_voxel_centroids_are_means(rng):
    points = np.array([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [1.4, 0.1, 0.1]])
    centroids = voxel_centroids(points, 1.0)
    assert np.allclose(sorted(centroids[:, 0]), [0.2, 1.4])
    assert len(voxel_centroids(points, 0.01)) == 3
