"""Checkpoints that survive a kill at any moment: written atomically, verified by a hash, the previous one kept."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load, save
from torch import nn

from prnet_core.io.safe_write import replacing

from .weight_average import WeightAverage

KEPT = 2


@dataclass
class Progress:
    step: int = 0
    seconds: float = 0.0
    """Training time, over all resumes."""
    best: float = float("inf")
    """Lowest validation score so far."""
    skipped: int = 0
    """Steps skipped because the loss or the gradient was not finite."""


def save_checkpoint(
    folder: Path,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    average: WeightAverage | None = None,
) -> Path:
    """Write checkpoint-STEP.safetensors, then its JSON with the hash. The JSON is written last and makes it valid."""
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        tensors.update({f"optimiser.{index}.{name}": value for name, value in state.items()})
    if average:
        tensors.update({f"average.{name}": value for name, value in average.values.items()})
    data = save({name: value.detach().cpu().contiguous() for name, value in tensors.items()})
    path = folder / f"checkpoint-{progress.step:08d}.safetensors"
    _write(path, data)
    record = {"sha256": hashlib.sha256(data).hexdigest(), "progress": vars(progress)}
    _write(path.with_suffix(".json"), json.dumps(record).encode())
    for old in sorted(folder.glob("checkpoint-*.json"))[:-KEPT]:
        old.unlink()
        old.with_suffix(".safetensors").unlink(missing_ok=True)
    return path


def load_checkpoint(
    folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, warn=print, average: WeightAverage | None = None
) -> Progress:
    """Restore the newest intact checkpoint. A damaged one is reported through `warn`, and the previous one is used."""
    for record_path in sorted(folder.glob("checkpoint-*.json"), reverse=True):
        path = record_path.with_suffix(".safetensors")
        try:
            record = json.loads(record_path.read_text())
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != record["sha256"]:
                raise ValueError("its hash does not match its content")
            tensors = load(data)
        except (OSError, ValueError, KeyError, TypeError) as error:
            warn(f"{path} is damaged ({error}): trying the previous checkpoint")
            continue
        _restore(tensors, network, optimiser)
        if average:
            for name, value in average.values.items():
                value.copy_(tensors.get(f"average.{name}", tensors[f"network.{name}"]))
        return Progress(**record["progress"])
    return Progress()


def _restore(tensors: dict, network: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    weights = {name.removeprefix("network."): v for name, v in tensors.items() if name.startswith("network.")}
    network.load_state_dict(weights)
    state: dict[int, dict] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, index, key = name.split(".")
            state.setdefault(int(index), {})[key] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
