"""`prnet train` as a process: killed at a random moment, it resumes from its last checkpoint."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prnet_core.cli.main import app

ROOT = Path(__file__).parents[3]


def start(config: Path, folder: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "prnet_core.cli.main", "train", "--config", config, "--out", folder, *more]
    return subprocess.Popen(
        [*command, "--device", "cpu"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def finish(process: subprocess.Popen) -> dict:
    """The summary that a run prints at its end."""
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return json.loads(output.splitlines()[-1])


def newest_checkpoint(folder: Path) -> int:
    return max((int(path.stem.split("-")[1]) for path in folder.glob("checkpoint-*.json")), default=0)


def wait_for_checkpoint(process: subprocess.Popen, folder: Path) -> None:
    while not newest_checkpoint(folder):
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.02)


def started_from(folder: Path) -> list[int]:
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [entry["started_from"] for entry in entries if "started_from" in entry]


def test_killed_at_a_random_moment_it_goes_on_from_the_last_checkpoint(tiny_values, write_config, tmp_path):
    config, folder = write_config({**tiny_values, "steps": 100_000, "checkpoint_minutes": 0.0}), tmp_path / "run"
    process = start(config, folder)
    wait_for_checkpoint(process, folder)
    time.sleep(random.uniform(0.0, 1.0))
    process.kill()
    assert process.wait() == -signal.SIGKILL
    reached = newest_checkpoint(folder)
    assert reached >= 1

    longer = write_config({**tiny_values, "steps": reached + 2, "checkpoint_minutes": 0.0})
    assert finish(start(longer, folder))["step"] == newest_checkpoint(folder) == reached + 2
    assert started_from(folder) == [0, reached]

    damaged = folder / f"checkpoint-{reached + 2:08d}.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    process = start(write_config({**tiny_values, "steps": reached + 3}), folder)
    assert f"{damaged.name} is damaged" in process.stdout.readline()
    assert finish(process)["step"] == reached + 3
    assert started_from(folder) == [0, reached, reached + 1]


def test_sigterm_saves_and_ends(tiny_values, write_config, tmp_path):
    folder = tmp_path / "run"
    process = start(write_config({**tiny_values, "steps": 100_000, "checkpoint_minutes": 0.001}), folder)
    wait_for_checkpoint(process, folder)
    process.terminate()
    assert finish(process)["step"] == newest_checkpoint(folder)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"learning_rte": 1.0}, "unknown training settings: learning_rte"),
        ({"shapes": "no/such/file.npz"}, "no/such/file.npz does not exist"),
        ({"init_from": "no/weights.safetensors"}, "no weights file at no/weights.safetensors"),
    ],
)
def test_what_is_incorrect_is_an_answer_not_a_traceback(tiny_values, write_config, tmp_path, values, text):
    config = write_config({**tiny_values, **values})
    result = CliRunner().invoke(app, ["train", "--config", str(config), "--out", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert text in result.output
