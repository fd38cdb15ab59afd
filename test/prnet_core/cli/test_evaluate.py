import json

import numpy as np
import pytest
from typer.testing import CliRunner

from prnet_core.cli.main import app

run = CliRunner().invoke


@pytest.fixture
def shapes_file(tmp_path):
    points = np.random.default_rng(0).normal(size=(3, 2048, 3)).astype(np.float16) / 5
    np.savez(tmp_path / "s.npz", points=points, names=["a", "b", "c"], classes=["x"] * 3, split=["test"] * 3)
    return tmp_path / "s.npz"


def test_evaluate_prints_and_writes_the_table(shapes_file, tmp_path):
    out = tmp_path / "out.json"
    result = run(app, ["evaluate", "--data", str(shapes_file), "--split", "test", "--method", "icp",
                       "--protocol", "noise", "--limit", "2", "--json", str(out)])  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "| icp |" in result.output and "PRNet (paper)" in result.output
    written = json.loads(out.read_text())
    assert written["settings"]["pairs"] == 2 and written["settings"]["protocol_settings"]["noise"] == 0.01
    assert out.with_suffix(".md").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--protocol", "easy"], "unknown protocol 'easy'"),
        (["--method", "ndt"], "unknown method 'ndt'"),
        (["--split", "val"], "no split 'val'"),
    ],
)
def test_evaluate_names_what_is_incorrect(shapes_file, arguments, text):
    result = run(app, ["evaluate", "--data", str(shapes_file), *arguments])
    assert result.exit_code == 2
    assert text in result.output
