"""Inference on the CPU when the device has too little memory for it."""

import warnings
from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor


def on_cpu_when_out_of_memory(register: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Decorator for `register(network, source, target, ...)` of a network that is made from its `config` alone.

    After torch.cuda.OutOfMemoryError: a RuntimeWarning, and the same call with a copy of the network on the CPU; the
    result is on the device of the clouds. The network stays where it is, and the next call tries the device again.
    """

    @wraps(register)
    def register_or_fall_back(network, source, target, *args, **kwargs) -> Tensor:
        device = next(network.parameters()).device
        try:
            return register(network, source, target, *args, **kwargs)
        except torch.cuda.OutOfMemoryError as error:
            reason = str(error).partition(". ")[0]
        warnings.warn(f"{device} is out of memory, the network runs on the CPU: {reason}", RuntimeWarning, stacklevel=2)
        torch.cuda.empty_cache()
        on_cpu = type(network)(network.config)
        on_cpu.load_state_dict({name: value.cpu() for name, value in network.state_dict().items()})
        return register(on_cpu, source.to("cpu"), target.to("cpu"), *args, **kwargs).to(device)

    return register_or_fall_back
