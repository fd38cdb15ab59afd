"""Building a map continues after its process has died; a saved map is complete whenever its writer is killed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from prnet_core.mapping.builder import MapBuilder
from prnet_core.mapping.checkpoint import MapCheckpoint
from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.exchange import replace_folder
from prnet_core.mapping.from_odometry import OdometryMapper
from prnet_core.mapping.keyframe_map import KeyframeMap, MapKeyframe
from prnet_core.mapping.storage import load_map, save_map
from prnet_core.registration import Registration

WRITER = """
import sys
import numpy as np
from prnet_core.mapping.keyframe_map import KeyframeMap, MapKeyframe
from prnet_core.mapping.storage import save_map
keyframe_map = KeyframeMap()
for k in range(10):
    points = np.random.default_rng(k).normal(size=(3000, 3)).astype(np.float32)
    keyframe_map.add(MapKeyframe(points, float(k)), np.eye(4))
print("ready", flush=True)
while True:
    save_map(keyframe_map, sys.argv[1], 0.2)
"""


def new_mapper():
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    config = MappingConfig(keyframe_distance=0.05, closure_gap=6, max_keyframes=10)
    return OdometryMapper(MapBuilder(Registration(None), config))


def feed(mapper, scan_at, steps):
    """Scans on a circle in a room, some of them at one place; poses by exact odometry."""
    for step in steps:
        angle = np.pi * step / 6
        points, pose = scan_at(0, 0.8 * np.cos(angle), 0.8 * np.sin(angle), 30.0 * step, seed=step)
        yield mapper.add_scan(points, pose, 100.0 + step, np.eye(6) * 1e-4)


def test_another_mapper_goes_on_with_the_same_map(scan_at, tmp_path):
    alone, dies = new_mapper(), new_mapper()
    checkpoint = MapCheckpoint(tmp_path)
    list(feed(alone, scan_at, range(16)))
    for kept in feed(dies, scan_at, range(12)):
        assert kept
        checkpoint.write(dies, 7)
    assert len(list(tmp_path.glob("0*.npy"))) == 10 and dies.builder.num_dropped == 2

    goes_on, kept = new_mapper(), MapCheckpoint(tmp_path)
    assert kept.read(goes_on) == 7
    for _ in feed(goes_on, scan_at, range(12, 16)):
        kept.write(goes_on, 7)
    ours, theirs = goes_on.builder, alone.builder
    assert [frame.stamp for frame in ours.map.keyframes] == [frame.stamp for frame in theirs.map.keyframes]
    assert [(c.first, c.second, c.is_closure) for c in ours.map.constraints] == [
        (c.first, c.second, c.is_closure) for c in theirs.map.constraints
    ]
    np.testing.assert_allclose(ours.map.poses, theirs.map.poses, atol=1e-6)
    np.testing.assert_allclose(ours.T_map_odom, theirs.T_map_odom, atol=1e-6)
    assert ours.num_dropped == theirs.num_dropped and ours.voxel_size == theirs.voxel_size
    assert len(list(tmp_path.glob("0*.npy"))) == 10 and not list(tmp_path.glob(".*"))


def test_a_checkpoint_that_is_missing_damaged_or_cannot_be_written(scan_at, tmp_path, monkeypatch):
    checkpoint, mapper = MapCheckpoint(tmp_path), new_mapper()
    assert checkpoint.read(mapper) is None
    list(feed(mapper, scan_at, range(2)))
    checkpoint.write(mapper, 1)

    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    list(feed(mapper, scan_at, range(2, 4)))
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", full_disk)
        with pytest.raises(OSError, match="No space left"):
            checkpoint.write(mapper, 1)
    other = new_mapper()
    assert MapCheckpoint(tmp_path).read(other) == 1 and len(other.builder.map) == 2

    (tmp_path / "000001.npy").write_bytes(b"cut")
    empty = new_mapper()
    with pytest.raises(ValueError, match="damaged"):
        MapCheckpoint(tmp_path).read(empty)
    assert len(empty.builder.map) == 0
    checkpoint.clear()
    assert checkpoint.read(empty) is None and not list(tmp_path.iterdir())


def test_a_saved_map_is_whole_whenever_its_writer_is_killed(tmp_path):
    keyframe_map = KeyframeMap()
    keyframe_map.add(MapKeyframe(np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32), 1.0), np.eye(4))
    folder = save_map(keyframe_map, tmp_path / "map", 0.2)
    rng = np.random.default_rng(1)
    for attempt in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(float(rng.uniform(0.0, 0.15)))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        assert len(load_map(folder)) in (1, 10), attempt
    save_map(keyframe_map, folder, 0.2)
    assert [path.name for path in tmp_path.iterdir()] == ["map"]  # what the killed ones left is removed


@pytest.mark.parametrize("can_exchange", [True, False])
def test_folders_are_exchanged(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr("prnet_core.mapping.exchange._exchange", lambda *_: False)
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    replace_folder(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old" / "file").read_text() == "new" and (tmp_path / "new" / "file").read_text() == "old"
    replace_folder(tmp_path / "new", tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "other"]


def test_a_link_to_a_map_stays_a_link(tmp_path):
    keyframe_map = KeyframeMap()
    keyframe_map.add(MapKeyframe(np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32), 1.0), np.eye(4))
    (tmp_path / "link").symlink_to(tmp_path / "map")
    for _ in range(2):
        save_map(keyframe_map, tmp_path / "link", 0.2)
        assert (tmp_path / "link").is_symlink() and len(load_map(tmp_path / "map")) == 1
