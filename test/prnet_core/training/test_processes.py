"""Two gloo processes together train on the same data as one process alone.

Compared in float64: in float32 a rounding difference of 1e-7 now and then decides which point is matched, and from
there two runs differ although both are correct.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from prnet_core.model.processes import num_processes, process_rank, sum_over_processes
from prnet_core.training import make_training_config
from prnet_core.training.pair_source import PairSource

STEPS = 24
WORKER = """
import json, sys
from pathlib import Path
import torch
from prnet_core.pairs.pair_batch import PairBatch
from prnet_core.model.processes import process_rank
from prnet_core.training import Trainer, make_training_config
from prnet_core.training.group import join_group


def in_float64(draw):
    def batch(step):
        pairs = draw(step)
        return PairBatch(pairs.source.double(), pairs.target.double(), pairs.T_target_source.double(), pairs.matches)

    return batch


torch.set_num_threads(1)
values, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
trainer = Trainer(make_training_config(values), folder, join_group("cpu"))
trainer.network.double()
trainer.source.batch = in_float64(trainer.source.batch)
curve = [{name: float(value) for name, value in trainer.step().items()} for _ in range(int(sys.argv[3]))]
(folder / f"curve-{process_rank()}.json").write_text(json.dumps(curve))
torch.save(trainer.network.state_dict(), folder / f"weights-{process_rank()}.pt")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory, shapes_file) -> dict[str, Path]:
    """The folders of the same run by one process and by two."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("tiny", Path(__file__).with_name("conftest.py"))
    tiny = module_from_spec(spec)
    spec.loader.exec_module(tiny)
    folder = tmp_path_factory.mktemp("processes")
    values = {**tiny.RUN, "network": tiny.NETWORK, "shapes": str(shapes_file), "num_passes": 2}
    (folder / "values.json").write_text(json.dumps(values))
    (folder / "worker.py").write_text(WORKER)
    launchers = {
        "one": [sys.executable],
        "two": [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"],
    }
    for name, launcher in launchers.items():
        command = [*launcher, folder / "worker.py", folder / "values.json", folder / name, str(STEPS)]
        result = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=200)
        assert result.returncode == 0, result.stderr[-3000:]
    return {name: folder / name for name in launchers}


def test_two_processes_have_the_loss_curve_of_one(runs):
    one = json.loads((runs["one"] / "curve-0.json").read_text())
    two = json.loads((runs["two"] / "curve-0.json").read_text())
    assert len(one) == STEPS and set(one[0]) == {"total", "motion", "cycle", "global_feature", "matching", "gradient"}
    for step, (alone, together) in enumerate(zip(one, two)):
        assert together == pytest.approx(alone, rel=1e-9, abs=1e-12), f"step {step}"
    assert one[-1]["matching"] < 0.6 * one[0]["matching"]


def test_both_processes_hold_the_same_weights(runs):
    first, second = (torch.load(runs["two"] / f"weights-{rank}.pt") for rank in (0, 1))
    alone = torch.load(runs["one"] / "weights-0.pt")
    for name, value in first.items():
        assert torch.equal(value, second[name]), name
        torch.testing.assert_close(value, alone[name], rtol=0.0, atol=1e-6, msg=name)
    curves = [(runs["two"] / f"curve-{rank}.json").read_text() for rank in (0, 1)]
    assert curves[0] == curves[1]


def test_a_batch_that_does_not_divide_is_refused(tiny_values, monkeypatch):
    monkeypatch.setattr("prnet_core.training.pair_source.num_processes", lambda: 3)
    with pytest.raises(ValueError, match="batch_size 4 is not a multiple of 3"):
        PairSource(make_training_config(tiny_values), torch.device("cpu"))


def test_rows_of_the_processes_make_the_batch(tiny_values, monkeypatch):
    source = PairSource(make_training_config(tiny_values), torch.device("cpu"))
    whole = source.batch(5)
    monkeypatch.setattr("prnet_core.training.pair_source.num_processes", lambda: 2)
    for rank in (0, 1):
        monkeypatch.setattr("prnet_core.training.pair_source.process_rank", lambda rank=rank: rank)
        part = source.batch(5)
        assert torch.equal(part.source, whole.source[rank::2])
        assert torch.equal(part.matches, whole.matches[rank::2])


def test_one_process_adds_nothing():
    value = torch.randn(3, requires_grad=True)
    assert (num_processes(), process_rank()) == (1, 0)
    assert sum_over_processes(value) is value
