import numpy as np
import pytest
import torch

from prnet_core.geometry.transforms import geodesic_angle, make_transform, transform_points
from prnet_core.model import PRNet, PRNetConfig, prnet_loss

TINY = PRNetConfig(
    edge_conv_channels=(8, 8), num_neighbours=6, embedding=16, feed_forward=16, temperature_channels=(8,),
    num_keypoints=16, matching_weight=1.0,
)  # fmt: skip


def network(seed=0, **changes):
    torch.manual_seed(seed)
    return PRNet(PRNetConfig.from_dict({**TINY.to_dict(), **changes})).eval()


def clouds(batch=2, n=40, m=40, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, n, 3, generator=generator), torch.randn(batch, m, 3, generator=generator)


def test_presets_have_the_papers_numbers():
    paper, small = PRNetConfig.paper(), PRNetConfig.small()
    assert (paper.embedding, paper.feed_forward, paper.num_heads, paper.num_neighbours) == (512, 1024, 4, 20)
    assert (paper.num_keypoints, paper.num_passes, paper.discount, paper.matching_weight) == (512, 3, 0.9, 0.0)
    assert (small.embedding, small.feed_forward) == (256, 512)
    assert PRNetConfig.from_dict(paper.to_dict()) == paper
    with pytest.raises(ValueError, match="unknown settings of PRNetConfig: colour"):
        PRNetConfig.from_dict({"colour": 1})


@pytest.mark.parametrize("robust", [False, True])
def test_two_predictions_are_bit_equal_and_leave_the_weights(robust):
    net = network(robust_procrustes=robust).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    source, target = clouds()
    assert torch.equal(net.register(source, target), net.register(source, target))
    assert net.training
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_the_order_of_the_points_does_not_matter():
    net = network().double()
    source, target = (cloud.double() for cloud in clouds())
    with torch.no_grad():
        shuffled = net(source[:, torch.randperm(40)], target[:, torch.randperm(40)]).T_target_source
        torch.testing.assert_close(shuffled, net(source, target).T_target_source)


def test_pairs_of_a_batch_do_not_mix():
    net = network()
    source, target = clouds(batch=3)
    one_by_one = torch.cat([net.register(source[b : b + 1], target[b : b + 1]) for b in range(3)])
    torch.testing.assert_close(one_by_one, net.register(source, target), atol=1e-4, rtol=0)


def test_moving_both_clouds_by_an_offset_conjugates_the_result():
    net = network()
    source, target = (cloud.double() for cloud in clouds())
    near = net.register(source, target)
    offset = make_transform(torch.eye(3), torch.tensor([10.0, -20.0, 5.0])).double().expand(2, 4, 4)
    far = net.register(transform_points(offset, source), transform_points(offset, target))
    torch.testing.assert_close(far, offset @ near @ torch.linalg.inv(offset), atol=1e-4, rtol=0)


def test_ten_thousand_from_the_origin():
    net = network()
    source, target = (cloud.double() for cloud in clouds())
    near, far = net.register(source, target), net.register(source + 1e4, target + 1e4)
    moved = transform_points(far.double(), source + 1e4) - 1e4
    assert far.dtype == torch.float64
    torch.testing.assert_close(moved, transform_points(near.double(), source), atol=1e-3, rtol=0)


@pytest.mark.parametrize(("n", "m"), [(40, 25), (25, 40), (1, 1), (2, 30), (3, 3), (17, 1)])
def test_any_two_sizes(n, m):
    net = network()
    T = net.register(*clouds(n=n, m=m))
    assert torch.isfinite(T).all()
    torch.testing.assert_close(torch.linalg.det(T[:, :3, :3]), torch.ones(2), atol=1e-5, rtol=0)


@pytest.mark.parametrize("shape", ["duplicates", "line", "plane", "one place"])
def test_degenerate_clouds_train_and_register_finitely(shape):
    net = network(num_passes=2)
    source, target = clouds()
    if shape == "duplicates":
        source = source[:, :4].repeat(1, 10, 1)
    elif shape == "line":
        source = source[..., :1].expand(-1, -1, 3).contiguous()
    elif shape == "plane":
        source = source * torch.tensor([1.0, 1.0, 0.0])
    else:
        source = torch.ones_like(source)
    assert torch.isfinite(net.register(source, target)).all()
    net.train()
    loss = prnet_loss(net(source, target), torch.eye(4).expand(2, 4, 4), net.config, torch.arange(40).expand(2, 40))
    loss["total"].backward()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters() if p.grad is not None)


def test_a_batch_of_one_trains():
    net = network(num_passes=1).train()
    source, target = clouds(batch=1)
    prnet_loss(net(source, target), torch.eye(4)[None], net.config)["total"].backward()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_points_that_are_not_finite_are_refused_by_name(bad):
    net = network()
    source, target = clouds()
    target[1, 3, 2] = bad
    with pytest.raises(ValueError, match="target holds NaN or inf"):
        net.register(source, target)


def test_other_shapes_are_refused_by_name():
    net = network()
    source, target = clouds()
    for bad in (source[0], source[..., :2], source[:, :0], source.long()):
        with pytest.raises(ValueError, match="source must be"):
            net.register(bad, target)
    with pytest.raises(ValueError, match="batch of 1"):
        net.register(source[:1], target)


def test_exact_matching_recovers_the_motion():
    """With features that name their point, the matches are the true ones and one pass is exact."""
    net = network(num_passes=1)
    source, _ = clouds()
    T = make_transform(torch.linalg.qr(torch.randn(2, 3, 3))[0], torch.randn(2, 3))
    T[:, :3, :3] *= torch.linalg.det(T[:, :3, :3])[:, None, None]
    target = transform_points(T, source)
    scores = 50.0 * torch.eye(40).expand(2, 40, 40)
    matches, _ = net._soft_matches(source, target, scores, torch.ones(2), None)
    found = net._fit(matches, None)
    assert geodesic_angle(found[:, :3, :3], T[:, :3, :3]).max() < 1e-3
    torch.testing.assert_close(found, T, atol=1e-5, rtol=0)


def test_a_pass_follows_the_equations_of_the_paper():
    """Phi = F + phi, its means and largest norms, lambda, argmax of the products, and the closed form."""
    net = network(seed=3, num_passes=1)  # of these seeds, one with seven different matches
    source, target = clouds(batch=1)
    with torch.no_grad():
        step = net(source, target).passes[0]
        F_X, F_Y = net.dgcnn(source), net.dgcnn(target)
        Phi_X = F_X + net.transformer(F_X, net.transformer.encoder(F_Y))
        Phi_Y = F_Y + net.transformer(F_Y, net.transformer.encoder(F_X))
        temperature = net.value_head(Phi_X.mean(dim=1), Phi_Y.mean(dim=1))
    torch.testing.assert_close(step.mean_source, Phi_X.mean(dim=1))
    torch.testing.assert_close(step.mean_target, Phi_Y.mean(dim=1))
    torch.testing.assert_close(step.temperature, temperature)
    keypoints = [Phi[0].norm(dim=1).argsort(descending=True)[:16] for Phi in (Phi_X, Phi_Y)]
    assert set(step.source_keypoints[0].tolist()) == set(keypoints[0].tolist())
    assert set(step.target_keypoints[0].tolist()) == set(keypoints[1].tolist())
    matches = (Phi_X[0, keypoints[0]] @ Phi_Y[0, keypoints[1]].T).argmax(dim=1)
    x, y = source[0, keypoints[0]].double().numpy(), target[0, keypoints[1]][matches].double().numpy()
    U, _, Vt = np.linalg.svd((y - y.mean(axis=0)).T @ (x - x.mean(axis=0)))
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    np.testing.assert_allclose(step.T_step[0, :3, :3], R, atol=1e-4)
    np.testing.assert_allclose(step.T_step[0, :3, 3], y.mean(axis=0) - R @ x.mean(axis=0), atol=1e-4)


def test_the_passes_compose():
    net = network()
    source, target = clouds()
    with torch.no_grad():
        output = net(source, target)
    composed = torch.eye(4).expand(2, 4, 4)
    for step in output.passes:
        torch.testing.assert_close(step.source, transform_points(composed, source), atol=1e-5, rtol=0)
        composed = step.T_step @ composed
    torch.testing.assert_close(composed, output.T_target_source)


def test_bfloat16_autocast_keeps_poses_in_float32():
    net = network()
    source, target = clouds()
    with torch.autocast("cpu", torch.bfloat16):
        T = net.register(source, target)
    assert T.dtype == torch.float32 and torch.isfinite(T).all()
    torch.testing.assert_close(T[:, :3, :3] @ T[:, :3, :3].mT, torch.eye(3).expand(2, 3, 3), atol=1e-5, rtol=0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_agrees_with_the_cpu():
    net = network()
    source, target = clouds()
    on_cpu = net.register(source, target)
    on_gpu = net.cuda().register(source.cuda(), target.cuda()).cpu()
    torch.testing.assert_close(on_gpu, on_cpu, atol=1e-3, rtol=0)


def test_hypotheses_of_keypoint_matches_begin_with_the_transform_of_the_same_cloud():
    torch.manual_seed(0)
    network = PRNet(PRNetConfig(edge_conv_channels=(16, 16), embedding=32, feed_forward=64, robust_procrustes=True))
    cloud = torch.randn(2, 200, 3)
    hypotheses = network.eval().hypotheses(cloud, cloud, count=3)
    assert hypotheses.shape == (2, 3, 4, 4)
    torch.testing.assert_close(hypotheses[:, 0], torch.eye(4).expand(2, 4, 4), atol=1e-2, rtol=0)
