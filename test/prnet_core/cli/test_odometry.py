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
    ground_truth = read_kitti(folder / "poses.txt")
    np.testing.assert_allclose(read_tum(out).poses, ground_truth, atol=0.02)
    np.testing.assert_allclose(read_kitti(out.with_suffix(".kitti")), ground_truth, atol=0.02)
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


def assert_one_line(result, *words):
    """Exit code 2, and one line that holds the words."""
    assert result.exit_code == 2, result.output
    assert result.output.startswith("prnet odometry: ") and len(result.output.strip().splitlines()) == 1
    for word in words:
        assert str(word) in result.output


@pytest.mark.parametrize("name", ["missing/walk.tum", "file/walk.tum", "folder", "missing/walk.kitti"])
def test_a_target_that_cannot_be_written_is_found_before_the_first_scan(folder, tmp_path, name, monkeypatch):
    from prnet_core.odometry import ScanOdometry

    monkeypatch.setattr(ScanOdometry, "register_scan", lambda *_: pytest.fail("a scan was registered"))
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    assert_one_line(call(folder, "--out", tmp_path / name), tmp_path / name)
    for picture in ("a.dwg", "a", "missing/a.png"):
        assert_one_line(call(folder, "--picture", tmp_path / picture), tmp_path / picture)
    same = tmp_path / "a.svg"
    assert_one_line(call(folder, "--picture", same, "--out", same), same, "one file")


def test_kitti_alone_leaves_the_tum_file_of_the_same_stem(folder, tmp_path):
    (tmp_path / "walk.tum").write_text("of another run")
    result = call(folder, "--out", tmp_path / "walk.kitti")
    assert result.exit_code == 0, result.output
    assert read_kitti(tmp_path / "walk.kitti").shape == (6, 4, 4)
    assert (tmp_path / "walk.tum").read_text() == "of another run"


def test_a_full_disk_leaves_the_old_file(folder, tmp_path, monkeypatch):
    import errno

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "walk.tum").write_text("of another run")
    monkeypatch.setattr(np, "savetxt", full)
    result = call(folder, "--out", tmp_path / "walk.tum")
    assert result.exit_code == 2
    assert f"{tmp_path / 'walk.tum'} cannot be written: No space left" in result.output
    assert "ATE" in result.output, "the result is printed before it is written"
    assert (tmp_path / "walk.tum").read_text() == "of another run"


def test_damaged_scans_are_skipped_and_the_missing_times_reported_once(folder):
    (folder / "scans" / "2.npy").write_bytes(b"")
    (folder / "scans" / "4.npy").write_bytes(b"garbage")
    result = call(folder)
    assert result.exit_code == 0, result.output
    assert "4 scans: 1 first" in result.output and "skipped: 2 not readable" in result.output
    assert result.output.count("no point times") == 1
    assert "over 4 poses" in result.output


def test_a_bag_with_point_times_does_not_report_them_missing():
    result = call(DATA / "lidar_walk", "--every", 30)
    assert result.exit_code == 0, result.output
    assert "no point times" not in result.output


def test_nothing_readable_is_one_line(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.npy").write_bytes(b"")
    result = call(tmp_path)
    assert result.exit_code == 2
    assert f"prnet odometry: {tmp_path}: no scan can be read: 3 not readable" in result.output


def test_a_ground_truth_that_does_not_fit_costs_only_the_comparison(folder, tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("1 0 0 0 0 1 0 0 0 0 1 0\n")
    result = call(folder, "--truth", short, "--out", tmp_path / "walk.tum")
    assert result.exit_code == 0, result.output
    assert f"{short}: 1 poses for 6 scans; no errors are computed" in result.output
    assert len(read_tum(tmp_path / "walk.tum")) == 6


def test_deprecated_options_have_no_effect_and_a_warning_each(folder):
    result = call(folder, "--target", "keyframe", "--refinement", "point_to_plane")
    assert result.exit_code == 0
    assert "--target has no effect" in result.output and "--refinement has no effect" in result.output


def test_incorrect_arguments_are_one_line_each(folder, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("invalid")
    (tmp_path / "words.txt").write_text("no poses\n")
    (tmp_path / "short.mcap").write_bytes(b"\x89MCAP0\r\n")
    (tmp_path / "poses.tum").touch()
    for arguments, words in (
        ((folder, "--truth", tmp_path / "missing.txt"), ("missing.txt",)),
        ((folder, "--truth", tmp_path / "words.txt"), ("words.txt",)),
        ((folder, "--truth", tmp_path / "poses.tum"), ("poses.tum",)),
        ((folder, "--voxel", -1), ("voxel",)),
        ((tmp_path / "short.mcap",), ("short.mcap", "mcap recover")),
        ((DATA / "lidar_walk", "--topic", "/nowhere"), ("/nowhere", "lidar_walk")),
        ((DATA / "lidar_walk", "--columns", "5"), ("columns", "lidar_walk")),
    ):
        assert_one_line(call(*arguments), *words)
    result = CliRunner().invoke(app, ["odometry", str(folder), "--weights", str(tmp_path / "missing.safetensors")])
    assert_one_line(result, "missing.safetensors")
    result = CliRunner().invoke(app, ["odometry", str(folder), "--device", "abacus"])
    assert_one_line(result, "abacus")
