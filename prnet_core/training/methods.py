"""The networks that can be trained, by name: configuration, construction, loss on a batch.

`prnet_core.evaluation.baselines` adds the paper's learned baselines when it is imported.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from prnet_core.model import PRNet, PRNetConfig, load_network, prnet_loss, save_network
from prnet_core.pairs.pair_batch import PairBatch

Objective = Callable[[Any, PairBatch, int, float], dict[str, Tensor]]
"""(network, pairs, number of passes, fraction of training done) -> loss terms; "total" is minimised."""


@dataclass(frozen=True)
class TrainingMethod:
    """One kind of network. It must have `register(source, target) -> T_target_source`, as PRNet has."""

    make_config: Callable[[dict], Any]
    """The network's configuration, a dataclass, from the values of a YAML file."""
    make_network: Callable[[Any], nn.Module]
    objective: Objective
    save: Callable[[nn.Module, Path, dict], None]
    """(network, path, model card)."""
    load: Callable[[str | Path, torch.device], nn.Module]


def training_method(name: str) -> TrainingMethod:
    """The method of this name. Raises ValueError for an unknown one."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: {', '.join(METHODS)}")
    return METHODS[name]


def prnet_objective(network: PRNet, pairs: PairBatch, num_passes: int, share_done: float) -> dict[str, Tensor]:
    """The paper's loss over the passes plus the matching term. Sets the annealed temperature before."""
    if network.config.temperature == "annealed":
        network.value_head.anneal(share_done)
    output = network(pairs.source, pairs.target, num_passes)
    return prnet_loss(output, pairs.T_target_source, network.config, pairs.matches)


METHODS = {"prnet": TrainingMethod(PRNetConfig.from_dict, PRNet, prnet_objective, save_network, load_network)}
