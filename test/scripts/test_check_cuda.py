"""scripts/check_cuda.py, and how often a batch reads a value back to the host."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_cuda.py"


@pytest.fixture(scope="module")
def check_cuda():
    spec = importlib.util.spec_from_file_location("check_cuda", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("step", ["infer", "training_loss"])
@pytest.mark.parametrize("preset", ["small", "invariant"])
def test_a_batch_reads_one_value_back(check_cuda, preset, step):
    """On the CPU, where the operations are the same and a CPU build is enough."""
    config = replace(getattr(check_cuda.PRNetConfig, preset)(), matching_weight=1.0)
    assert check_cuda.check(getattr(check_cuda, step), config, "cpu") == 1


def test_the_script_passes_or_says_why_it_is_skipped():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    if torch.version.cuda is None:
        assert "is a CPU build" in done.stdout
