"""PointNetLK (Aoki, Goforth, Srivatsan and Lucey, CVPR 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from prnet_core.geometry.transforms import invert, transform_points
from prnet_core.model.config import NetworkConfig
from prnet_core.model.prnet import check_clouds
from prnet_core.pairs.pair_batch import PairBatch

DAMPING = 1e-4


@dataclass(frozen=True)
class PointNetLKConfig(NetworkConfig):
    """Architecture and iterations. The defaults are the paper's."""

    channels: tuple[int, ...] = (64, 64, 64, 128, 1024)
    step: float = 0.01
    """Step of the finite differences: radians, units of length."""
    num_iterations: int = 10

    @classmethod
    def small(cls) -> PointNetLKConfig:
        return cls(channels=(64, 64, 64, 128, 512), num_iterations=6)


class PointNetLK(nn.Module):
    """Inverse compositional Lucas-Kanade on the global feature of a PointNet.

    The PointNet has no BatchNorm. With it, the Jacobian, which compares features of moved copies of a cloud, would
    depend on the rest of the batch (the authors freeze BatchNorm for this reason).
    """

    def __init__(self, config: PointNetLKConfig) -> None:
        super().__init__()
        self.config = config
        layers: list[nn.Module] = []
        for c_in, c_out in pairwise((3, *config.channels)):
            layers += [nn.Linear(c_in, c_out), nn.ReLU()]
        self.mlp = nn.Sequential(*layers)

    def features(self, points: Tensor) -> Tensor:
        """phi: (B, N, 3) -> (B, C), the maximum over the points."""
        return self.mlp(points).amax(dim=1)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (B, N, 3), target (B, M, 3) -> T_target_source (B, 4, 4).

        Repeated: xi = J^+ (phi(G source) - phi(target)), G <- exp(xi) G. J is computed once, at the target.
        """
        check_clouds(source, target)
        with torch.autocast(source.device.type, enabled=False):
            template = self.features(target)
            inverse = _damped_pseudo_inverse(self._jacobian(target, template))
            T_target_source = torch.eye(4, device=source.device, dtype=source.dtype).expand(len(source), 4, 4)
            for _ in range(self.config.num_iterations):
                residual = self.features(transform_points(T_target_source, source)) - template
                twist = (inverse @ residual.unsqueeze(-1)).squeeze(-1)
                T_target_source = exp(twist) @ T_target_source
            return T_target_source

    def _jacobian(self, target: Tensor, template: Tensor) -> Tensor:
        """J_i = (phi(exp(-h e_i) target) - phi(target)) / h, (B, C, 6)."""
        h = self.config.step
        moves = exp(-h * torch.eye(6, device=target.device, dtype=target.dtype))
        moved = transform_points(moves, target.unsqueeze(1))
        features = self.features(moved.flatten(0, 1)).unflatten(0, (len(target), 6))
        return ((features - template.unsqueeze(1)) / h).transpose(1, 2)

    @torch.no_grad()
    def register(self, source: Tensor, target: Tensor) -> Tensor:
        """T_target_source (B, 4, 4), without gradient."""
        return self(source, target)


def exp(twist: Tensor) -> Tensor:
    """Rigid transform (..., 4, 4) of a twist (..., 6) = (v, omega): the matrix exponential."""
    v, omega = twist[..., :3], twist[..., 3:]
    zero = torch.zeros_like(omega[..., 0])
    x, y, z = omega.unbind(-1)
    rows = [
        torch.stack([zero, -z, y, v[..., 0]], dim=-1),
        torch.stack([z, zero, -x, v[..., 1]], dim=-1),
        torch.stack([-y, x, zero, v[..., 2]], dim=-1),
        torch.zeros_like(torch.cat([omega, v[..., :1]], dim=-1)),
    ]
    return torch.linalg.matrix_exp(torch.stack(rows, dim=-2))


def _damped_pseudo_inverse(jacobian: Tensor) -> Tensor:
    """(J^T J + d I)^-1 J^T, (B, 6, C), with d a small fraction of the mean eigenvalue of J^T J; finite for any rank."""
    normal = jacobian.transpose(1, 2) @ jacobian
    mean_eigenvalue = normal.diagonal(dim1=1, dim2=2).mean(dim=1).view(-1, 1, 1)
    identity = torch.eye(6, device=normal.device, dtype=normal.dtype)
    damped = normal + (DAMPING * mean_eigenvalue + 1e-12) * identity
    return torch.linalg.solve(damped, jacobian.transpose(1, 2))


def pointnetlk_objective(
    network: PointNetLK, pairs: PairBatch, num_passes: int, share_done: float
) -> dict[str, Tensor]:
    """L = |G^-1 G* - I|_F, mean over the batch. The number of iterations is in the configuration."""
    T_target_source = network(pairs.source, pairs.target)
    identity = torch.eye(4, device=T_target_source.device)
    difference = invert(T_target_source) @ pairs.T_target_source - identity
    return {"total": difference.square().sum(dim=(1, 2)).add(1e-8).sqrt().mean()}
