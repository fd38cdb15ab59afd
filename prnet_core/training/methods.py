"""What can be trained, by name: how it is configured and made, and its loss on a batch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..model import PRNet, PRNetConfig, load_network, prnet_loss, save_network
from ..pairs.pair_batch import PairBatch


@dataclass(frozen=True)
class TrainingMethod:
    """The network must have `.register(source, target) -> T_target_source` as PRNet does."""

    make_config: Callable[[dict], Any]
    """The network's configuration, a dataclass, from plain values."""
    make_network: Callable[[Any], nn.Module]
    objective: Callable[[nn.Module, PairBatch, int, float], dict[str, Tensor]]
    """(network, pairs, number of passes, share of the training done in [0, 1]) -> terms; "total" is minimised."""
    save: Callable[[nn.Module, Path, dict], None]
    """(network, path, model card)."""
    load: Callable[[str | Path, torch.device], nn.Module]


def training_method(name: str) -> TrainingMethod:
    """Raises ValueError for a name that is not known."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: {', '.join(METHODS)}")
    return METHODS[name]()


def prnet_objective(network: PRNet, pairs: PairBatch, num_passes: int, share_done: float) -> dict[str, Tensor]:
    """The paper's loss over the passes, and the matching term; an annealed temperature is set first."""
    if network.config.temperature == "annealed":
        network.value_head.anneal(share_done)
    output = network(pairs.source, pairs.target, num_passes)
    return prnet_loss(output, pairs.T_target_source, network.config, pairs.matches)


def _prnet_config(values: dict) -> PRNetConfig:
    preset = getattr(PRNetConfig, values.pop("preset", "paper"))()
    return PRNetConfig.from_dict({**preset.to_dict(), **values})


def _prnet() -> TrainingMethod:
    return TrainingMethod(_prnet_config, PRNet, prnet_objective, save_network, load_network)


def _dcp() -> TrainingMethod:
    from prnet_core.evaluation.baselines import dcp

    return TrainingMethod(dcp.DCPConfig.from_dict, dcp.DCP, dcp.dcp_objective, dcp.save_dcp, dcp.load_dcp)


def _pointnetlk() -> TrainingMethod:
    from prnet_core.evaluation.baselines import pointnetlk as lk

    make_config, network = lk.PointNetLKConfig.from_dict, lk.PointNetLK
    return TrainingMethod(
        make_config, network, lk.pointnetlk_objective, lk.save_pointnetlk, lk.load_pointnetlk
    )


METHODS: dict[str, Callable[[], TrainingMethod]] = {"prnet": _prnet, "dcp": _dcp, "pointnetlk": _pointnetlk}
