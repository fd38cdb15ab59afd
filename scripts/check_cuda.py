"""Run the network's inference and training forward pass on CUDA tensors without a device: python scripts/check_cuda.py

FakeTensorMode computes shapes, types and devices of every operation, as on a device. The script fails where an
operation mixes devices or is missing, and where a batch reads more than one value back to the host. It needs a CUDA
build of torch; a CPU build is reported and skipped (exit code 0). In float32: autocast needs a device.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from prnet_core.model import PRNet, PRNetConfig, prnet_loss  # noqa: E402
from prnet_core.model.surface_cloud import PATCH_CHANNELS, SurfaceCloud  # noqa: E402

BATCH, POINTS, PATCH_POINTS = 2, 256, 32
PRESETS = ("paper", "small", "invariant")
MAX_READS = 1  # values that a batch may read back to the host


class CountReads(TorchDispatchMode):
    """Counts values read from the device and answers each with True or 1, which a fake tensor does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten._local_scalar_dense.default:
            self.number += 1
            return args[0].dtype == torch.bool or 1
        return function(*args, **(kwargs or {}))


def make_cloud(config: PRNetConfig, device: str) -> torch.Tensor | SurfaceCloud:
    """Random input of the network."""
    points = torch.rand(BATCH, POINTS, 3, device=device)
    if config.features != "surface":
        return points
    patches = torch.rand(BATCH, POINTS, PATCH_POINTS, PATCH_CHANNELS, device=device)
    normals = torch.nn.functional.normalize(torch.rand_like(points), dim=-1)
    return SurfaceCloud(points, normals, patches, torch.ones(BATCH, device=device))


def infer(network: PRNet, source: torch.Tensor | SurfaceCloud, target: torch.Tensor | SurfaceCloud) -> torch.Tensor:
    """T_target_source (B, 4, 4)."""
    return network.eval().register(source, target, bfloat16=False)


def training_loss(
    network: PRNet, source: torch.Tensor | SurfaceCloud, target: torch.Tensor | SurfaceCloud
) -> torch.Tensor:
    """The loss of one step. Its backward pass would need a device."""
    device = next(network.parameters()).device
    matches = torch.zeros(BATCH, POINTS, dtype=torch.long, device=device)
    T_true = torch.eye(4, device=device).expand(BATCH, 4, 4)
    return prnet_loss(network.train()(source, target), T_true, network.config, matches)["total"]


def check(step, config: PRNetConfig, device: str) -> int:
    """Number of values that `step` reads back to the host; to be called in a FakeTensorMode.

    Raises RuntimeError for a result on another device.
    """
    with torch.device(device):
        network = PRNet(config)
    clouds = [make_cloud(config, device) for _ in range(2)]
    with CountReads() as reads:
        result = step(network, *clouds)
    if result.device.type != torch.device(device).type:
        raise RuntimeError(f"{step.__name__}: the result is on {result.device}")
    return reads.number


def main() -> int:
    """0 where everything runs, or where torch is a CPU build."""
    if torch.version.cuda is None:
        print(f"skipped: torch {torch.__version__} is a CPU build")
        return 0
    failed = False
    with FakeTensorMode():  # one mode for all: roma keeps a constant of its first call
        for preset in PRESETS:
            config = replace(getattr(PRNetConfig, preset)(), matching_weight=1.0)
            for step in (infer, training_loss):
                reads = check(step, config, "cuda")
                failed |= reads > MAX_READS
                print(f"{preset} {step.__name__}: {reads} values read back to the host, {MAX_READS} allowed")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
