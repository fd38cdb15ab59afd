"""The value head: lambda, the temperature of the matching (paper: lambda = Theta(Psi_X, Psi_Y), mean features)."""

import math

import torch
from torch import Tensor, nn

from .config import PRNetConfig
from .precision import at_least_float32
from .processes import BatchNorm

LARGEST = 100.0


def bounded_temperature(raw: Tensor) -> Tensor:
    """lambda = exp(log(100) raw / sqrt(1 + raw^2)), in (0.01, 100); 1 at raw = 0.

    Smooth: the gradient decreases only with the cube of raw, where that of ReLU and clamp is zero.
    """
    return torch.exp(math.log(LARGEST) * raw * torch.rsqrt(1.0 + raw.square()))


class ValueHead(nn.Module):
    """lambda from the mean features of both clouds: an MLP with BatchNorm and ReLU."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = (2 * config.embedding, *config.temperature_channels)
        for c_in, c_out in zip(channels[:-1], channels[1:], strict=True):
            layers += [nn.Linear(c_in, c_out), BatchNorm(c_out), nn.ReLU()]
        self.mlp = nn.Sequential(*layers, nn.Linear(channels[-1], 1))

    def forward(self, mean_source: Tensor, mean_target: Tensor) -> Tensor:
        """Mean features (B, C) of X and Y -> lambda (B,)."""
        raw = self.mlp(torch.cat([mean_source, mean_target], dim=-1)).squeeze(-1)
        return bounded_temperature(at_least_float32(raw))


class LearnedTemperature(nn.Module):
    """One lambda for every pair, learned: a row of the paper's comparison."""

    def __init__(self) -> None:
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(()))

    def forward(self, mean_source: Tensor, mean_target: Tensor) -> Tensor:
        return bounded_temperature(self.raw).expand(mean_source.shape[0])


class ScheduledTemperature(nn.Module):
    """A lambda that is set, not learned: fixed at 1, or annealed by the training from 1 down to 0.1."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("value", torch.ones(()))

    def anneal(self, progress: float) -> None:
        """Set lambda = 0.1^progress, progress in [0, 1] of the training."""
        self.value.fill_(0.1**progress)

    def forward(self, mean_source: Tensor, mean_target: Tensor) -> Tensor:
        return self.value.expand(mean_source.shape[0])


def make_value_head(config: PRNetConfig) -> nn.Module:
    """The module that gives lambda, by the configuration's `temperature`."""
    if config.temperature == "predicted":
        return ValueHead(config)
    return LearnedTemperature() if config.temperature == "learned" else ScheduledTemperature()
