"""EdgeConv as its paper writes it: every edge's feature written out, nothing split, nothing folded."""

import torch
from torch import Tensor
from torch.nn.functional import batch_norm, leaky_relu

from prnet_core.model import EdgeConv


def direct_edge_conv(layer: EdgeConv, x: Tensor, neighbours: Tensor) -> Tensor:
    """max_j LeakyReLU(BatchNorm(W [x_j - x_i, x_i])) with the weights of `layer`: (B, N, C_in) -> (B, N, C_out)."""
    x_j = torch.stack([x[b][neighbours[b]] for b in range(len(x))])
    x_i = x.unsqueeze(2).expand_as(x_j)
    weight = torch.cat([layer.neighbour.weight, layer.centre.weight], dim=1)
    edges = torch.cat([x_j - x_i, x_i], dim=-1) @ weight.T
    norm = layer.norm
    normed = batch_norm(
        edges.flatten(0, 2), norm.running_mean, norm.running_var, norm.weight, norm.bias, layer.training,
        norm.momentum, norm.eps,
    )  # fmt: skip
    return leaky_relu(normed.view(edges.shape), 0.2).amax(dim=2)


def direct_knn(x: Tensor, k: int) -> Tensor:
    """Indices (B, N, k) of the nearest points, from all distances."""
    return torch.cdist(x, x).topk(min(k, x.shape[1]), largest=False).indices
