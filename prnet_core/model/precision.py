"""Where which floating point precision is used."""

from functools import cache

import torch
from torch import Tensor


def at_least_float32(value: Tensor) -> Tensor:
    """The same values, out of an autocast's lower precision."""
    return value.to(torch.promote_types(value.dtype, torch.float32))


@cache
def bfloat16_is_fast(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware: a recent NVIDIA GPU, or a CPU with AMX."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and "amx_tile" in _cpu_flags()


def _cpu_flags() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return ""
