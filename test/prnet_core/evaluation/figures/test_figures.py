"""Figures are drawn, and what they report is true."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.image import imread
from typer.testing import CliRunner

from prnet_core.cli.main import app
from prnet_core.evaluation.figures.bunny import draw_bunny
from prnet_core.evaluation.figures.canvas import view_matrix
from prnet_core.evaluation.figures.correspondences import draw_correspondences
from prnet_core.evaluation.figures.keypoints import draw_consistency, draw_keypoints
from prnet_core.evaluation.figures.network_view import run_network
from prnet_core.model import PRNet, PRNetConfig, save_network

BUNNY = Path(__file__).resolve().parents[5] / "shared" / "data" / "scans" / "bunny"


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return PRNet(PRNetConfig(edge_conv_channels=(8, 8), num_neighbours=4, embedding=16, num_heads=2, feed_forward=16))


@pytest.fixture(scope="module")
def shapes():
    points = np.random.default_rng(0).normal(size=(2, 2048, 3)) * [1.0, 0.5, 0.25]
    return (points / np.linalg.norm(points, axis=2).max(axis=1)[:, None, None]).astype(np.float32)


def assert_picture(path):
    picture = imread(path)[..., :3]
    assert picture.std() > 0.02, "an empty page"


def test_view_is_a_rotation_with_z_up():
    view = view_matrix(-60, 25)
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view) == pytest.approx(1) and (view @ [0, 0, 1])[1] > 0


def test_look_names_points_and_matches(network, shapes):
    seen = run_network(network, shapes[0, :200], shapes[1, :150], num_keypoints=20)
    assert seen.source_keypoints.shape == seen.matches.shape == seen.confidence.shape == (20,)
    assert seen.source_keypoints.max() < 200 and seen.target_keypoints.max() < 150 and seen.matches.max() < 20
    fewer = run_network(network, shapes[0, :200], shapes[1, :150], num_keypoints=5)
    np.testing.assert_allclose(fewer.T_target_source, seen.T_target_source, err_msg="marking fewer moved the answer")


def test_keypoints(network, shapes, tmp_path):
    errors = draw_keypoints(network, shapes[0], 0, tmp_path / "k.png")
    assert set(errors) == {"partial_error_deg", "full_error_deg"} and min(errors.values()) >= 0
    assert_picture(tmp_path / "k.png")


def test_consistency_is_between_chance_and_one(network, shapes, tmp_path):
    measured = draw_consistency(network, shapes[0], 0, tmp_path / "new" / "c.png", num_views=3)
    assert measured["repeated_by_chance"] == pytest.approx(48 / 768)
    assert 0 <= measured["repeated"] <= 1
    assert_picture(tmp_path / "new" / "c.png")


def test_correspondences(network, shapes, tmp_path):
    assert draw_correspondences(network, shapes[0], shapes[1], tmp_path / "c.png") == 40
    assert_picture(tmp_path / "c.png")


def test_bunny_without_the_network(tmp_path):
    if not BUNNY.is_dir():
        pytest.skip("../shared/data/scans/bunny is not here")
    from prnet_core.registration import Registration

    report = draw_bunny(Registration(None), BUNNY, tmp_path / "b.png")
    assert [step["source"] for step in report] == ["bun045", "bun090", "bun315", "bun270"]
    assert report[0]["status"] == "accepted" and report[0]["error_deg"] < 1
    assert_picture(tmp_path / "b.png")


def test_command(network, shapes, tmp_path):
    save_network(network, tmp_path / "w.safetensors", {})
    np.savez(tmp_path / "s.npz", points=shapes, names=["a", "b"], classes=["x", "x"])
    common = ["--data", str(tmp_path / "s.npz"), "--weights", str(tmp_path / "w.safetensors")]
    result = CliRunner().invoke(app, ["figure", "correspondences", *common, "--out", str(tmp_path / "f.png")])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["measured"] == {"first": "a", "second": "b", "lines": 40}
    unknown = CliRunner().invoke(
        app, ["figure", "keypoints", *common, "--index", "2", "--out", str(tmp_path / "g.png")]
    )
    assert unknown.exit_code == 2 and "no index 2" in unknown.output
