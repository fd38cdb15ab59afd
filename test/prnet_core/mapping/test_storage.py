"""A map is written whole or not at all, and read back or refused by name."""

import json

import numpy as np
import pytest

from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.mapping import KeyframeMap, MapError, MapKeyframe, PoseConstraint
from prnet_core.mapping.storage import check_map_target, load_map, save_map


@pytest.fixture
def small_map():
    rng = np.random.default_rng(0)
    keyframe_map = KeyframeMap()
    for k in range(3):
        pose = np.eye(4)
        pose[0, 3] = k
        keyframe_map.add(MapKeyframe(rng.normal(size=(200, 3)).astype(np.float32), 100.0 + k), pose)
    step = np.eye(4)
    step[0, 3] = 1.0
    keyframe_map.constraints = [PoseConstraint(k, k + 1, step, np.eye(6) * 1e-4, k == 1) for k in range(2)]
    return keyframe_map


def test_round_trip(small_map, tmp_path):
    loaded = load_map(save_map(small_map, tmp_path / "map", 0.1))
    assert len(loaded) == 3 and len(loaded.closures) == 1
    for ours, theirs in zip(small_map.keyframes, loaded.keyframes, strict=True):
        np.testing.assert_array_equal(ours.points, theirs.points)
        assert ours.stamp == theirs.stamp
    np.testing.assert_allclose(loaded.poses, small_map.poses, atol=1e-8)
    np.testing.assert_array_equal(loaded.constraints[1].T_first_second, small_map.constraints[1].T_first_second)
    assert len(read_cloud_file(tmp_path / "map" / "map.ply")) > 100
    assert [path.name for path in tmp_path.iterdir()] == ["map"]


def test_an_old_map_stays_whole_when_writing_fails(small_map, tmp_path, monkeypatch):
    folder = save_map(small_map, tmp_path / "map", 0.1)

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prnet_core.mapping.storage.write_tum", full_disk)
    with pytest.raises(MapError, match="No space left on device"):
        save_map(small_map, folder, 0.1)
    monkeypatch.undo()
    assert len(load_map(folder)) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["map"]


def test_a_folder_that_is_no_map_is_not_replaced(small_map, tmp_path):
    (tmp_path / "holiday.jpg").write_text("x")
    with pytest.raises(MapError, match="holds no map"):
        save_map(small_map, tmp_path, 0.1)
    with pytest.raises(MapError, match="there is no folder"):
        check_map_target(tmp_path / "missing" / "map")


def test_an_empty_map_is_not_written(tmp_path):
    with pytest.raises(MapError, match="no keyframes"):
        save_map(KeyframeMap(), tmp_path / "map", 0.1)


def damage_poses(folder):
    (folder / "poses.tum").write_text("1 2 3\n")


def damage_keyframe(folder):
    (folder / "keyframes" / "000001.ply").write_bytes(b"x")


def damage_unit(folder):
    record = json.loads((folder / "map.json").read_text())
    (folder / "map.json").write_text(json.dumps(record | {"unit": "foot"}))


def damage_version(folder):
    record = json.loads((folder / "map.json").read_text())
    (folder / "map.json").write_text(json.dumps(record | {"version": 99}))


def damage_constraint(folder):
    record = json.loads((folder / "map.json").read_text())
    record["constraints"][0]["second"] = 17
    (folder / "map.json").write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (damage_poses, "poses.tum"),
        (damage_keyframe, "000001.ply"),
        (damage_unit, "unit is 'foot'"),
        (damage_version, "version 99"),
        (damage_constraint, "names a keyframe that does not exist"),
        (lambda folder: (folder / "map.json").write_text("{"), "map.json: not readable"),
        (lambda folder: (folder / "map.json").unlink(), "has no map.json"),
        (lambda folder: (folder / "keyframes" / "000002.ply").unlink(), "000002.ply"),
    ],
)
def test_a_damaged_map_is_refused_by_name(small_map, tmp_path, damage, text):
    folder = save_map(small_map, tmp_path / "map", 0.1)
    damage(folder)
    with pytest.raises(MapError, match=text):
        load_map(folder)
