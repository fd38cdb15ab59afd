"""Answers of the map process for maps and disks that cannot be used. No ROS."""

import json

import numpy as np
import pytest

from prnet_core.mapping import KeyframeMap, MapError, MapKeyframe
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.storage import load_map, save_map
from prnet_core.registration import RegistrationConfig
from prnet_core.simulation.lidar import SpinningLidar
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.rooms import furnished_room
from prnet_core.simulation.two_scans import scan_from, sensor_pose
from prnet_ros.node.map_process import MapScan, MapSetup
from prnet_ros.node.map_server import LocalizationServer, MappingServer

SENSOR = SpinningLidar(channels=16, columns=180)


@pytest.fixture(autouse=True)
def same_priority(monkeypatch):
    """The servers lower the priority of their process, which is this one here."""
    monkeypatch.setattr("os.nice", lambda _: 0)


def drive(seed: int, size: tuple[float, float], number: int) -> list[MapScan]:
    """Scans along a line in a room."""
    scene = RayScene.from_solids(furnished_room(np.random.default_rng(seed), size))
    first = sensor_pose((-0.8, 0.0, 1.2), 0.0)
    scans = []
    for index in range(number):
        pose = sensor_pose((0.4 * index - 0.8, 0.0, 1.2), 10.0 * index)
        points = scan_from(SENSOR, scene, pose, np.random.default_rng(index)).astype(np.float32)
        scans.append(MapScan(points, 0.2 * index, np.linalg.inv(first) @ pose, 0, np.eye(6) * 1e-6, np.eye(4)))
    return scans


def setup(folder="", **more) -> MapSetup:
    config = MappingConfig(keyframe_distance=0.05, keyframe_angle=0.1)
    return MapSetup(str(folder), "none", "cpu", 1, RegistrationConfig(), config, **more)


@pytest.fixture
def saved(tmp_path):
    keyframes = KeyframeMap()
    for scan in drive(2, (10.0, 8.0), 4):
        keyframes.add(MapKeyframe(scan.points, scan.stamp), scan.T_odom_sensor)
    return save_map(keyframes, tmp_path / "map", 0.1)


def change(folder, **values):
    record = json.loads((folder / "map.json").read_text())
    (folder / "map.json").write_text(json.dumps(record | values))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "map.json").unlink(), "no map"),
        (lambda folder: change(folder, keyframes=0), "no keyframes"),
        (lambda folder: change(folder, keyframes=True), "missing"),
        (lambda folder: change(folder, unit="foot"), "unit"),
        (lambda folder: change(folder, format="another_map"), "not a map of this program"),
        (lambda folder: (folder / "poses.tum").write_text(""), "poses.tum"),
        (lambda folder: (folder / "keyframes" / "000002.ply").unlink(), "000002.ply"),
        (lambda folder: (folder / "map.json").write_bytes(b"\x00" * 100), "not readable"),
    ],
)
def test_a_map_that_cannot_be_used_is_named_to_whoever_asks(saved, spoil, words):
    spoil(saved)
    server = LocalizationServer(setup(saved))
    assert words in server.loaded.problem and str(saved) in server.loaded.problem
    for ask in (lambda: server.add_scan(drive(2, (10.0, 8.0), 1)[0]), server.search, server.forget):
        with pytest.raises(MapError, match=words):
            ask()


def test_in_the_map_of_another_place_nothing_is_found(saved):
    server = LocalizationServer(setup(saved))
    for scan in drive(9, (6.0, 4.0), 4):
        answer = server.add_scan(scan)
        assert answer.pose.state == "searching" and answer.pose.found is None and answer.pose.T_map_odom is None


def no_space(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    kept = tmp_path / "kept"
    kept.mkdir()
    server, scans = MappingServer(setup(checkpoint=str(kept))), drive(2, (10.0, 8.0), 5)
    for scan in scans[:3]:
        assert server.add_scan(scan).pose.note == ""
    old = load_map(tmp_path / "map") if server.save(str(tmp_path / "map")) else None
    with monkeypatch.context() as patch:
        patch.setattr("prnet_core.mapping.storage.write_ply", no_space)
        patch.setattr(np, "savez", no_space)
        with pytest.raises(MapError, match="No space left"):
            server.save(str(tmp_path / "map"))
        assert len(load_map(tmp_path / "map")) == len(old)
        assert "is lost if its process ends: " in server.add_scan(scans[3]).pose.note
    assert server.add_scan(scans[4]).pose.note == ""  # reported once
    assert "5 keyframes" in server.save(str(tmp_path / "map")) and len(load_map(tmp_path / "map")) == 5


def test_the_next_process_goes_on_with_the_map(tmp_path):
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    scans = drive(2, (10.0, 8.0), 5)
    first = MappingServer(setup(checkpoint=str(tmp_path)))
    for scan in scans[:3]:
        first.add_scan(scan)
    second = MappingServer(setup(checkpoint=str(tmp_path)))
    assert second.loaded.num_keyframes == 3 and "3 keyframes" in second.loaded.note
    assert second.add_scan(scans[3]).num_keyframes == 4
    (tmp_path / "state.npz").write_bytes(b"cut")
    third = MappingServer(setup(checkpoint=str(tmp_path)))
    assert "a new map starts" in third.loaded.note and third.add_scan(scans[4]).num_keyframes == 1
