"""Data-parallel training in several processes (torchrun)."""

import os
from collections.abc import Iterable

import torch
from torch import Tensor, distributed, nn

from prnet_core.model import choose_device
from prnet_core.model.processes import num_processes


def join_group(device: str = "auto") -> torch.device:
    """The device of this process. Under torchrun (WORLD_SIZE > 1) it joins the group: NCCL on CUDA, else gloo."""
    chosen = choose_device(device)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        if chosen.type == "cuda":
            chosen = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(chosen)
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    return chosen


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace every gradient by its mean over the processes, in one all-reduce."""
    if num_processes() == 1:
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    distributed.all_reduce(flat)
    flat /= num_processes()
    for gradient, mean in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


def mean_terms(terms: dict[str, Tensor]) -> dict[str, Tensor]:
    """Detached scalars, each the mean over the processes."""
    terms = {name: value.detach() for name, value in terms.items()}
    if num_processes() == 1:
        return terms
    values = torch.stack([value.double() for value in terms.values()])
    distributed.all_reduce(values)
    return dict(zip(terms, values / num_processes(), strict=True))


def agree(values: list[float], device: torch.device) -> list[float]:
    """The numbers of the first process, in every process: clocks differ, and all must take the same decision."""
    if num_processes() == 1:
        return values
    shared = torch.tensor(values, dtype=torch.float64, device=device)
    distributed.broadcast(shared, src=0)
    return shared.tolist()
