"""`prnet odometry` on a small folder and the embedded bag: errors, TUM, KITTI, picture."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prnet_core.cli.main import app
from prnet_core.geometry import se3
from prnet_core.io.trajectories import read_kitti, read_tum

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def folder(tmp_path):
    """Six scans of a room with a pillar, with true poses."""
    (tmp_path / "scans").mkdir()
    poses = [se3.exp(np.array([0.1, 0.02, 0.0, 0.0, 0.0, 0.04]) * i) for i in range(6)]
    for i, pose in enumerate(poses):
        rng = np.random.default_rng(i)
        walls = [np.insert(rng.uniform(-3, 3, (700, 2)), axis, 3.0, axis=1) for axis in range(3)]
        angle = rng.uniform(0, 2 * np.pi, 500)
        pillar = np.c_[1 + 0.3 * np.cos(angle), -1 + 0.3 * np.sin(angle), rng.uniform(-3, 3, 500)]
        np.save(tmp_path / "scans" / f"{i}.npy", se3.apply(se3.invert(pose), np.vstack([*walls, pillar])))
    np.savetxt(tmp_path / "poses.txt", np.array(poses)[:, :3].reshape(6, 12))
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, ["odometry", *map(str, arguments), "--weights", "none"])


def test_writes_the_trajectory_and_prints_errors(folder, tmp_path):
    out = tmp_path / "out.tum"
    result = call(folder, "--out", out, "--picture", tmp_path / "out.png")
    assert result.exit_code == 0, result.output
    assert "6 scans: 1 first, 5 accepted" in result.output
    assert "ATE 0.00" in result.output
    truth = read_kitti(folder / "poses.txt")
    np.testing.assert_allclose(read_tum(out).poses, truth, atol=0.02)
    np.testing.assert_allclose(read_kitti(out.with_suffix(".kitti")), truth, atol=0.02)
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_every_second_scan_and_another_truth(folder):
    result = call(folder, "--every", 2, "--truth", folder / "poses.txt")
    assert result.exit_code == 0, result.output
    assert "3 scans: 1 first, 2 accepted" in result.output
    assert "over 3 poses" in result.output


def test_the_embedded_bag(tmp_path):
    result = call(DATA / "lidar_walk", "--out", tmp_path / "walk.tum")
    assert result.exit_code == 0, result.output
    assert "rejected" not in result.output
    ate = float(result.output.split("ATE ")[1].split(" m")[0])
    assert ate < 0.05


def test_what_is_no_recording_exits_with_two(tmp_path):
    np.save(tmp_path / "scan.npy", np.ones((5, 3)))
    (tmp_path / "empty").mkdir()
    for path, words in (("empty", "no scans"), ("missing", ""), ("scan.npy", "a single scan")):
        result = call(tmp_path / path)
        assert result.exit_code == 2
        assert str(tmp_path / path) in result.output and words in result.output
