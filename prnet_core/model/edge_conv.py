"""EdgeConv (Wang et al., Dynamic Graph CNN, 2019), one linear product per point instead of one per edge."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from .neighbours import adjacency, knn, knn_of_points, neighbour_max
from .precision import at_least_float32
from .processes import num_processes, sum_over_processes, update_running_statistics

NEGATIVE_SLOPE = 0.2


class EdgeConv(nn.Module):
    """x_i' = max over j in kNN(i) of LeakyReLU(BatchNorm(W [x_j - x_i, x_i])).

    Split: W [x_j - x_i, x_i] = W_1 x_j + (W_2 - W_1) x_i = a_j + b_i. BatchNorm is a scale and a shift per
    channel and LeakyReLU rises, so with the scale s put into a first (its sign decides between maximum and
    minimum) the maximum is taken over s a_j alone: x_i' = LeakyReLU(max_j s a_j + s b_i + shift).

    The batch statistics over all edges follow from sums over points, in closed form: with d_j the number of
    neighbourhoods that hold j, and S_i the sum of a over the neighbours of i,
    mean = sum_j d_j a_j + k sum_i b_i, and after centring a and b,
    variance = sum_j d_j a_j^2 + 2 sum_i b_i S_i + k sum_i b_i^2, each over the B N k edges (of all processes).
    """

    def __init__(self, in_channels: int, out_channels: int, num_neighbours: int) -> None:
        super().__init__()
        self.num_neighbours = num_neighbours
        self.neighbour = nn.Linear(in_channels, out_channels, bias=False)
        self.centre = nn.Linear(in_channels, out_channels, bias=False)
        self.norm = nn.BatchNorm1d(out_channels)
        # One edge's input has 2 C_in numbers; both halves start as that one layer would.
        bound = (1.0 / (2 * in_channels)) ** 0.5
        nn.init.uniform_(self.neighbour.weight, -bound, bound)
        nn.init.uniform_(self.centre.weight, -bound, bound)

    def forward(self, features: Tensor) -> Tensor:
        """(B, N, C_in) -> (B, N, C_out); the graph is built again from the features."""
        is_in_space = features.shape[-1] == 3
        neighbours = (knn_of_points if is_in_space else knn)(features, self.num_neighbours)
        if not self.training:
            scale, shift = self._running_affine()
            a = torch.nn.functional.linear(features, self.neighbour.weight * scale[:, None])
            centre_weight = (self.centre.weight - self.neighbour.weight) * scale[:, None]
            b = torch.nn.functional.linear(features, centre_weight, shift)
            return leaky_relu(neighbour_max(a, neighbours) + b, NEGATIVE_SLOPE)
        a = at_least_float32(self.neighbour(features))
        b = at_least_float32(self.centre(features)) - a
        scale, shift = self._batch_affine(a, b, neighbours)
        return leaky_relu(neighbour_max(a * scale, neighbours) + b * scale + shift, NEGATIVE_SLOPE)

    def _running_affine(self) -> tuple[Tensor, Tensor]:
        norm = self.norm
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        return scale, norm.bias - norm.running_mean * scale

    def _batch_affine(self, a: Tensor, b: Tensor, neighbours: Tensor) -> tuple[Tensor, Tensor]:
        k = neighbours.shape[-1]
        num_edges = neighbours.numel() * num_processes()
        edges = adjacency(neighbours, a.dtype)
        degree = edges.sum(dim=1).unsqueeze(-1)
        sum_a, sum_b = sum_over_processes(torch.stack([(degree * a).sum(dim=(0, 1)), b.sum(dim=(0, 1))]))
        mean_a, mean_b = sum_a / num_edges, sum_b / (num_edges // k)
        a, b = a - mean_a, b - mean_b
        neighbour_sum = edges @ a
        squares = (degree * a.square() + 2.0 * b * neighbour_sum + k * b.square()).sum(dim=(0, 1))
        mean, variance = mean_a + mean_b, sum_over_processes(squares).clamp_min(0.0) / num_edges
        update_running_statistics(self.norm, mean, variance, num_edges)
        scale = self.norm.weight * torch.rsqrt(variance + self.norm.eps)
        return scale, self.norm.bias - mean * scale
