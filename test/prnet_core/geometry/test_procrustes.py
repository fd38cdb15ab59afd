import pytest
import torch
from scipy.spatial.transform import Rotation

from prnet_core.geometry.kabsch import procrustes, procrustes_by_weights
from prnet_core.geometry.robust import robust_hypotheses, robust_procrustes
from prnet_core.geometry.transforms import geodesic_angle, make_transform, transform_points

GENERATOR = torch.Generator().manual_seed(1)


def problem(count=6, points=40, dtype=torch.float64):
    rotation = torch.from_numpy(Rotation.random(count, random_state=3).as_matrix()).to(dtype)
    translation = torch.randn(count, 3, dtype=dtype, generator=GENERATOR)
    T = make_transform(rotation, translation)
    source = torch.randn(count, points, 3, dtype=dtype, generator=GENERATOR)
    return source, transform_points(T, source), T


def test_recovers_the_transform():
    source, target, T = problem()
    torch.testing.assert_close(procrustes(source, target), T)


def test_agrees_with_an_independent_solver_under_noise_and_weights():
    source, target, _ = problem(count=1)
    target = target + 0.1 * torch.randn(target.shape, dtype=target.dtype, generator=GENERATOR)
    weights = torch.rand(1, 40, dtype=torch.float64, generator=GENERATOR)
    w = (weights / weights.sum()).numpy()[0]
    x, y = source[0].numpy(), target[0].numpy()
    expected, _ = Rotation.align_vectors(y - w @ y, x - w @ x, weights=w)
    T = procrustes(source, target, weights)[0]
    torch.testing.assert_close(T[:3, :3], torch.from_numpy(expected.as_matrix()))
    torch.testing.assert_close(T[:3, 3], torch.from_numpy(w @ y - expected.as_matrix() @ (w @ x)))


def test_several_weights_of_the_same_matches():
    source, target, _ = problem()
    target = target + 0.1 * torch.randn(target.shape, dtype=target.dtype, generator=GENERATOR)
    weights = torch.rand(6, 3, 40, dtype=torch.float64, generator=GENERATOR)
    expected = torch.stack([procrustes(source, target, weights[:, i]) for i in range(3)], dim=1)
    torch.testing.assert_close(procrustes_by_weights(source, target, weights), expected)


def test_zero_weight_points_do_not_matter():
    source, target, T = problem()
    target[:, :10] += 5.0
    weights = torch.ones(6, 40, dtype=torch.float64)
    weights[:, :10] = 0.0
    torch.testing.assert_close(procrustes(source, target, weights), T)


def test_a_rigid_transform_of_both_conjugates_the_result():
    source, target, _ = problem()
    target = target + 0.05 * torch.randn(target.shape, dtype=target.dtype, generator=GENERATOR)
    G = make_transform(torch.from_numpy(Rotation.random(random_state=8).as_matrix()), torch.randn(3).double())
    conjugated = G @ procrustes(source, target) @ torch.linalg.inv(G)
    torch.testing.assert_close(procrustes(transform_points(G, source), transform_points(G, target)), conjugated)


def degenerate_inputs():
    x = torch.randn(1, 12, 3, dtype=torch.float64, generator=GENERATOR)
    mirror = torch.tensor([-1.0, 1.0, 1.0], dtype=torch.float64)
    line = x[..., :1] * torch.ones(3, dtype=torch.float64)
    plane = x * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    cube = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 3)[None]
    return {
        "mirrored": (x, x * mirror),
        "collinear": (line, line + 1.0),
        "planar": (plane, plane),
        "coincident": (torch.ones_like(x), torch.ones_like(x)),
        "single point": (x[:, :1], x[:, :1] + 1.0),
        "cube": (cube, -cube),
        "far": (x + 1e4, x + 1e4),
    }


@pytest.mark.parametrize("name", degenerate_inputs())
@pytest.mark.parametrize("solve", [procrustes, robust_procrustes])
def test_degenerate_input_gives_a_proper_rotation_and_a_finite_gradient(name, solve):
    source, target = (cloud.clone().requires_grad_() for cloud in degenerate_inputs()[name])
    T = solve(source, target)
    assert torch.isfinite(T).all()
    assert torch.linalg.det(T[0, :3, :3]).item() == pytest.approx(1.0, abs=1e-6)
    T.square().sum().backward()
    assert torch.isfinite(source.grad).all() and torch.isfinite(target.grad).all()
    with torch.no_grad():
        T = solve(source, target)
    assert torch.isfinite(T).all()
    assert torch.linalg.det(T[0, :3, :3]).item() == pytest.approx(1.0, abs=1e-6)


def test_with_and_without_a_gradient_agree():
    source, target, _ = problem()
    target = torch.cat([target[:3], -target[3:]]) + 0.1 * torch.randn(target.shape, dtype=target.dtype)
    torch.testing.assert_close(procrustes(source, target), procrustes(source.clone().requires_grad_(), target))


def test_nan_stays_visible():
    source, target, _ = problem()
    target[0, 0] = torch.nan
    for gradient in (False, True):
        solved = procrustes(source.clone().requires_grad_(gradient), target)
        assert not torch.isfinite(solved[0]).any(dim=-1)[:3].any()
        assert torch.isfinite(solved[1:]).all()


def test_all_weights_zero_is_finite():
    source, target, _ = problem()
    assert torch.isfinite(procrustes(source, target, torch.zeros(6, 40, dtype=torch.float64))).all()


def test_gradient():
    source, target, _ = problem(count=1, points=6)
    target = target + 0.1 * torch.randn(target.shape, dtype=target.dtype, generator=GENERATOR)
    weights = torch.rand(1, 6, dtype=torch.float64, generator=GENERATOR).requires_grad_()
    assert torch.autograd.gradcheck(procrustes, (source.requires_grad_(), target.requires_grad_(), weights))


def test_float32_survives_far_clouds_better_than_a_millionth_of_the_offset():
    source, target, T = problem(dtype=torch.float32)
    solved = procrustes(source + 100.0, target)
    angle = geodesic_angle(solved[:, :3, :3], T[:, :3, :3])
    assert angle.max() < 1e-3


def test_robust_ignores_a_third_of_incorrect_matches():
    source, target, T = problem(points=90)
    corrupted = target.clone()
    corrupted[:, :30] = torch.randn(6, 30, 3, dtype=torch.float64, generator=GENERATOR)
    unweighted = geodesic_angle(procrustes(source, corrupted)[:, :3, :3], T[:, :3, :3])
    robust = geodesic_angle(robust_procrustes(source, corrupted)[:, :3, :3], T[:, :3, :3])
    assert robust.max() < 1e-3 < unweighted.min()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_robust_finds_one_exact_match_in_ten(scale):
    source, target, T = problem(points=300)
    corrupted = scale * torch.cat([target[:, :30], target[:, torch.randperm(270, generator=GENERATOR) + 30]], dim=1)
    found = robust_procrustes(scale * source, corrupted)
    assert geodesic_angle(found[:, :3, :3], T[:, :3, :3]).max() < 1e-3
    assert (found[:, :3, 3] / scale - T[:, :3, 3]).norm(dim=-1).max() < 1e-2


def test_robust_treats_each_pair_of_a_batch_independently():
    source, target, _ = problem(points=60)
    target = target + 0.1 * torch.randn(target.shape, dtype=target.dtype, generator=GENERATOR)
    weights = torch.rand(6, 60, dtype=torch.float64, generator=GENERATOR)
    one_by_one = [robust_procrustes(*pair) for pair in zip(source, target, weights, strict=True)]
    torch.testing.assert_close(robust_procrustes(source, target, weights), torch.stack(one_by_one))


def test_robust_with_the_cloud_selects_the_correct_of_two_groups():
    """A tenth of the matches is correct; another tenth, of higher weight, is consistent with an incorrect transform."""
    source, target, T = problem(points=300)
    matched = target.clone()
    matched[:, 30:60] = transform_points(T, source.roll(1, dims=-1))[:, 30:60]
    matched[:, 60:] = target[:, 60 + torch.randperm(240, generator=GENERATOR)]
    weights = torch.ones(6, 300, dtype=torch.float64)
    weights[:, 30:60] = 2.0
    correct = robust_procrustes(source, matched, weights, target_cloud=target)
    misled = robust_procrustes(source, matched, weights)
    assert geodesic_angle(correct[:, :3, :3], T[:, :3, :3]).max() < 1e-2
    assert geodesic_angle(misled[:, :3, :3], T[:, :3, :3]).min() > 1.0


def test_among_several_hypotheses_is_one_that_few_correct_matches_support():
    """One match in thirty is correct; the cloud shows which hypothesis aligns the rest."""
    source, target, T = problem(points=600)
    matched = torch.cat([target[:, :20], target[:, 20 + torch.randperm(580, generator=GENERATOR)]], dim=1)
    weights = torch.ones(6, 600, dtype=torch.float64)
    found = robust_hypotheses(source, matched, weights, target, None, 4)
    assert found.shape == (6, 4, 4, 4)
    errors = geodesic_angle(found[..., :3, :3], T[:, None, :3, :3].expand(6, 4, 3, 3))
    assert errors.amin(dim=1).max() < 1e-2


def test_robust_with_normals_selects_the_transform_under_which_the_surfaces_agree():
    """Matches are divided between the correct transform and one that turns a slab over, where points lie as near."""
    slab = torch.rand(1, 400, 3, dtype=torch.float64, generator=GENERATOR) * torch.tensor([8.0, 8.0, 0.0])
    source = slab - slab.mean(dim=1, keepdim=True)
    normals = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64).expand_as(source)
    turned = torch.diag(torch.tensor([1.0, -1.0, -1.0], dtype=torch.float64))
    matched = torch.cat([source[:, :180], source[:, 180:] @ turned], dim=1)
    cloud = torch.cat([source, source @ turned], dim=1)
    radius = source.new_tensor([12.0])
    misled = robust_procrustes(source, matched, None, cloud, radius)
    correct = robust_procrustes(source, matched, None, cloud, radius, (normals, torch.cat([normals, normals], dim=1)))
    assert geodesic_angle(misled[0, :3, :3], turned) < 1e-2
    assert geodesic_angle(correct[0, :3, :3], torch.eye(3, dtype=torch.float64)) < 1e-2


def test_hypotheses_with_normals_treat_each_pair_of_a_batch_independently():
    source, target, _ = problem(points=60)
    weights = torch.rand(6, 60, dtype=torch.float64, generator=GENERATOR)
    normals = tuple(torch.nn.functional.normalize(cloud, dim=-1) for cloud in (source, target))
    radius = torch.full((6,), 6.0, dtype=torch.float64)
    together = robust_hypotheses(source, target, weights, target, radius, 2, normals)
    for i in range(6):
        one = robust_hypotheses(*(v[i] for v in (source, target, weights, target, radius)), 2, [n[i] for n in normals])
        torch.testing.assert_close(together[i], one)
