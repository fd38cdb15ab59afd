"""Every table is made in quick mode, on a handful of shapes and a tiny network."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from prnet_core.cli.main import app
from prnet_core.evaluation.baselines import DCP, DCPConfig, PointNetLK, PointNetLKConfig
from prnet_core.evaluation.learned_methods import with_settings
from prnet_core.evaluation.methods import MethodOptions
from prnet_core.evaluation.paper import TABLES, Setup, protocols
from prnet_core.evaluation.paper.ablations import ABLATIONS, mean_of_runs, notes_on_order
from prnet_core.evaluation.paper.transfer import rotated
from prnet_core.model import PRNet, PRNetConfig, save_network

TINY = dict(edge_conv_channels=(8, 8), num_neighbours=4, embedding=16, num_heads=2, feed_forward=16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty classes of boxes with one test shape and one training shape each, labelled as a curated source; weights."""
    folder = tmp_path_factory.mktemp("reproduce")
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (80, 2048, 3)) * rng.uniform(0.2, 1, (80, 1, 3))
    points -= points.mean(axis=1, keepdims=True)
    points /= np.linalg.norm(points, axis=2).max(axis=1)[:, None, None]
    names = [f"s{i}" for i in range(80)]
    np.savez(
        folder / "test.npz", points=points.astype(np.float16), names=names,
        classes=[f"c{i % 40:02d}" for i in range(80)], split=["train"] * 40 + ["test"] * 40,
    )  # fmt: skip
    np.savez(
        folder / "train.npz", points=points.astype(np.float16), names=names, label=["a", "b"] * 40,
        source=["sweethome3d"] * 80,
    )  # fmt: skip
    torch.manual_seed(0)
    save_network(PRNet(PRNetConfig(**TINY, temperature_channels=(8,))), folder / "prnet.safetensors", {})
    save_network(DCP(DCPConfig(**TINY)), folder / "dcp.safetensors", {}, "dcp/1")
    lk = PointNetLK(PointNetLKConfig(channels=(8, 16)))
    save_network(lk, folder / "lk.safetensors", {}, "pointnetlk/1")
    return folder


@pytest.fixture
def setup(folder):
    weights = {
        "prnet": folder / "prnet.safetensors", "dcp": folder / "dcp.safetensors",
        "pointnetlk": folder / "lk.safetensors",
    }  # fmt: skip
    return Setup(
        folder / "test.npz", folder / "train.npz", options=MethodOptions(weights, "cpu"), quick=True, limit=2,
        command="prnet reproduce NAME",
    )  # fmt: skip


@pytest.fixture
def without_go_icp(monkeypatch):
    """It takes up to 20 s a pair."""
    monkeypatch.setattr(protocols, "GO_ICP_PACKAGE", "not_installed")


@pytest.mark.parametrize("name", ["unseen", "categories", "noise", "full", "hard"])
def test_protocol_tables_have_every_method_and_the_published_rows(setup, name, without_go_icp):
    pytest.importorskip("open3d")
    table = TABLES[name](setup)
    assert [row["method"] for row in table.rows] == [
        "identity", "constant", "centroid", "icp", "fgr", "pointnetlk", "dcp", "prnet", "prnet+refine",
        "prnet+hypotheses",
    ]  # fmt: skip
    assert all(row["num_pairs"] == 2 for row in table.rows)
    assert table.published
    assert any("not installed: goicp" in note for note in table.notes) == (name != "hard")


def test_learned_rows_without_weights_are_left_out_by_name(folder, without_go_icp):
    prnet_only = MethodOptions({"prnet": folder / "prnet.safetensors"}, "cpu")
    setup = Setup(folder / "test.npz", options=prnet_only, limit=1)
    table = TABLES["full"](setup)
    assert "dcp" not in [row["method"] for row in table.rows]
    assert any("pointnetlk, dcp" in note for note in table.notes)


def test_weights_under_a_label_are_one_more_row(folder, without_go_icp):
    file = folder / "prnet.safetensors"
    setup = Setup(folder / "test.npz", options=MethodOptions({"prnet": file, "prnet:tuned": file}, "cpu"), limit=1)
    names = [row["method"] for row in TABLES["full"](setup).rows]
    assert names[-4:] == ["prnet:tuned", "prnet", "prnet+refine", "prnet+hypotheses"]


@pytest.mark.parametrize("name", [name for name in ABLATIONS])
def test_ablations(setup, name):
    table = TABLES[f"ablation-{name}"](setup)
    ablation = ABLATIONS[name]
    assert [row["method"] for row in table.rows] == [row.name for row in ablation.rows]
    for row, given in zip(table.rows, ablation.rows, strict=True):
        assert row.get("published_mae_r_deg") == given.published
        assert np.isfinite(row["mae_r_deg"])
    if ablation.trains:
        assert any("of 2 steps" in note for note in table.notes)


def test_seeds_of_a_row_are_averaged_and_their_spread_decides_on_the_order():
    runs = [{"method": "a", "mae_r_deg": value, "published_mae_r_deg": 1.0} for value in (1.0, 2.0, 6.0)]
    row = mean_of_runs(runs)
    assert (row["mae_r_deg"], row["seeds"], row["spread"]) == (3.0, "1.00, 2.00, 6.00", 5.0)
    other = row | {"method": "b", "mae_r_deg": 7.0, "published_mae_r_deg": 2.0}
    assert "not significant" in " ".join(notes_on_order([row, other]))
    assert list(notes_on_order([row, other | {"mae_r_deg": 9.0}])) == ["The order is the paper's."]


def test_ablations_that_train_ask_for_training_data(folder):
    with pytest.raises(ValueError, match="--train-data"):
        TABLES["ablation-temperature"](Setup(folder / "test.npz", quick=True))


def test_with_settings_keeps_the_weights(folder, setup):
    network = setup.network()
    other = with_settings(network, num_keypoints=5)
    clouds = torch.randn(1, 30, 3), torch.randn(1, 30, 3)
    assert other(*clouds).passes[0].source_keypoints.shape == (1, 5)
    assert network(*clouds).passes[0].source_keypoints.shape == (1, 20)


def test_efficiency_times_every_size(setup):
    from dataclasses import replace

    table = TABLES["efficiency"](replace(setup, methods=("icp", "prnet", "dcp (small, untrained)")))
    assert [row["method"] for row in table.rows] == ["icp", "prnet", "dcp (small, untrained)"]
    for row in table.rows:
        assert all(row[f"seconds_per_pair_{size}"] > 0 for size in (512, 1024, 2048))
    assert {"method": "ICP (CPU), paper", "seconds_per_pair_512": 0.134} | table.published[3] == table.published[3]


def test_transfer_classifies_both_parts(setup):
    pytest.importorskip("sklearn")
    from dataclasses import replace

    table = TABLES["transfer"](replace(setup, limit=20))
    names = [row["method"] for row in table.rows]
    assert "test, z/z, prnet" in names and "train, curated classes, SO3/SO3, untrained" in names
    assert all(0 <= row["accuracy"] <= 1 for row in table.rows)


def test_rotations_of_the_transfer():
    points = np.random.default_rng(0).normal(size=(3, 10, 3)).astype(np.float32)
    about_z = rotated(points, "z/z", np.random.default_rng(1))
    np.testing.assert_allclose(about_z[..., 2], points[..., 2], atol=1e-6)
    anyhow = rotated(points, "SO3/SO3", np.random.default_rng(1))
    assert np.abs(anyhow[..., 2] - points[..., 2]).max() > 0.1
    np.testing.assert_allclose(np.linalg.norm(anyhow, axis=2), np.linalg.norm(points, axis=2), rtol=1e-5)


def test_command_writes_both_files_and_lists_tables(folder, tmp_path):
    run = CliRunner().invoke
    listed = run(app, ["reproduce", "list"])
    assert set(listed.output.split()) == set(TABLES)
    result = run(app, ["reproduce", "full", "--data", str(folder / "test.npz"), "--method", "icp", "--limit", "2",
                       "--out", str(tmp_path)])  # fmt: skip
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "full.json").read_text())["title"] == "Full clouds"
    assert "| icp |" in (tmp_path / "full.md").read_text()
    unknown = run(app, ["reproduce", "table-9"])
    assert unknown.exit_code == 2 and "unknown table" in unknown.output
