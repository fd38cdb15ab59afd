"""Checkpoints: whole or refused by name."""

import json
from dataclasses import replace

import pytest
import torch

from prnet_core.training.checkpoint import Progress, load_checkpoint, save_checkpoint


def make_run(seed: int = 0):
    torch.manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    return network, torch.optim.AdamW(network.parameters(), lr=0.1)


def train(network, optimiser, seed: int):
    torch.manual_seed(seed)
    optimiser.zero_grad()
    network(torch.randn(8, 3)).square().mean().backward()
    optimiser.step()


def states(network, optimiser):
    moments = optimiser.state_dict()["state"]
    return [*network.state_dict().values(), *(moments[i][name] for i in sorted(moments) for name in sorted(moments[i]))]


@pytest.fixture
def folder(tmp_path):
    """Three checkpoints, of steps 1 to 3; and what the run was at each."""
    network, optimiser = make_run()
    for step in (1, 2, 3):
        train(network, optimiser, step)
        save_checkpoint(tmp_path, network, optimiser, Progress(step, 10.0 * step, 5.0, 1))
    return tmp_path


def test_round_trip_restores_weights_optimiser_and_progress(folder):
    expected = make_run()
    for step in (1, 2, 3):
        train(*expected, step)
    restored = make_run(seed=9)
    assert load_checkpoint(folder, *restored) == Progress(3, 30.0, 5.0, 1)
    for value, other in zip(states(*restored), states(*expected), strict=True):
        assert torch.equal(value, other)
    for run in (restored, expected):
        train(*run, 4)
    for value, other in zip(states(*restored), states(*expected), strict=True):
        assert torch.equal(value, other)


def test_the_last_two_are_kept(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        f"checkpoint-0000000{step}.{kind}" for step in (2, 3) for kind in ("json", "safetensors")
    ]


@pytest.mark.parametrize("damage", ["flip a byte", "cut", "empty", "remove", "garble the record", "no record's hash"])
def test_a_damaged_checkpoint_is_refused_by_name_and_the_one_before_is_used(folder, damage):
    weights, record = folder / "checkpoint-00000003.safetensors", folder / "checkpoint-00000003.json"
    data = bytearray(weights.read_bytes())
    if damage == "flip a byte":
        data[-5] ^= 1
        weights.write_bytes(data)
    elif damage == "cut":
        weights.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        weights.write_bytes(b"")
    elif damage == "remove":
        weights.unlink()
    elif damage == "garble the record":
        record.write_text(record.read_text()[:-20])
    else:
        record.write_text(json.dumps(None))
    warnings = []
    assert load_checkpoint(folder, *make_run(9), warnings.append) == Progress(2, 20.0, 5.0, 1)
    assert len(warnings) == 1 and "checkpoint-00000003" in warnings[0]


def test_all_damaged_starts_again_and_names_both(folder):
    for path in folder.glob("*.safetensors"):
        path.write_bytes(b"x")
    warnings = []
    network, optimiser = make_run(9)
    before = [value.clone() for value in network.state_dict().values()]
    assert load_checkpoint(folder, network, optimiser, warnings.append) == Progress()
    assert len(warnings) == 2
    assert all(torch.equal(a, b) for a, b in zip(before, network.state_dict().values()))


def test_a_kill_while_writing_leaves_the_one_before(folder):
    """The weights of step 4 are there, or half there, and their record is not."""
    (folder / "checkpoint-00000004.safetensors").write_bytes(b"half")
    (folder / "checkpoint-00000004.json.part").write_bytes(b"{")
    warnings = []
    assert load_checkpoint(folder, *make_run(9), warnings.append).step == 3
    assert warnings == []


def test_an_empty_folder_starts_at_zero(tmp_path):
    assert load_checkpoint(tmp_path, *make_run()) == replace(Progress(), best=float("inf"))
