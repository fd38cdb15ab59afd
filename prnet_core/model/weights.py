"""Weights on disk: safetensors, with the configuration and a model card in the metadata; no pickle."""

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from ..io.safe_write import replacing
from .config import PRNetConfig
from .prnet import PRNet

FORMAT = "prnet/1"
WEIGHTS = Path(__file__).resolve().parent.parent / "weights"
PACKAGED_BY_NAME = {"small": WEIGHTS / "prnet_small.safetensors", "invariant": WEIGHTS / "prnet_invariant.safetensors"}
PACKAGED = PACKAGED_BY_NAME["small"]
"""The default of `load_network`: objects, by the paper's protocol."""
FOR_SCANS = "invariant"
"""The packaged weights of the registration of scans: command line, odometry, maps and node."""


class WeightsError(ValueError):
    """A weights file that cannot be used, and why."""


def choose_device(device: str | torch.device = "auto") -> torch.device:
    """ "auto": CUDA where there is one, else the CPU. Raises ValueError when the device asked for is absent."""
    if str(device) == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"unknown device {str(device)!r}: auto, cpu or cuda") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device {str(device)!r} requested, but torch {torch.__version__} finds no CUDA device")
    return chosen


def save_network(network: nn.Module, path: str | Path, card: dict, format: str = FORMAT) -> None:
    """Write weights, configuration and model card (data, steps, figures: anything JSON holds); atomic.

    `format` names the kind of network; the default is PRNet's. Raises OSError when it cannot be written.
    """
    path = Path(path)
    metadata = {
        "format": format,
        "config": json.dumps(network.config.to_dict()),
        "card": json.dumps(card, indent=1, sort_keys=True),
    }
    tensors = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata)
    except SafetensorError as error:  # a full disk, among others
        raise OSError(f"{path} cannot be written: {error}") from error


def read_card(path: str | Path | None = None) -> dict:
    """The model card of a weights file; `path` as for `load_network`."""
    return json.loads(_read(_weights_path(path), None)[1]["card"])


def load_network(path: str | Path | None = None, device: str | torch.device = "auto") -> PRNet:
    """The PRNet of a weights file, in evaluation mode.

    path: a file, the name of packaged weights ("small", "invariant"), or None for the packaged default.

    Raises FileNotFoundError, or WeightsError which names what does not fit: not safetensors, another
    program's file, missing, unexpected or differently shaped tensors, values that are not finite.
    """
    return load_weights(_weights_path(path), device, FORMAT, lambda values: PRNet(PRNetConfig.from_dict(values)))


def _weights_path(path: str | Path | None) -> Path:
    return PACKAGED if path is None else PACKAGED_BY_NAME.get(str(path), Path(path))


def load_weights(
    path: Path, device: str | torch.device, format: str, make_network: Callable[[dict], nn.Module]
) -> nn.Module:
    """The network of a weights file of this `format`, made from its configuration; raises as `load_network`."""
    chosen = choose_device(device)
    tensors, metadata = _read(path, format)
    try:
        network = make_network(json.loads(metadata["config"]))
    except (ValueError, TypeError) as error:
        raise WeightsError(f"{path}: configuration not understood: {error}") from error
    expected = network.state_dict()
    problems = [f"missing {name}" for name in expected if name not in tensors]
    problems += [f"unexpected {name}" for name in tensors if name not in expected]
    problems += [
        f"{name} is {tuple(tensors[name].shape)}, expected {tuple(value.shape)}"
        for name, value in expected.items()
        if name in tensors and tensors[name].shape != value.shape
    ]
    problems += [f"{name} is not finite" for name, value in tensors.items() if not torch.isfinite(value).all()]
    if problems:
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise WeightsError(f"{path} does not fit its own configuration: {'; '.join(problems[:5])}{more}")
    network.load_state_dict(tensors)
    return network.to(chosen).eval()


def _read(path: Path, format: str | None) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    if not path.is_file():
        raise FileNotFoundError(f"no weights file at {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        raise WeightsError(f"{path} is not a safetensors file, or is cut short: {error}") from error
    if format is not None and metadata.get("format") != format:
        raise WeightsError(f"{path} holds other weights (format {metadata.get('format')!r}, expected {format!r})")
    return tensors, metadata
