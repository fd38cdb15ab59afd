"""`prnet register` on small files: text, JSON, saved cloud, picture, exit codes."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from prnet_core.cli.main import app
from prnet_core.geometry import se3
from prnet_core.io.cloud_files import read_cloud_file, write_cloud_file

TRUE = se3.exp(np.array([0.2, -0.1, 0.05, 0.02, 0.03, -0.1]))


@pytest.fixture
def files(tmp_path):
    """A corner of three walls with a bump, sampled twice; the source moved by TRUE^-1."""
    clouds = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        walls = [np.insert(rng.uniform(0, 3, (700, 2)), axis, 0.0, axis=1) for axis in range(3)]
        sphere = rng.normal(size=(500, 3))
        walls.append(np.array([1.5, 2.0, 0.5]) + 0.5 * sphere / np.linalg.norm(sphere, axis=1, keepdims=True))
        clouds.append(np.vstack(walls))
    write_cloud_file(tmp_path / "source.ply", se3.apply(se3.invert(TRUE), clouds[0]))
    write_cloud_file(tmp_path / "target.xyz", clouds[1])
    return tmp_path / "source.ply", tmp_path / "target.xyz"


def call(*arguments):
    return CliRunner().invoke(app, ["register", *map(str, arguments), "--weights", "none"])


def test_prints_the_transform_as_text(files):
    result = call(*files)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("accepted:")
    rows = result.output.split("T_target_source =\n")[1].splitlines()
    np.testing.assert_allclose(np.array([row.split() for row in rows], float), TRUE, atol=0.01)


def test_prints_json_saves_and_draws(files, tmp_path):
    result = call(*files, "--json", "--save", tmp_path / "moved.npy", "--view", tmp_path / "pair.png")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    np.testing.assert_allclose(answer["T_target_source"], TRUE, atol=0.01)
    assert answer["status"] == "accepted"
    assert np.array(answer["covariance"]).shape == (6, 6)
    moved = se3.apply(np.array(answer["T_target_source"]), read_cloud_file(files[0]))
    np.testing.assert_allclose(read_cloud_file(tmp_path / "moved.npy"), moved)
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")


def test_the_registered_clouds_are_shown(files, monkeypatch):
    open3d = pytest.importorskip("open3d", reason="open3d is not installed")
    shown = []

    class Window:
        def create_window(self, title):
            return opens

        def add_geometry(self, cloud):
            shown.append(np.asarray(cloud.points))

        def run(self):
            shown.append("run")

        def destroy_window(self):
            shown.append("closed")

    monkeypatch.setattr(open3d.visualization, "Visualizer", Window)
    opens = True
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert sys.platform != "linux" or call(*files, "--show").exit_code == 2
    monkeypatch.setenv("DISPLAY", ":0")
    opens = False
    result = call(*files, "--show")
    assert result.exit_code == 2 and "no window" in result.output
    shown.clear()
    opens = True
    assert call(*files, "--show").exit_code == 0
    assert shown[2:] == ["run", "closed"]
    np.testing.assert_allclose(shown[0], read_cloud_file(files[1]))
    np.testing.assert_allclose(shown[1], se3.apply(TRUE, read_cloud_file(files[0])), atol=0.03)


def test_a_guess_is_used(files, tmp_path):
    np.savetxt(tmp_path / "guess.txt", TRUE)
    answer = json.loads(call(*files, "--json", "--guess", tmp_path / "guess.txt").output)
    assert answer["hypothesis"] == "guess"


def test_clouds_that_do_not_fit_exit_with_one(files, tmp_path):
    np.save(tmp_path / "few.npy", np.zeros((5, 3)))
    result = call(tmp_path / "few.npy", files[1])
    assert result.exit_code == 1
    assert result.output.startswith("rejected: the source has")


def test_files_that_cannot_be_used_exit_with_two(files, tmp_path):
    (tmp_path / "broken.ply").write_text("hello")
    for arguments in ((tmp_path / "broken.ply", files[1]), (tmp_path / "missing.dat", files[1])):
        result = call(*arguments)
        assert result.exit_code == 2
        assert str(arguments[0]) in result.output
    assert "no such file" in result.output
    for option, value, words in (("--voxel", -1, "voxel_size"), ("--guess", tmp_path / "broken.ply", "broken.ply")):
        result = call(*files, option, value)
        assert result.exit_code == 2 and words in result.output


def test_targets_and_columns_that_cannot_be_used_exit_with_two_before_the_work(files, tmp_path):
    (tmp_path / "empty.npy").touch()
    np.ones((7, 5), np.float32).tofile(tmp_path / "a.bin")
    for arguments, words in (
        ((*files, "--save", tmp_path / "missing" / "a.ply"), "missing"),
        ((*files, "--save", tmp_path / "a.stl"), "a.stl"),
        ((*files, "--view", tmp_path / "a.dwg"), "a.dwg"),
        ((tmp_path / "empty.npy", files[1]), "empty.npy"),
        ((tmp_path / "a.bin", files[1], "--columns", 4), "rows of 4"),
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert len(result.output.strip().splitlines()) == 1 and words in result.output
