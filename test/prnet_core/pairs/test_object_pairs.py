"""The protocol of training pairs, property by property."""

import pytest
import roma
import torch

from prnet_core.geometry.transforms import make_transform, transform_points
from prnet_core.pairs.normalise import UNIT_RADIUS_90
from prnet_core.pairs.object_pairs import (
    ObjectPairConfig,
    crop,
    join,
    nearest_matches,
    normalise_batch,
    object_pair_batch,
    random_directions,
)
from prnet_core.pairs.pair_batch import PairBatch

PAPER = ObjectPairConfig()


@pytest.fixture(scope="module")
def shapes() -> torch.Tensor:
    """Six ellipsoids of 2048 points, each with a bump."""
    generator = torch.Generator().manual_seed(1)
    points = random_directions(6 * 2048, generator, torch.device("cpu")).view(6, 2048, 3)
    points = points * (1.0 + 0.3 * (points[..., :1] > 0.8)) * torch.tensor([1.0, 0.7, 0.45])
    points = points - points.mean(dim=1, keepdim=True)
    return points / points.norm(dim=2).amax(dim=1).view(-1, 1, 1)


def draw(shapes, config, size=16, seed=0) -> PairBatch:
    return object_pair_batch(shapes, size, config, torch.Generator().manual_seed(seed))


def overlap(pairs: PairBatch) -> torch.Tensor:
    return (pairs.matches >= 0).float().mean(dim=1)


def match_distances(pairs: PairBatch) -> torch.Tensor:
    moved = transform_points(pairs.T_target_source, pairs.source)
    matched = pairs.target.gather(1, pairs.matches.clamp_min(0).unsqueeze(-1).expand(-1, -1, 3))
    return (moved - matched).norm(dim=-1)[pairs.matches >= 0]


def test_shapes_and_types(shapes):
    pairs = draw(shapes, PAPER, 4)
    assert pairs.source.shape == pairs.target.shape == (4, 768, 3)
    assert pairs.T_target_source.shape == (4, 4, 4) and pairs.matches.shape == (4, 768)
    assert pairs.source.dtype == pairs.T_target_source.dtype == torch.float32
    assert pairs.matches.dtype == torch.long and pairs.matches.max() < 768


def test_the_generator_alone_decides(shapes):
    first, again, other = draw(shapes, PAPER, 3, 7), draw(shapes, PAPER, 3, 7), draw(shapes, PAPER, 3, 8)
    for name in ("source", "target", "T_target_source", "matches"):
        assert torch.equal(getattr(first, name), getattr(again, name))
    assert not torch.equal(first.source, other.source)


def test_angles_are_uniform_in_the_one_sided_range(shapes):
    pairs = draw(shapes, ObjectPairConfig(num_points=32, max_angle_deg=45.0), 2000)
    angles = torch.rad2deg(roma.rotmat_to_euler("XYZ", pairs.T_target_source[:, :3, :3]))
    assert angles.min() >= -1e-3 and angles.max() <= 45.0 + 1e-3
    assert torch.allclose(angles.mean(dim=0), torch.full((3,), 22.5), atol=1.0)
    assert torch.allclose(angles.std(dim=0), torch.full((3,), 45.0 / 12**0.5), atol=1.0)


def test_a_drawn_misalignment_is_smaller_on_average_and_reaches_the_same_range(shapes):
    pairs = draw(shapes, ObjectPairConfig(num_points=32, drawn_misalignment=True), 2000)
    angles = torch.rad2deg(roma.rotmat_to_euler("XYZ", pairs.T_target_source[:, :3, :3]))
    assert 38.0 < angles.max() <= 45.0
    assert torch.allclose(angles.mean(dim=0), torch.full((3,), 11.25), atol=1.0)


def test_matches_agree_with_the_pose(shapes):
    """The same points: every match is exact, and no point has two."""
    pairs = draw(shapes, PAPER)
    assert match_distances(pairs).max() < 1e-4
    for row in pairs.matches:
        known = row[row >= 0]
        assert len(known.unique()) == len(known)


def test_the_papers_crop_leaves_about_95_percent_in_both(shapes):
    shares = overlap(draw(shapes, PAPER, 64))
    assert 0.92 < shares.mean() < 0.99
    assert 0.86 < overlap(draw(shapes, ObjectPairConfig(any_view=True), 64)).mean() < 0.92


def test_points_are_permuted(shapes):
    pairs = draw(shapes, ObjectPairConfig(keep_share=1.0), 2)
    assert (pairs.matches == torch.arange(1024)).float().mean() < 0.02
    assert (overlap(pairs) == 1.0).all()


@pytest.mark.parametrize("keep_share", [0.75, 0.5, 0.25])
def test_without_rotation_both_crops_keep_the_same_points(shapes, keep_share):
    pairs = draw(shapes, ObjectPairConfig(num_points=400, keep_share=keep_share, max_angle_deg=0.0), 8)
    assert pairs.source.shape == pairs.target.shape == (8, round(400 * keep_share), 3)
    assert (overlap(pairs) == 1.0).all()


def test_the_crop_keeps_the_side_towards_the_viewpoint(shapes):
    view = random_directions(6, torch.Generator().manual_seed(0), torch.device("cpu"))
    kept = crop(shapes, view, 500)
    heights, all_heights = ((cloud @ view.unsqueeze(-1)).squeeze(-1) for cloud in (kept, shapes))
    assert torch.allclose(heights.sort(descending=True).values, all_heights.sort(descending=True).values[:, :500])


def test_independent_views_overlap_less(shapes):
    shares = overlap(draw(shapes, ObjectPairConfig(independent_views_share=1.0), 64))
    assert 0.70 < shares.mean() < 0.86
    mixed = overlap(draw(shapes, ObjectPairConfig(independent_views_share=0.5), 64))
    assert shares.mean() < mixed.mean() < 0.95


def test_twice_sampled_points_differ_and_match_within_the_radius(shapes):
    config = ObjectPairConfig(twice_sampled_share=1.0, match_radius=0.06)
    raw_radius = 0.06 * UNIT_RADIUS_90 / 0.5  # the scale of normalisation, generously
    pairs = draw(shapes, config, 8)
    distances = match_distances(pairs)
    assert 1e-3 < distances.median() and distances.max() <= raw_radius
    assert overlap(pairs).mean() > 0.8


def test_beyond_the_radius_there_is_no_match():
    source = torch.tensor([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]])
    target = torch.tensor([[[1.05, 0.0, 0.0], [0.0, 0.2, 0.0]]])
    matches = nearest_matches(source, target, torch.eye(4)[None], 0.1)
    assert matches.tolist() == [[-1, 0, -1]]
    assert nearest_matches(source, target, torch.eye(4)[None], 0.5).tolist() == [[1, 0, -1]]


def test_noise_is_clipped_and_drawn_apart(shapes):
    config = ObjectPairConfig(max_noise=0.01)
    pairs = draw(shapes, config, 64)
    distances = match_distances(pairs)
    assert 0.003 < distances.mean() < 0.03
    assert distances.max() < 2 * 0.05 * 3**0.5 * UNIT_RADIUS_90 / 0.5


def test_pairs_come_centred_and_scaled_as_scans_do(shapes):
    pairs = draw(shapes, PAPER)
    for cloud in (pairs.source, pairs.target):
        assert cloud.mean(dim=1).abs().max() < 1e-5
    radii = torch.stack([cloud.norm(dim=-1).quantile(0.9, dim=1) for cloud in (pairs.source, pairs.target)])
    assert torch.allclose(radii.amax(dim=0), torch.full((16,), UNIT_RADIUS_90), atol=1e-5)


def test_normalising_keeps_the_pose_true():
    generator = torch.Generator().manual_seed(3)
    source = 40.0 * torch.randn(5, 50, 3, generator=generator) + 10.0
    T = make_transform(roma.random_rotmat(5, generator=generator), torch.randn(5, 3, generator=generator))
    pairs = normalise_batch(PairBatch(source, transform_points(T, source), T, torch.zeros(5, 50, dtype=torch.long)))
    moved = transform_points(pairs.T_target_source, pairs.source)
    torch.testing.assert_close(moved, pairs.target, atol=1e-5, rtol=0.0)
    assert torch.equal(pairs.T_target_source[:, :3, :3], T[:, :3, :3])


def test_stretch_and_rotation_change_the_shape_not_the_ground_truth(shapes):
    config = ObjectPairConfig(stretch=(0.5, 1.5), turn_shape=True)
    assert match_distances(draw(shapes, config)).max() < 1e-4


def test_join(shapes):
    first, second = draw(shapes, PAPER, 2, 0), draw(shapes, PAPER, 3, 1)
    both = join([first, second])
    assert torch.equal(both.source[:2], first.source) and torch.equal(both.matches[2:], second.matches)
