"""Bags that are cut off, compressed, renamed or without stamps: undamaged data is read, the rest is named."""

from __future__ import annotations

import gzip
import logging
import shutil

import numpy as np
import pytest

from prnet_core.io.bags import BagError, open_bag
from prnet_core.io.cut_ros1 import CutRos1
from prnet_core.io.cut_sqlite import CutSqlite
from prnet_core.io.recordings import open_scans

pytest.importorskip("rosbags", reason="rosbags is not installed")


def stamps_of(path) -> list[float]:
    with open_bag(path) as bag:
        return [round(scan.stamp, 3) for scan in bag.scans()]


@pytest.fixture
def messages(bag_maker):
    """Thirty clouds of 36 kB."""
    rng = np.random.default_rng(0)
    return [
        ("/points", 100.1 + 0.1 * i, bag_maker.cloud(rng.normal(size=(3000, 3)), 100.0 + 0.1 * i)) for i in range(30)
    ]


def ros1_bag(path, messages, bag_maker, compression):
    """A ROS 1 bag whose chunks are compressed with None, 'bz2' or 'lz4'."""
    if compression is None:
        return bag_maker.write_ros1(path, messages)
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS1_NOETIC)
    writer = Writer(path)
    writer.set_compression(Writer.CompressionFormat[compression.upper()])
    with writer:
        connection = writer.add_connection("/points", messages[0][2].__msgtype__, typestore=types)
        for sequence, (_, time, message) in enumerate(messages):
            message = bag_maker._with_sequence(message, sequence)
            writer.write(connection, round(time * 1e9), types.serialize_ros1(message, message.__msgtype__))
    return path


@pytest.mark.parametrize("compression", [None, "bz2", "lz4"])
@pytest.mark.parametrize("share", [0.3, 0.62, 0.97])
def test_a_ros1_bag_without_its_end_is_read_up_to_the_cut(tmp_path, bag_maker, messages, caplog, compression, share):
    whole = ros1_bag(tmp_path / "whole.bag", messages, bag_maker, compression).read_bytes()
    for name in ("walk.bag", "walk.bag.active"):
        file = tmp_path / name
        file.write_bytes(whole[: int(share * len(whole))])
        if compression == "bz2" and share < 0.9:  # its first block of 0.9 MB is not complete
            with pytest.raises(BagError, match="no complete message in it; `rosbag reindex`"):
                stamps_of(file)
            continue
        stamps = stamps_of(file)
        assert stamps == [round(100.0 + 0.1 * i, 3) for i in range(len(stamps))]
        lost = 26 if compression == "bz2" else 8 if compression else 2  # blocks that are not complete
        assert share * 30 - lost <= len(stamps) <= share * 30 + 1
        assert f"{len(stamps)} messages are read" in caplog.text and "rosbag reindex" in caplog.text


@pytest.mark.parametrize("share", [0.3, 0.62, 0.97])
def test_a_sqlite_bag_without_its_end_is_read_up_to_the_cut(tmp_path, bag_maker, messages, caplog, share):
    folder = bag_maker.write(tmp_path / "walk", messages, "sqlite3")
    file = folder / "walk.db3"
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    for path in (file, folder):
        stamps = stamps_of(path)
        assert stamps == [round(100.0 + 0.1 * i, 3) for i in range(len(stamps))]
        assert share * 30 - 4 <= len(stamps) <= share * 30 + 1
    assert f"{len(stamps)} messages are read" in caplog.text and ".recover" in caplog.text


@pytest.mark.parametrize("reader, content", [(CutRos1, b""), (CutRos1, b"#ROSBAG V2.0\n" + b"\xff" * 400),
                                             (CutSqlite, b""), (CutSqlite, b"SQLite format 3\x00" * 99)])  # fmt: skip
def test_cut_readers_need_a_message(tmp_path, reader, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError):
        reader(tmp_path / "a")


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("mode", ["message", "file"])
def test_compressed_bags_with_and_without_their_metadata(tmp_path, bag_maker, scan_messages, storage, mode):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    writer = Writer(tmp_path / "walk", version=8, storage_plugin=StoragePlugin[storage.upper()])
    writer.set_compression(CompressionMode[mode.upper()], CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection("/points", "sensor_msgs/msg/PointCloud2", typestore=bag_maker.ros2)
        for _, time, cloud in scan_messages(3):
            writer.write(connection, round(time * 1e9), bag_maker.ros2.serialize_cdr(cloud, cloud.__msgtype__))
    assert stamps_of(tmp_path / "walk") == [100.0, 100.1, 100.2]
    (tmp_path / "walk" / "metadata.yaml").unlink()
    if mode == "message":
        assert stamps_of(tmp_path / "walk") == [100.0, 100.1, 100.2]
    else:
        with pytest.raises(BagError, match="compressed with zstd: unpack it first"):
            open_scans(tmp_path / "walk")


def test_a_bag_packed_by_hand_is_named_as_such(tmp_path, bag_maker, scan_messages):
    content = gzip.compress(bag_maker.write_ros1(tmp_path / "walk.bag", scan_messages(2)).read_bytes())
    for name in ("a.bag", "a.bag.gz"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BagError, match=f"{name}: compressed with gzip"):
            open_bag(tmp_path / name)


@pytest.mark.parametrize("storage, name", [("mcap", "WALK.MCAP"), ("sqlite3", "Walk.Db3"), ("ros1", "WALK.BAG")])
def test_suffixes_in_capitals(tmp_path, bag_maker, scan_messages, storage, name, caplog):
    (tmp_path / "folder").mkdir()
    if storage == "ros1":
        bag_maker.write_ros1(tmp_path / "walk.bag", scan_messages(3)).rename(tmp_path / "folder" / name)
    else:
        folder = bag_maker.write(tmp_path / "walk", scan_messages(3), storage)
        (file,) = (path for path in folder.iterdir() if path.suffix != ".yaml")
        shutil.move(file, tmp_path / "folder" / name)
    with caplog.at_level(logging.WARNING):
        for path in (tmp_path / "folder", tmp_path / "folder" / name):
            assert len(list(open_scans(path))) == 3
    assert not caplog.text


def test_stamps_that_are_not_set_are_those_of_the_recording(tmp_path, bag_maker, caplog):
    def bag(name, stamps):
        clouds = [("/points", 50.0 + i, bag_maker.cloud(np.ones((5, 3)), stamp)) for i, stamp in enumerate(stamps)]
        return bag_maker.write(tmp_path / name, clouds)

    assert stamps_of(bag("unset", [0.0, 0.0, 0.0])) == [50.0, 51.0, 52.0]
    assert "are not set" in caplog.text
    assert stamps_of(bag("simulation", [0.0, 0.1, 0.2])) == [0.0, 0.1, 0.2]
    assert stamps_of(bag("one", [0.0])) == [0.0]


def test_what_is_no_regular_file(tmp_path):
    (tmp_path / "a.mcap").symlink_to("/dev/zero")
    (tmp_path / "b.mcap").symlink_to(tmp_path / "b.mcap")
    with pytest.raises(BagError, match="not a regular file"):
        open_bag(tmp_path / "a.mcap")
    with pytest.raises(FileNotFoundError):
        open_bag(tmp_path / "b.mcap")
