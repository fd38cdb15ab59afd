"""EdgeConv against the direct form of its paper."""

import pytest
import torch
from oracles.direct_edge_conv import direct_edge_conv
from torch import nn

from prnet_core.model import EdgeConv
from prnet_core.model.neighbours import knn


@pytest.fixture
def layer():
    torch.manual_seed(0)
    layer = EdgeConv(5, 8, 6).double()
    nn.init.normal_(layer.norm.weight)  # of either sign: the maximum becomes a minimum
    nn.init.normal_(layer.norm.bias)
    layer.norm.running_mean.normal_()
    layer.norm.running_var.uniform_(0.5, 2.0)
    return layer


@pytest.mark.parametrize("training", [True, False])
def test_value_gradient_and_statistics_are_those_of_the_direct_form(layer, training):
    layer.train(training)
    start = {name: value.clone() for name, value in layer.state_dict().items()}
    x = torch.randn(3, 25, 5, dtype=torch.float64)
    probe = torch.randn(3, 25, 8, dtype=torch.float64)
    results = []
    for form in (lambda v: layer(v), lambda v: direct_edge_conv(layer, v, knn(v, 6))):
        layer.load_state_dict(start)
        layer.zero_grad()
        v = x.clone().requires_grad_()
        y = form(v)
        (y * probe).sum().backward()
        gradients = {name: parameter.grad.clone() for name, parameter in layer.named_parameters()}
        results.append((y.detach(), v.grad, gradients, layer.norm.running_mean.clone(), layer.norm.running_var.clone()))
    torch.testing.assert_close(results[0], results[1])


def test_a_shift_far_larger_than_the_spread_keeps_the_variance(layer):
    layer.float().train()
    layer.norm.momentum = 1.0
    x = 100.0 + torch.randn(2, 40, 5)
    neighbours = knn(x, 6)
    layer(x)
    found = layer.norm.running_var.clone()
    direct_edge_conv(layer.double(), x.double(), neighbours)
    torch.testing.assert_close(found.double(), layer.norm.running_var, rtol=1e-2, atol=0)


@pytest.mark.parametrize("num_points", [1, 2, 5])
def test_fewer_points_than_neighbours(layer, num_points):
    for training in (True, False):
        y = layer.train(training)(torch.randn(2, num_points, 5, dtype=torch.float64))
        assert y.shape == (2, num_points, 8) and torch.isfinite(y).all()
