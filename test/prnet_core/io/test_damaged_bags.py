"""Bags with damaged messages, parts and ends: undamaged data is read, the rest is counted and named."""

from __future__ import annotations

import dataclasses
import logging
import shutil
import sqlite3

import numpy as np
import pytest

from prnet_core.io.bag_poses import ground_truth, ground_truth_if_usable, static_transforms
from prnet_core.io.bags import BagError, open_bag
from prnet_core.io.cut_mcap import CutMcap
from prnet_core.io.recordings import open_scans

STRAIGHT = (0.0, 0.0, 0.0, 1.0)


def stamps_of(path) -> list[float]:
    with open_bag(path) as bag:
        return [round(scan.stamp, 3) for scan in bag.scans()]


def replace_data(path, row: int, data: bytes) -> None:
    """Other bytes for one message of a sqlite3 bag."""
    with sqlite3.connect(path) as database:
        (key,) = database.execute("SELECT id FROM messages ORDER BY timestamp LIMIT 1 OFFSET ?", (row,)).fetchone()
        database.execute("UPDATE messages SET data = ? WHERE id = ?", (data, key))


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x00\x00", b"\x00\x01\x00\x00" + b"\xff" * 200, b"\xff" * 40])
def test_an_undecodable_message_is_left_out_counted_and_named(tmp_path, bag_maker, scan_messages, caplog, data):
    folder = bag_maker.write(tmp_path / "walk", scan_messages(4), "sqlite3")
    replace_data(folder / "walk.db3", 1, data)
    with caplog.at_level(logging.WARNING), open_bag(folder) as bag:
        assert [round(scan.stamp, 3) for scan in bag.scans()] == [100.0, 100.2, 100.3]
        assert sum(bag.skipped.values()) == 1
    assert "left out" in caplog.text and "/points" in caplog.text


def test_a_bag_of_undecodable_messages_is_an_error_that_counts(tmp_path, bag_maker, scan_messages):
    folder = bag_maker.write(tmp_path / "walk", scan_messages(2), "sqlite3")
    for row in range(2):
        replace_data(folder / "walk.db3", row, b"\xff" * 40)
    with pytest.raises(BagError, match="no scan can be read: 2 not decodable"):
        list(open_scans(folder))


def test_scans_of_a_second_sensor_on_the_topic_are_left_out_and_counted(tmp_path, bag_maker, scan_messages, caplog):
    messages = scan_messages(6)
    for index in (1, 3, 4):
        topic, time, cloud = messages[index]
        header = dataclasses.replace(cloud.header, frame_id="rear")
        messages[index] = (topic, time, dataclasses.replace(cloud, header=header))
    scans = open_scans(bag_maker.write(tmp_path / "walk", messages))
    with caplog.at_level(logging.WARNING):
        assert [round(scan.stamp, 3) for scan in scans] == [100.0, 100.2, 100.5]
    assert dict(scans.skipped) == {"in the frame 'rear'": 3}
    assert caplog.text.count("rear") == 1


def test_a_leading_slash_makes_no_other_frame(tmp_path, bag_maker, scan_messages):
    messages = scan_messages(2)
    topic, time, cloud = messages[1]
    header = dataclasses.replace(cloud.header, frame_id="/lidar")
    messages[1] = (topic, time, dataclasses.replace(cloud, header=header))
    assert len(stamps_of(bag_maker.write(tmp_path / "walk", messages))) == 2


def test_the_frame_is_the_first_that_is_named(tmp_path, bag_maker, scan_messages):
    messages = scan_messages(4)
    topic, time, cloud = messages[0]
    messages[0] = (topic, time, dataclasses.replace(cloud, header=dataclasses.replace(cloud.header, frame_id="")))
    assert len(stamps_of(bag_maker.write(tmp_path / "walk", messages))) == 4


def test_fields_in_capitals(tmp_path, bag_maker, scan_messages):
    messages = scan_messages(2)
    topic, time, cloud = messages[1]
    fields = [dataclasses.replace(field, name=field.name.upper()) for field in cloud.fields]
    messages[1] = (topic, time, dataclasses.replace(cloud, fields=fields))
    assert len(stamps_of(bag_maker.write(tmp_path / "walk", messages))) == 2


def write_with(path, messages, bag_maker, compressed: bool = False):
    """An MCAP bag, its chunks compressed with zstd on request."""
    if not compressed:
        return bag_maker.write(path, messages)
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    writer = Writer(path, version=8, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection(messages[0][0], messages[0][2].__msgtype__, typestore=bag_maker.ros2)
        for _, time, message in messages:
            writer.write(connection, round(time * 1e9), bag_maker.ros2.serialize_cdr(message, message.__msgtype__))
    return path


@pytest.fixture
def long_messages(bag_maker):
    """Twenty clouds of 0.36 MB: several chunks, since rosbags closes one at 1 MB."""
    rng = np.random.default_rng(0)
    return [
        ("/points", 100.0 + i, bag_maker.cloud(rng.normal(size=(30_000, 3)), 100.0 + i)) for i in range(20)
    ]  # fmt: skip


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.55, 0.9])
def test_an_mcap_without_its_end_is_read_up_to_the_cut(tmp_path, bag_maker, long_messages, caplog, share, compressed):
    (file,) = write_with(tmp_path / "walk", long_messages, bag_maker, compressed).glob("*.mcap")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    for path in (file, file.parent):
        stamps = stamps_of(path)
        assert stamps == [100.0 + i for i in range(len(stamps))]
        lost = 3 if compressed else 1  # zstd blocks that are not complete
        assert share * 20 - lost - 0.5 <= len(stamps) <= share * 20 + 1
    assert f"{len(stamps)} messages are read" in caplog.text
    assert f"of {len(content) * share * 1e-6:.2f} MB" in caplog.text and "mcap recover" in caplog.text


def test_a_small_bag_in_one_chunk_is_read_up_to_the_cut(tmp_path, bag_maker, scan_messages):
    (file,) = bag_maker.write(tmp_path / "walk", scan_messages(10)).glob("*.mcap")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    (tmp_path / "walk" / "metadata.yaml").unlink()
    assert 2 <= len(stamps_of(tmp_path / "walk")) <= 9


def test_a_damaged_chunk_costs_itself_alone(tmp_path, bag_maker, long_messages, caplog):
    (file,) = write_with(tmp_path / "walk", long_messages, bag_maker, compressed=True).glob("*.mcap")
    content = bytearray(file.read_bytes())
    frame = content.find(b"\x28\xb5\x2f\xfd", len(content) // 2)  # where zstd data begins
    content[frame : frame + 64] = b"\xff" * 64
    file.write_bytes(content)
    stamps = stamps_of(file.parent)
    assert 14 <= len(stamps) < 20 and stamps[0] == 100.0 and stamps[-1] == 119.0
    assert "damaged after" in caplog.text


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_a_damaged_part_does_not_take_the_others_with_it(tmp_path, bag_maker, scan_messages, caplog, storage, damage):
    messages = scan_messages(6)
    folder = tmp_path / "split"
    folder.mkdir()
    for index in range(3):
        part = bag_maker.write(tmp_path / f"part_{index}", messages[2 * index : 2 * index + 2], storage)
        (file,) = (path for path in part.iterdir() if path.name != "metadata.yaml")
        shutil.move(file, folder / file.name)
    middle = folder / f"part_1.{'mcap' if storage == 'mcap' else 'db3'}"
    content = middle.read_bytes()
    middle.write_bytes({"cut": content[: len(content) // 3], "empty": b"", "garbage": b"\x01" * 500}[damage])
    stamps = stamps_of(folder)
    assert {100.0, 100.1, 100.4, 100.5} <= set(stamps)
    assert middle.name in caplog.text


@pytest.mark.parametrize("name", ["a.mcap", "a.db3", "a.bag"])
@pytest.mark.parametrize(
    "content", [b"", b"\x89MCAP0\r\n", b"\x00" * 8, b"#ROSBAG V2.0\n", b"SQLite format 3\x00" * 40]
)
def test_unreadable_files_are_named_with_the_tool_that_may_help(tmp_path, name, content):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    (tmp_path / name).write_bytes(content)
    tool = {"a.mcap": "mcap recover", "a.db3": "recover", "a.bag": "rosbag reindex"}[name]
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(BagError, match=tool) as error:
            open_bag(path)
        assert name in str(error.value)


def test_a_ros1_bag_without_its_index_names_the_tool(tmp_path, bag_maker, scan_messages):
    file = bag_maker.write_ros1(tmp_path / "walk.bag", scan_messages(3))
    file.write_bytes(file.read_bytes()[:-60])
    try:
        stamps = stamps_of(file)
    except BagError as error:
        assert "rosbag reindex" in str(error)
    else:
        assert stamps == [100.0, 100.1, 100.2][: len(stamps)]


def test_a_cut_reader_needs_a_message(tmp_path):
    (tmp_path / "a.mcap").write_bytes(b"\x89MCAP0\r\n")
    with pytest.raises(ValueError, match="no complete message"):
        CutMcap(tmp_path / "a.mcap")


# --- ground truth that is only for comparison -------------------------------------------------------------


def walk_with_truth(bag_maker, scan_messages, frame="lidar", quaternion=STRAIGHT, x=0.0):
    """Scans and ground truth; one of its poses has this quaternion and x."""
    true_poses = [
        ("/ground_truth/tf", 100.0 + 0.1 * i, bag_maker.tf(bag_maker.transform(
            "map", frame, (x if i == 1 else float(i), 0.0, 0.0), quaternion if i == 1 else STRAIGHT, 100.0 + 0.1 * i)))
        for i in range(3)
    ]  # fmt: skip
    return [*scan_messages(3), *true_poses]


@pytest.mark.parametrize(
    "invalid", [{"quaternion": (0.0, 0.0, 0.0, 0.0)}, {"quaternion": (np.nan, 0.0, 0.0, 1.0)}, {"x": np.inf}]
)
def test_a_pose_that_is_none_is_left_out(tmp_path, bag_maker, scan_messages, caplog, invalid):
    scans = open_scans(bag_maker.write(tmp_path / "walk", walk_with_truth(bag_maker, scan_messages, **invalid)))
    np.testing.assert_allclose(scans.ground_truth.stamps, [100.0, 100.2])
    assert len(list(scans)) == 3
    assert caplog.text.count("/ground_truth/tf") == 1


def test_ground_truth_of_an_unconnected_frame_costs_only_the_comparison(tmp_path, bag_maker, scan_messages, caplog):
    folder = bag_maker.write(tmp_path / "walk", walk_with_truth(bag_maker, scan_messages, frame="elsewhere"))
    scans = open_scans(folder)
    assert scans.ground_truth is None and len(list(scans)) == 3
    assert "no ground truth is used" in caplog.text and "elsewhere" in caplog.text
    with open_bag(folder) as bag:
        assert ground_truth_if_usable(bag, "lidar") is None
        with pytest.raises(BagError, match="elsewhere"):
            ground_truth(bag, "lidar")


def test_an_undecodable_pose_and_a_static_transform_without_rotation_are_left_out(
    tmp_path, bag_maker, scan_messages, caplog
):
    statics = bag_maker.tf(
        bag_maker.transform("base", "lidar", (0.0, 0.0, 1.0), STRAIGHT, 9.0),
        bag_maker.transform("base", "camera", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0), 9.0),
    )
    messages = [("/tf_static", 99.0, statics), *walk_with_truth(bag_maker, scan_messages, frame="base")]
    folder = bag_maker.write(tmp_path / "walk", messages, "sqlite3")
    replace_data(folder / "walk.db3", 1, b"\x00\x01\x00\x00\xff")
    with open_bag(folder) as bag:
        assert set(static_transforms(bag)) == {"lidar"}
        assert len(ground_truth(bag, "lidar").stamps) == 2
    assert "poses are left out" in caplog.text
