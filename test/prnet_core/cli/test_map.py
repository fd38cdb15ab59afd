"""`prnet map`, `prnet localize`, `prnet merge` on a part of the embedded bag."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prnet_core.cli.main import app
from prnet_core.geometry import se3
from prnet_core.io.recordings import open_scans
from prnet_core.mapping.storage import load_map

pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
WALK = Path(__file__).parents[2] / "data" / "lidar_walk"


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments), "--weights", "none"])


@pytest.fixture(scope="module")
def recording():
    recording = open_scans(WALK)
    return list(islice(recording, 12)), recording.ground_truth


@pytest.fixture(scope="module")
def made(recording, tmp_path_factory):
    """A folder with ten scans of the walk, the map made of them, and what the command printed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "scans").mkdir()
    for k, scan in enumerate(recording[0][:10]):
        np.save(folder / "scans" / f"{k}.npy", scan.points[np.isfinite(scan.points).all(axis=1)])
    result = call("map", folder / "scans", "--out", folder / "map", "--picture", folder / "map.png")
    return folder, result


def test_a_map_is_made_with_a_picture(made):
    folder, result = made
    assert result.exit_code == 0, result.output
    assert "10 scans: 1 first" in result.output and "MB), 0 loop closures" in result.output
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    assert len(load_map(folder / "map")) >= 2 and (folder / "map" / "map.ply").stat().st_size > 10_000


def test_a_scan_is_localized_and_the_features_are_kept(made, recording, tmp_path):
    folder, (scans, true_poses) = made[0], recording
    np.save(tmp_path / "scan.npy", scans[11].points[np.isfinite(scans[11].points).all(axis=1)])
    result = call("localize", tmp_path / "scan.npy", "--map", folder / "map", "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    assert answer["status"] == "accepted"
    error = se3.invert(se3.invert(true_poses.poses[0]) @ true_poses.poses[11]) @ np.array(answer["T_map_sensor"])
    assert np.linalg.norm(error[:3, 3]) < 0.3 and se3.rotation_angle(error[:3, :3]) < 0.1
    assert (folder / "map" / "features.npz").is_file()
    again = json.loads(call("localize", tmp_path / "scan.npy", "--map", folder / "map", "--json").output)
    np.testing.assert_allclose(again["T_map_sensor"], answer["T_map_sensor"], atol=1e-9)

    np.save(tmp_path / "foreign.npy", np.random.default_rng(0).normal(size=(3000, 3)))
    result = call("localize", tmp_path / "foreign.npy", "--map", folder / "map")
    assert result.exit_code == 1 and "rejected: no place of" in result.output


def test_a_map_merged_with_itself_and_what_cannot_be_used(made, tmp_path):
    folder = made[0]
    result = call("merge", folder / "map", folder / "map", "--out", tmp_path / "both")
    assert result.exit_code == 0, result.output
    assert len(load_map(tmp_path / "both")) == 2 * len(load_map(folder / "map"))
    numbers = [float(number) for row in result.output.splitlines()[1:5] for number in row.split()]
    np.testing.assert_allclose(np.reshape(numbers, (4, 4)), np.eye(4), atol=0.02)

    for arguments, text in (
        (("localize", folder / "scans" / "0.npy", "--map", folder / "scans"), "is no map"),
        (("merge", folder / "map", tmp_path / "none", "--out", tmp_path / "joined"), "is no map"),
        (("map", folder / "scans", "--out", folder), "holds no map: it is not replaced"),
        (("map", folder / "scans", "--out", tmp_path / "map", "--picture", tmp_path / "map.xyz"), "map.xyz"),
    ):
        result = call(*arguments)
        assert result.exit_code == 2 and text in result.output, result.output
        assert len(result.output.strip().splitlines()) == 1
