"""Matching in both directions at once, with a learned dustbin for points without a match (ours, not the paper's)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from .precision import at_least_float32

MATCH_RADIUS = 1.0
"""Points no farther apart than this, in point spacings, are matches."""


class DualSoftmax(nn.Module):
    """log p(i, j) = log softmax_j [s_ij, z] + log softmax_i [s_ij, z]: z is the dustbin for points without a match.

    s_ij = Phi_xi . Phi_yj / lambda on features of length one, and z = cos / lambda, with a learned temperature lambda
    and a learned cosine.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_sharpness = nn.Parameter(torch.tensor(3.0))
        self.dustbin_cosine = nn.Parameter(torch.tensor(0.8))

    def forward(self, cosines: Tensor) -> tuple[Tensor, Tensor]:
        """(B, N, M) of `cosines` -> log probabilities by row (B, N, M + 1) and by column (B, M, N + 1), float32.

        The last column is the dustbin's.
        """
        with torch.autocast(cosines.device.type, enabled=False):
            scores = (cosines - self.dustbin_cosine) * self.log_sharpness.exp()
            logits = pad(scores, (0, 1, 0, 1))  # a softmax does not change when the dustbin's score is taken from all
            return logits[:, :-1].log_softmax(dim=-1), logits[..., :-1].log_softmax(dim=-2).transpose(1, 2)


def cosines(source_features: Tensor, target_features: Tensor) -> Tensor:
    """Phi_xi . Phi_yj (B, N, M) of (B, N, C), (B, M, C) on features of length one, float32."""
    with torch.autocast(source_features.device.type, enabled=False):
        source, target = (normalize(at_least_float32(f), dim=-1) for f in (source_features, target_features))
        return source @ target.transpose(1, 2)


def joint_log_probability(by_row: Tensor, by_column: Tensor) -> Tensor:
    """log p(i, j) (B, N, M) of both log probabilities."""
    return by_row[..., :-1] + by_column[..., :-1].transpose(1, 2)


def true_columns(source: Tensor, target: Tensor, T_target_source: Tensor, spacing: Tensor) -> tuple[Tensor, Tensor]:
    """For each source point (B, N) the nearest target point if within MATCH_RADIUS, else M; and vice versa.

    spacing (B,): of the points, in their unit.
    """
    moved = source @ T_target_source[:, :3, :3].transpose(1, 2) + T_target_source[:, None, :3, 3]
    distance = torch.cdist(moved, target, compute_mode="donot_use_mm_for_euclid_dist")

    def nearest(values: Tensor) -> Tensor:
        smallest, index = values.min(dim=2)
        return index.where(smallest <= MATCH_RADIUS * spacing.view(-1, 1), values.shape[2])

    return nearest(distance), nearest(distance.transpose(1, 2))


def dual_softmax_loss(
    by_row: Tensor, by_column: Tensor, rows: Tensor, columns: Tensor, dustbin_weight: float
) -> Tensor:
    """Cross entropy of all points in both directions; a point without a match counts `dustbin_weight`.

    rows (B, N), columns (B, M): `true_columns`.
    """

    def one(log_probabilities: Tensor, labels: Tensor) -> Tensor:
        bin_column = log_probabilities.shape[-1] - 1
        weights = torch.where(labels == bin_column, dustbin_weight, 1.0)
        picked = log_probabilities.gather(2, labels.unsqueeze(-1)).squeeze(-1)
        return -(weights * picked).sum() / weights.sum()

    return 0.5 * (one(by_row, rows) + one(by_column, columns))
