import pytest
import torch

from prnet_core.model import PRNetConfig, ValueHead, select_keypoints
from prnet_core.model.action_head import ActionHead, gumbel_softmax, log_matching
from prnet_core.model.keypoints import num_keypoints
from prnet_core.model.value_head import LARGEST, bounded_temperature, make_value_head

CONFIG = PRNetConfig(embedding=16, feed_forward=16, temperature_channels=(8, 8))


def test_keypoints_have_the_largest_norms():
    features = torch.randn(2, 30, 4)
    chosen = select_keypoints(features, 10)
    norms = features.norm(dim=-1)
    for b in range(2):
        left = torch.ones(30, dtype=torch.bool)
        left[chosen[b]] = False
        assert norms[b][chosen[b]].min() >= norms[b][left].max()


def test_at_most_two_thirds_become_keypoints():
    assert num_keypoints(768, 512) == 512
    assert [num_keypoints(n, 512) for n in (1, 2, 3, 384, 1024)] == [1, 2, 2, 256, 512]


def test_keypoints_by_centrality_are_central_in_feature_space():
    features = torch.randn(2, 25, 4)
    mean_distance = (features[:, :, None] - features[:, None]).norm(dim=-1).mean(dim=-1)
    expected = mean_distance.argsort(dim=-1)[:, :10]
    chosen = select_keypoints(features, 10, "centrality")
    assert torch.equal(chosen.sort().values, expected.sort().values)


@pytest.mark.parametrize(
    "values", [{"matching": "sinkhron"}, {"temperature": "anealed"}, {"keypoints": "norms"}, {"loss_form": "paper"}]
)
def test_a_misspelt_choice_is_an_error_that_names_it(values):
    ((name, value),) = values.items()
    with pytest.raises(ValueError, match=f"{name} must be one of .*, not '{value}'"):
        PRNetConfig.from_dict(values)


def test_temperature_cannot_die():
    raw = torch.linspace(-50.0, 50.0, 101, requires_grad=True)
    temperature = bounded_temperature(raw)
    assert temperature.min() > 1.0 / LARGEST and temperature.max() < LARGEST
    assert temperature[50].item() == pytest.approx(1.0)
    temperature.log().sum().backward()
    assert (raw.grad > 0).all()


def test_value_head_by_value():
    """Theta: linear layers, each but the last with BatchNorm and ReLU, on [Psi_X, Psi_Y]."""
    torch.manual_seed(0)
    head = ValueHead(CONFIG).double().eval()
    psi_x, psi_y = torch.randn(3, 16, dtype=torch.float64), torch.randn(3, 16, dtype=torch.float64)
    layers = [layer for layer in head.mlp if hasattr(layer, "weight")]
    x = torch.cat([psi_x, psi_y], dim=1)
    for linear, norm in zip(layers[:-1:2], layers[1::2], strict=True):
        x = x @ linear.weight.T + linear.bias
        x = (x - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias
        x = x.clamp_min(0.0)
    raw = (x @ layers[-1].weight.T + layers[-1].bias)[:, 0]
    torch.testing.assert_close(head(psi_x, psi_y), 100.0 ** (raw / (1.0 + raw**2).sqrt()))


def test_value_head_takes_a_batch_of_one_in_training():
    head = ValueHead(CONFIG).train()
    assert head(torch.randn(1, 16), torch.randn(1, 16)).isfinite().all()


@pytest.mark.parametrize("kind", ["predicted", "fixed", "annealed", "learned"])
def test_every_choice_of_temperature_gives_one_a_pair(kind):
    head = make_value_head(PRNetConfig(embedding=16, temperature_channels=(8, 8), temperature=kind))
    assert head(torch.randn(3, 16), torch.randn(3, 16)).shape == (3,)
    if kind == "annealed":
        head.anneal(1.0)
        assert head(torch.randn(1, 16), torch.randn(1, 16)).item() == pytest.approx(0.1)


def test_scores_are_scaled_products():
    x, y = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    expected = torch.einsum("bic,bjc->bij", x, y) / 4.0
    torch.testing.assert_close(ActionHead("rowwise").scores(x, y), expected)


def test_matching_is_a_softmax_over_lambda():
    scores, temperature = torch.randn(2, 5, 7), torch.tensor([0.5, 2.0])
    expected = torch.softmax(scores / temperature[:, None, None], dim=-1)
    torch.testing.assert_close(log_matching(scores, temperature).exp(), expected)


def test_sinkhorn_is_nearly_bijective():
    matching = log_matching(torch.randn(2, 6, 6), torch.ones(2), "sinkhorn").exp()
    torch.testing.assert_close(matching.sum(dim=-1), torch.ones(2, 6))
    torch.testing.assert_close(matching.sum(dim=-2), torch.ones(2, 6), atol=0.05, rtol=0)


def test_inference_takes_the_most_probable_match():
    scores = torch.randn(2, 5, 7)
    matching, _ = ActionHead("rowwise")(scores, torch.ones(2), sample=False)
    assert torch.equal(matching.argmax(dim=-1), scores.argmax(dim=-1))
    assert torch.equal(matching.sum(dim=-1), torch.ones(2, 5))


def test_gumbel_samples_follow_the_softmax_of_the_scores():
    """argmax_j (s_j + g_j) / lambda is j with probability softmax(s)_j, whatever lambda."""
    scores = torch.tensor([0.0, 1.0, 2.0]).expand(1, 40000, 3)
    temperature = torch.tensor([0.3])
    sampled = gumbel_softmax(log_matching(scores, temperature), scores, temperature, torch.Generator().manual_seed(0))
    expected = torch.softmax(scores[0, 0], dim=-1)
    torch.testing.assert_close(sampled.mean(dim=1)[0], expected, atol=0.01, rtol=0)


def test_straight_through_is_hard_forward_and_soft_backward():
    scores, temperature = torch.randn(1, 4, 6), torch.tensor([0.7])
    results = []
    for hard in (True, False):
        leaf = scores.clone().requires_grad_()
        generator = torch.Generator().manual_seed(5)
        if hard:
            y = gumbel_softmax(log_matching(leaf, temperature), leaf, temperature, generator)
            assert torch.equal(y.detach().round(), y.detach()) or torch.allclose(y, y.round(), atol=1e-6)
        else:
            noise = -torch.log(-torch.log(torch.rand(scores.shape, generator=generator)))
            y = torch.softmax((leaf + noise) / temperature, dim=-1)
        (y * torch.arange(6.0)).sum().backward()
        results.append(leaf.grad)
    torch.testing.assert_close(results[0], results[1], atol=1e-5, rtol=1e-4)
