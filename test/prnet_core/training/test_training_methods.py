"""The trainer trains, saves and loads every network, the baselines of the paper too."""

from dataclasses import asdict

import pytest
import torch

import prnet_core.evaluation.baselines  # noqa: F401  adds its networks
from prnet_core.training import Trainer, make_training_config
from prnet_core.training.methods import METHODS, training_method

CPU = torch.device("cpu")
NETWORKS = {
    "prnet": {"edge_conv_channels": [8, 16], "embedding": 16, "feed_forward": 32, "temperature_channels": [8]},
    "dcp": {"edge_conv_channels": [8, 16], "embedding": 16, "feed_forward": 32},
    "pointnetlk": {"channels": [16, 32], "num_iterations": 3},
}


@pytest.mark.parametrize("name", METHODS)
def test_it_trains_and_loads_again(tiny_values, tmp_path, name):
    values = {**tiny_values, "method": name, "network": NETWORKS[name], "steps": 3}
    trainer = Trainer(make_training_config(values), tmp_path, CPU)
    before = {key: value.clone() for key, value in trainer.network.state_dict().items()}
    trainer.run()
    assert trainer.progress.skipped == 0
    kept = training_method(name).load(tmp_path / "best.safetensors", "cpu")
    assert kept.config == trainer.config.network
    changed = [key for key, value in kept.state_dict().items() if not torch.equal(value, before[key])]
    assert changed
    assert make_training_config(asdict(trainer.config)) == trainer.config
