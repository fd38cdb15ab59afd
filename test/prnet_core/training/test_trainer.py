"""The training loop: it learns, resumes, skips values that are not finite, and keeps the best weights."""

import json
import math
import signal
from dataclasses import replace

import pytest
import torch

from prnet_core.model import load_network, read_card
from prnet_core.training import Trainer, make_training_config
from prnet_core.training.validation import rotation_errors_deg

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


def entries(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_it_learns_and_keeps_the_best(tiny_values, tmp_path):
    trainer = Trainer(make_training_config({**tiny_values, "steps": 100}), tmp_path, CPU)
    before = trainer.validate()["objects"]["capped_mean_deg"]
    after = trainer.run()["objects"]["capped_mean_deg"]
    assert before > 15.0 and after < 0.6 * before
    log = entries(tmp_path)
    losses = [entry["total"] for entry in log if "total" in entry]
    assert len(losses) == 5 and losses[-1] < 0.4 * losses[0]
    card = read_card(tmp_path / "best.safetensors")
    assert card["training"]["steps"] == 100 and card["validation"]["objects"]["capped_mean_deg"] == after
    best = load_network(tmp_path / "best.safetensors", "cpu")
    errors = rotation_errors_deg(best, trainer.validation["objects"], CPU)
    assert float(errors.clamp(max=30.0).mean()) == pytest.approx(after, abs=1e-3)


def test_a_resumed_run_is_the_run_that_was_not_stopped(tiny_values, tmp_path):
    config = make_training_config({**tiny_values, "steps": 8})
    whole = Trainer(config, tmp_path / "whole", CPU)
    whole.run()
    steps = iter(range(3))
    Trainer(config, tmp_path / "parts", CPU).run(lambda: next(steps) == 2)
    second = Trainer(config, tmp_path / "parts", CPU)
    assert second.progress.step == 3
    second.run()
    assert [entry["started_from"] for entry in entries(tmp_path / "parts") if "started_from" in entry] == [0, 3]
    for (name, value), other in zip(whole.network.state_dict().items(), second.network.state_dict().values()):
        assert torch.equal(value, other), name


def test_ctrl_c_within_a_step_ends_the_run_after_that_step(tiny_values, tmp_path):
    config = make_training_config({**tiny_values, "steps": 8})
    whole = Trainer(config, tmp_path / "whole", CPU)
    whole.run()
    first = Trainer(config, tmp_path / "parts", CPU)
    draw_batch = first.source.batch

    def batch_with_ctrl_c(step):
        if step == 2:
            signal.raise_signal(signal.SIGINT)
        return draw_batch(step)

    first.source.batch = batch_with_ctrl_c
    with pytest.raises(KeyboardInterrupt):
        first.run()
    second = Trainer(config, tmp_path / "parts", CPU)
    assert second.progress.step == 3
    second.run()
    for (name, value), other in zip(whole.network.state_dict().items(), second.network.state_dict().values()):
        assert torch.equal(value, other), name


@pytest.mark.parametrize("bad", ["loss", "gradient"])
def test_a_step_that_is_not_finite_is_skipped_and_counted(tiny_values, tmp_path, bad):
    trainer = Trainer(make_training_config(tiny_values), tmp_path, CPU)
    trainer.step()
    objective = trainer.method.objective

    def broken(network, pairs, num_passes, share_done):
        terms = objective(network, pairs, num_passes, share_done)
        nan = math.nan if bad == "loss" else (next(network.parameters()).sum() * 0.0).sqrt()
        return terms | {"total": terms["total"] + nan}

    before = {name: value.clone() for name, value in trainer.network.state_dict().items()}
    moments = [value.clone() for state in trainer.optimiser.state.values() for value in state.values()]
    healthy, trainer.method = trainer.method, replace(trainer.method, objective=broken)
    trainer.step()
    assert (trainer.progress.step, trainer.progress.skipped) == (2, 1)
    for name, value in trainer.network.state_dict().items():
        assert torch.equal(value, before[name]), name
    after = [value for state in trainer.optimiser.state.values() for value in state.values()]
    assert all(torch.equal(a, b) for a, b in zip(moments, after, strict=True))
    trainer.method = healthy
    trainer.step()
    assert trainer.progress.skipped == 1
    assert not torch.equal(trainer.network.dgcnn.last.weight, before["dgcnn.last.weight"])


def test_gradients_are_clipped(tiny_values, tmp_path):
    trainer = Trainer(make_training_config({**tiny_values, "clip": 0.5}), tmp_path, CPU)
    norm = trainer.step()["gradient"]
    clipped = torch.stack([p.grad.norm() for p in trainer.network.parameters() if p.grad is not None]).norm()
    assert norm > 0.5 and clipped == pytest.approx(0.5, rel=1e-3)


def test_without_clipping_the_gradient_stays(tiny_values, tmp_path):
    trainer = Trainer(make_training_config({**tiny_values, "clip": None}), tmp_path, CPU)
    norm = trainer.step()["gradient"]
    stays = torch.stack([p.grad.norm() for p in trainer.network.parameters() if p.grad is not None]).norm()
    assert stays == pytest.approx(float(norm), rel=1e-4)


def rates(values, tmp_path, shares):
    trainer = Trainer(make_training_config(values), tmp_path, CPU)
    found = []
    for share in shares:
        trainer.progress.step = round(share * trainer.config.steps)
        found.append(trainer._rate())
    return found


def test_schedules(tiny_values, tmp_path):
    cosine = rates({**tiny_values, "steps": 100, "warmup_steps": 10}, tmp_path, [0.0, 0.04, 0.5, 1.0])
    assert cosine == pytest.approx([0.1, 0.5 * (1 + math.cos(0.04 * math.pi)) * 0.5, 0.5, 0.005], abs=1e-6)
    steps = rates(
        {**tiny_values, "steps": 100, "warmup_steps": 0, "schedule": "steps"}, tmp_path, [0.0, 0.29, 0.3, 0.6, 0.8]
    )
    assert steps == pytest.approx([1.0, 1.0, 0.1, 0.01, 0.001])


def test_minutes_end_the_run_too(tiny_values, tmp_path):
    trainer = Trainer(make_training_config({**tiny_values, "max_minutes": 0.5 / 60}), tmp_path, CPU)
    trainer.run()
    assert trainer.share_done() == 1.0 and 1 <= trainer.progress.step < trainer.config.steps


def test_an_annealed_temperature_follows_the_training(tiny_values, tmp_path):
    tiny_values["network"]["temperature"] = "annealed"
    trainer = Trainer(make_training_config({**tiny_values, "steps": 4}), tmp_path, CPU)
    temperatures = []
    for _ in range(4):
        trainer.step()
        temperatures.append(float(trainer.network.value_head.value))
    assert temperatures == pytest.approx([1.0, 0.1**0.25, 0.1**0.5, 0.1**0.75])


def test_it_starts_from_given_weights(tiny_values, tmp_path):
    Trainer(make_training_config({**tiny_values, "steps": 2}), tmp_path / "first", CPU).run()
    weights = tmp_path / "first" / "best.safetensors"
    trainer = Trainer(make_training_config({**tiny_values, "init_from": str(weights)}), tmp_path / "second", CPU)
    expected = load_network(weights, "cpu").state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in trainer.network.state_dict().items())


def test_bfloat16_trains_over_several_passes(tiny_values, tmp_path):
    trainer = Trainer(make_training_config({**tiny_values, "bfloat16": True, "num_passes": 3}), tmp_path, CPU)
    first = float(trainer.step()["total"])
    for _ in range(10):
        last = float(trainer.step()["total"])
    assert trainer.progress.skipped == 0 and last < first


def test_tensorboard_gets_the_scalars_where_it_is_installed(tiny_values, tmp_path):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    Trainer(make_training_config({**tiny_values, "steps": 1}), tmp_path, CPU).run()
    written = b"".join(path.read_bytes() for path in (tmp_path / "tensorboard").iterdir())
    assert b"validation/objects/capped_mean_deg" in written
