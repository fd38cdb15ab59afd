"""One batch shared by several processes (torchrun), each with equally many of its rows; one process works alone."""

import torch
from torch import Tensor, distributed, nn

from .precision import at_least_float32


def num_processes() -> int:
    """Number of processes that share the batch; 1 outside a process group."""
    return distributed.get_world_size() if _grouped() else 1


def process_rank() -> int:
    """This process's number, from 0; it holds the rows rank, rank + num_processes(), ... of the batch."""
    return distributed.get_rank() if _grouped() else 0


def sum_over_processes(value: Tensor) -> Tensor:
    """The sum of every process's value, on each of them; gradients flow back to all."""
    return value if num_processes() == 1 else _AllReduce.apply(value)


class _AllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value: Tensor) -> Tensor:
        total = value.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:
        total = grad.clone()
        distributed.all_reduce(total)
        return total


def rand_rows(size: tuple[int, ...], **options) -> Tensor:
    """torch.rand for this process's rows, out of the numbers that one process would draw for the whole batch."""
    whole = torch.rand((size[0] * num_processes(), *size[1:]), **options)
    return whole[process_rank() :: num_processes()]


class BatchNorm(nn.BatchNorm1d):
    """BatchNorm1d over (B, C), with the statistics of the whole batch of all processes.

    Where a batch of one leaves nothing to average, the running statistics are used.
    """

    def forward(self, x: Tensor) -> Tensor:
        count = x.shape[0] * num_processes()
        if self.training and count == 1:
            scale = self.weight * torch.rsqrt(self.running_var + self.eps)
            return (x - self.running_mean) * scale + self.bias
        if not self.training or num_processes() == 1:
            return super().forward(x)
        x = at_least_float32(x)
        mean = sum_over_processes(x.sum(dim=0)) / count
        centred = x - mean
        variance = sum_over_processes(centred.square().sum(dim=0)) / count
        update_running_statistics(self, mean, variance, count)
        return centred * (self.weight * torch.rsqrt(variance + self.eps)) + self.bias


@torch.no_grad()
def update_running_statistics(norm: nn.BatchNorm1d, mean: Tensor, variance: Tensor, count: int) -> None:
    """As BatchNorm does: moving averages of the mean and of the unbiased variance of `count` values."""
    norm.running_mean.lerp_(mean, norm.momentum)
    norm.running_var.lerp_(variance * (count / max(count - 1, 1)), norm.momentum)
    norm.num_batches_tracked += 1


def _grouped() -> bool:
    return distributed.is_available() and distributed.is_initialized()
