"""The job for a GPU machine, on the CPU, with little of everything: packed, trained, measured, brought back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from prnet_core.model import PRNet, PRNetConfig, load_network, read_card, save_network

ROOT = Path(__file__).parents[2]
NETWORK = {"edge_conv_channels": [8, 16], "embedding": 16, "feed_forward": 32, "temperature_channels": [8]}


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    """A folder of the packing script, of six shapes, and weights to go on from."""
    folder = tmp_path_factory.mktemp("packed")
    points = np.random.default_rng(0).normal(size=(6, 2048, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    stored = np.round(1000 * points * (1.0, 0.7, 0.4)).astype(np.int16)
    np.savez(folder / "shapes.npz", points=stored, scale=np.float32(1e-3), source=np.array(["made"] * 6))
    recipe = yaml.safe_load((ROOT / "configs" / "gpu.yaml").read_text())
    recipe |= {"network": NETWORK, "steps": 3, "validate_minutes": 60.0, "workers": 1}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    torch.manual_seed(0)
    save_network(PRNet(PRNetConfig.from_dict(NETWORK)), folder / "start.safetensors", {})
    command = [sys.executable, ROOT / "scripts" / "pack_training_data.py", folder, "--points", "1344"]
    command += ["--shapes", folder / "shapes.npz", "--config", folder / "recipe.yaml"]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=200)
    return folder


def test_the_packed_data_are_the_shapes_and_the_recipe(packed):
    with np.load(packed / "training_data.npz") as data, np.load(packed / "shapes.npz") as shapes:
        assert np.array_equal(data["points"], shapes["points"][:, :1344])
        assert data["scale"] == shapes["scale"] and list(data["source"]) == ["made"] * 6
        assert json.loads(str(data["recipe"]))["pairs"]["num_points"] == 672


@pytest.mark.timeout(600)
def test_the_job_trains_measures_and_brings_the_weights_back_in_time(packed, tmp_path):
    """Without roma, YAML and TensorBoard; roma comes from the packed folder."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(
        f"""
import sys, zipimport
for absent in ("yaml", "tensorboard", "typer", "h5py", "trimesh", "open3d", "small_gicp", "matplotlib"):
    sys.modules[absent] = None

class OnlyZippedRoma:
    def find_spec(name, path=None, target=None):
        if name != "roma":
            return None
        if {str(packed / "roma.zip")!r} not in sys.path:
            raise ImportError(name)
        return zipimport.zipimporter({str(packed / "roma.zip")!r}).find_spec(name)

sys.meta_path.insert(0, OnlyZippedRoma)
"""
    )
    command = [sys.executable, ROOT / "scripts" / "gpu_job.py", "--data", packed, "--out", tmp_path / "out"]
    command += ["--weights", packed / "start.safetensors", "--max-minutes", "6", "--device", "cpu"]
    command += ["--scenes", "2", "--pairs", "4", "--batch-size", "4"]
    environment = os.environ | {"PYTHONPATH": str(blocked)}
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, env=environment)
    assert result.returncode == 0, result.stderr[-3000:]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["device"], report["steps"], report["skipped"]) == ("cpu", 3, 0)
    assert report["minutes"] < 6.0
    assert set(report["validation"]) == {"objects", "scans"}
    for when in ("before", "after"):
        assert report[when]["pairs"] == 4 and 0.0 <= report[when]["mae_r_deg"] <= 180.0
    assert report["latency_ms"]["2048_points"] > report["latency_ms"]["512_points"] > 0.0
    (piece,) = (tmp_path / "out").glob("*.safetensors")
    assert piece.name == "best-1-of-1.safetensors"
    assert read_card(piece)["steps"] == 3
    start, trained = (
        load_network(path, "cpu").state_dict() for path in (packed / "start.safetensors", piece)
    )
    assert any(not torch.equal(value, start[name]) for name, value in trained.items())
    assert (tmp_path / "out" / "log.jsonl").exists()


def test_too_little_time_is_told(packed, tmp_path):
    command = [sys.executable, ROOT / "scripts" / "gpu_job.py", "--data", packed, "--out", tmp_path / "out"]
    command += ["--weights", packed / "start.safetensors", "--max-minutes", "0.01", "--device", "cpu"]
    result = subprocess.run(
        [*command, "--scenes", "1", "--pairs", "1"], cwd=ROOT, capture_output=True, text=True, timeout=250
    )
    assert result.returncode == 1 and "nothing of --max-minutes is left" in result.stderr
