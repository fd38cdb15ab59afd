"""`prnet fine-tune` on small files: table, JSON, weights, exit codes."""

import json
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="torch is not installed")

from tiny_network import save_tiny_network  # noqa: E402

from prnet_core.cli.main import app  # noqa: E402
from prnet_core.fine_tuning.held_out import HeldOut  # noqa: E402
from prnet_core.io.cloud_files import write_cloud_file  # noqa: E402
from prnet_core.model import load_network, read_card  # noqa: E402


@pytest.fixture(autouse=True)
def restored_handler():
    """The command handles Ctrl-C until its process ends; here the process continues with other tests."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return save_tiny_network(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """Two files, and a folder of three scans; one scan there twice."""
    folder = tmp_path_factory.mktemp("scans")
    (folder / "more").mkdir()
    for i in range(5):
        rng = np.random.default_rng(i)
        corner = np.vstack([np.insert(rng.uniform(0, 3, (700, 2)), axis, 0.0, axis=1) for axis in range(3)])
        box = rng.uniform(0.0, 1.0, (600, 3)) * [0.5, 1.0, 1.5] + [0.4 * i, 1.5, 0.0]
        cloud = np.vstack([corner, box]) - 0.5 * i
        write_cloud_file(folder / f"{i}.ply" if i < 2 else folder / "more" / f"{i}.npy", cloud)
        if i == 4:
            write_cloud_file(folder / "more" / "5.npy", cloud)
    return [folder / "0.ply", folder / "1.ply", folder / "more"]


def call(*arguments):
    return CliRunner().invoke(app, ["fine-tune", *map(str, arguments), "--threads", "1"])


def test_better_weights_are_written_with_their_report(weights, scans, tmp_path, monkeypatch):
    monkeypatch.setattr(HeldOut, "is_gain", lambda self, min_gain: True)  # gains: fine_tuning/test_fine_tune.py
    out = tmp_path / "tuned.safetensors"
    result = call(
        *scans, "--out", out, "--weights", weights, "--examples", 4, "--epochs", 1, "--learning-rate", 4e-3, "--json"
    )
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout[result.stdout.index("{") :])
    assert report["kept"] == "tuned" and {"before", "after"} <= set(report)
    assert (report["num_scans_tuned"], report["num_scans_held_out"]) == (4, 1)  # the scan that is there twice is one
    assert report["config"]["examples_per_scan"] == 4 and len(report["loss_curve"]) == report["steps"] == 2
    assert read_card(out)["fine_tuned"] == report
    old, new = load_network(weights, "cpu"), load_network(out, "cpu")
    assert any(not torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters()))


def test_no_gain_writes_nothing_and_says_so(weights, scans, tmp_path):
    out = tmp_path / "tuned.safetensors"
    result = call(*scans, "--out", out, "--weights", weights, "--examples", 2, "--epochs", 1, "--learning-rate", 1e-9)
    assert result.exit_code == 1 and not out.exists()
    assert "old weights kept" in result.output and "in the refinement's basin" in result.output


@pytest.mark.parametrize(
    "some, text",
    [
        (slice(0, 1), "1 usable scans of the 4 needed: 3 are missing"),
        (["nowhere.ply"], "nowhere.ply"),
    ],
)
def test_what_cannot_be_used_is_named(weights, scans, tmp_path, some, text):
    chosen = scans[some] if isinstance(some, slice) else some
    result = call(*chosen, "--out", tmp_path / "tuned.safetensors", "--weights", weights)
    assert result.exit_code == 2 and text in result.output and "Traceback" not in result.output
