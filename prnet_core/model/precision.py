"""Choice of the floating point precision."""

from functools import cache

import torch
from torch import Tensor

_BFLOAT16_FLAGS = {"amx_bf16", "avx512_bf16"}


def at_least_float32(value: Tensor) -> Tensor:
    """The same values in float32, if an autocast has made them less precise."""
    return value.to(torch.promote_types(value.dtype, torch.float32))


@cache
def bfloat16_is_fast(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 matrices in hardware: an NVIDIA GPU since Ampere, a CPU with AMX or
    AVX-512 BF16.

    By the flags and not by a measurement, whose result depends on the load. Figures: docs/training.md.
    """
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    return device.type == "cpu" and bool(_BFLOAT16_FLAGS & _cpu_flags())


@cache
def has_amx() -> bool:
    """Whether this machine's CPU multiplies matrices in tiles (Intel AMX)."""
    return "amx_tile" in _cpu_flags()


def _cpu_flags() -> set[str]:
    try:
        with open("/proc/cpuinfo") as file:
            return set(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        return set()
