"""DGCNN on features that do not change when the cloud is rotated (ours, not the paper's)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from .config import PRNetConfig
from .edge_conv import NEGATIVE_SLOPE
from .neighbours import flat_rows, knn_of_points, neighbour_max, stacked_max
from .patch_encoder import PatchEncoder
from .surface_cloud import SurfaceCloud

PATCH_FEATURES = 64
MIDDLE_DISTANCE = 1.7
"""Mean length of an edge, in point spacings."""


class InvariantDGCNN(nn.Module):
    """EdgeConv on the graph of nearest points, the same for all layers: x_i' = act(LayerNorm(max_j W [x_j, x_i])).

    The first layer also reads each edge's point pair feature (d, n_i . d, n_j . d, n_i . n_j). Nothing else of the
    coordinates enters. LayerNorm comes after the maximum, so that W splits into one product per point.
    """

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.num_neighbours = config.num_neighbours
        self.patch = PatchEncoder(PATCH_FEATURES)
        channels = (PATCH_FEATURES, *config.edge_conv_channels)
        pairs = list(zip(channels[:-1], channels[1:], strict=True))
        self.neighbour = nn.ModuleList(nn.Linear(c_in, c_out, bias=False) for c_in, c_out in pairs)
        self.centre = nn.ModuleList(nn.Linear(c_in, c_out) for c_in, c_out in pairs)
        self.norms = nn.ModuleList(nn.LayerNorm(c_out) for _, c_out in pairs)
        self.pair_feature = nn.Linear(4, channels[1], bias=False)
        self.last = nn.Linear(sum(config.edge_conv_channels), config.embedding)
        self.last_norm = nn.LayerNorm(config.embedding)

    def forward(self, cloud: SurfaceCloud) -> Tensor:
        """F (B, N, embedding)."""
        points = cloud.scaled_points
        neighbours = knn_of_points(points, self.num_neighbours)
        features, outputs = self.patch(cloud.patches), []
        for index, norm in enumerate(self.norms):
            values = self.neighbour[index](features)
            if index == 0:
                best = self._best_edges(values, point_pair_features(points, cloud.normals, neighbours), neighbours)
            else:
                best = neighbour_max(values, neighbours)
            features = leaky_relu(norm(best + self.centre[index](features)), NEGATIVE_SLOPE)
            outputs.append(features)
        return self.last_norm(self.last(torch.cat(outputs, dim=-1)))

    def _best_edges(self, values: Tensor, pair_features: Tensor, neighbours: Tensor) -> Tensor:
        """max over j of values_j + W f_ij: values (B, N, C), pair_features (k, B, N, 4), neighbours (B, N, k)."""
        if torch.is_grad_enabled():
            return stacked_max(_gather(values, neighbours) + self.pair_feature(pair_features))
        flat, rows = values.flatten(0, 1), flat_rows(neighbours)
        weight, best = self.pair_feature.weight.T, None
        for row, features in zip(rows, pair_features.flatten(1, 2), strict=True):  # each step fits into a cache
            edges = torch.addmm(flat.index_select(0, row), features, weight)
            best = edges if best is None else torch.maximum(best, edges, out=best)
        return best.view(values.shape)


def point_pair_features(points: Tensor, normals: Tensor, neighbours: Tensor) -> Tensor:
    """(|d|, n_i . d, n_j . d, n_i . n_j) of each edge, d from i to j and of length one in the products.

    Each is brought to about zero mean and unit variance: surfaces are mostly flat.

    points, normals (B, N, 3), neighbours (B, N, k) -> (k, B, N, 4).
    """
    with torch.autocast(points.device.type, enabled=False):
        line = _gather(points, neighbours) - points
        distance = line.norm(dim=-1)
        line = line / distance.clamp_min(1e-6).unsqueeze(-1)
        first, second = normals, _gather(normals, neighbours)
        return torch.stack(
            [
                distance - MIDDLE_DISTANCE,
                2.0 * (first * line).sum(dim=-1),
                2.0 * (second * line).sum(dim=-1),
                2.0 * (first * second).sum(dim=-1) - 1.6,
            ],
            dim=-1,
        )


def _gather(values: Tensor, neighbours: Tensor) -> Tensor:
    """(B, N, C), (B, N, k) -> (k, B, N, C)."""
    rows = flat_rows(neighbours)
    return values.flatten(0, 1).index_select(0, rows.flatten()).view(len(rows), *values.shape)
