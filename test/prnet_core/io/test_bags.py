"""Bags of every kind give the same scans, and list their topics when one is missing."""

from __future__ import annotations

import dataclasses
import logging
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from prnet_core.io import bags
from prnet_core.io.bags import BagError, open_bag

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "scans" / "rosbag"


def read_all(path: Path, topic: str | None = None):
    with open_bag(path) as bag:
        return list(bag.scans(topic))


def assert_is_the_sample(scans, number: int) -> None:
    """The scans are those of `scan_messages`."""
    assert [scan.frame_id for scan in scans] == ["lidar"] * number
    np.testing.assert_allclose([scan.stamp for scan in scans], 100.0 + 0.1 * np.arange(number), atol=1e-6)
    for index, scan in enumerate(scans):
        np.testing.assert_array_equal(scan.cloud.points, np.arange(3.0 * (index + 1)).reshape(-1, 3))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_folder_and_single_file_read_alike(tmp_path, bag_maker, scan_messages, storage):
    folder = bag_maker.write(tmp_path / "walk", scan_messages(4), storage)
    assert_is_the_sample(read_all(folder), 4)
    (file,) = (path for path in folder.iterdir() if path.name != "metadata.yaml")
    assert_is_the_sample(read_all(file), 4)
    (folder / "metadata.yaml").unlink()
    assert_is_the_sample(read_all(folder), 4)


def test_ros1_bag_reads_as_the_ros2_bag_does(tmp_path, bag_maker, scan_messages):
    ros1 = bag_maker.write_ros1(tmp_path / "walk.bag", scan_messages(3))
    ros2 = bag_maker.write(tmp_path / "walk", scan_messages(3))
    assert_is_the_sample(read_all(ros1), 3)
    with open_bag(ros1) as old, open_bag(ros2) as new:
        assert list(old.raw_messages()) == list(new.raw_messages())


def test_bag_without_type_definitions(tmp_path, bag_maker, scan_messages):
    folder = bag_maker.write(tmp_path / "old", scan_messages(2), "sqlite3")
    with sqlite3.connect(folder / "old.db3") as database:
        database.execute("DELETE FROM message_definitions")
    assert_is_the_sample(read_all(folder), 2)


def test_type_nobody_knows_does_not_keep_the_clouds_from_being_read(tmp_path, bag_maker, scan_messages):
    folder = bag_maker.write(tmp_path / "mixed", scan_messages(2), "sqlite3")
    with sqlite3.connect(folder / "mixed.db3") as database:
        database.execute("UPDATE message_definitions SET encoded_message_definition = '@@ not a definition'")
    assert_is_the_sample(read_all(folder), 2)


def test_metadata_that_names_a_missing_file_is_no_obstacle(tmp_path, bag_maker, scan_messages, caplog):
    folder = bag_maker.write(tmp_path / "walk", scan_messages(2))
    (folder / "walk.mcap").rename(folder / "renamed.mcap")
    assert_is_the_sample(read_all(folder), 2)
    assert "walk.mcap" in caplog.text


def test_split_bag_without_metadata_is_read_in_order(tmp_path, bag_maker, scan_messages):
    messages = scan_messages(11)
    folder = tmp_path / "split"
    folder.mkdir()
    for index, message in enumerate(messages):
        part = bag_maker.write(tmp_path / f"part_{index}", [message])
        (part / f"part_{index}.mcap").rename(folder / f"part_{index}.mcap")
    assert_is_the_sample(read_all(folder), 11)


def test_topic_is_chosen_or_the_topics_are_listed(tmp_path, bag_maker, scan_messages):
    transform = bag_maker.tf(bag_maker.transform("map", "lidar", (0, 0, 0), (0, 0, 0, 1), 100.0))
    messages = [*scan_messages(2, "/front/points"), *scan_messages(3, "/rear"), ("/tf", 100.0, transform)]
    with open_bag(bag_maker.write(tmp_path / "two", messages)) as bag:
        assert bag.point_cloud_topics() == ["/front/points", "/rear"]
        assert bag.point_cloud_topic("rear") == bag.point_cloud_topic("/rear") == "/rear"
        assert_is_the_sample(list(bag.scans("front/points")), 2)
        for topic, problem in ((None, "several"), ("/nowhere", "no topic /nowhere"), ("/tf", "TFMessage")):
            with pytest.raises(BagError, match=problem) as error:
                bag.scans(topic)
            assert "/front/points (2 scans), /rear (3 scans)" in str(error.value)
    with open_bag(bag_maker.write(tmp_path / "none", [("/tf", 100.0, transform)])) as bag:
        with pytest.raises(BagError, match="in this bag: none"):
            bag.point_cloud_topic()


def test_cloud_that_cannot_be_read_is_left_out_and_reported(tmp_path, bag_maker, scan_messages, caplog):
    messages = scan_messages(3)
    topic, time, cloud = messages[1]
    messages[1] = (topic, time, dataclasses.replace(cloud, fields=cloud.fields[:2]))
    with caplog.at_level(logging.WARNING):
        scans = read_all(bag_maker.write(tmp_path / "walk", messages))
    np.testing.assert_allclose([scan.stamp for scan in scans], [100.0, 100.2], atol=1e-6)
    assert "left out" in caplog.text and " z" in caplog.text


def test_scans_are_read_one_at_a_time(tmp_path, bag_maker, scan_messages, monkeypatch):
    calls = []
    read_cloud = bags.read_cloud
    monkeypatch.setattr(bags, "read_cloud", lambda message: calls.append(1) or read_cloud(message))
    with open_bag(bag_maker.write(tmp_path / "walk", scan_messages(5))) as bag:
        scans = bag.scans()
        assert len(calls) == 0
        next(scans)
        assert len(calls) == 1


def test_what_is_no_bag_is_named(tmp_path):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_bag(tmp_path / "nowhere")
    with pytest.raises(BagError, match="no metadata.yaml"):
        open_bag(tmp_path)
    for name in ("text.txt", "empty.mcap", "broken.db3", "broken.bag"):
        (tmp_path / name).write_bytes(b"" if name.startswith("empty") else b"this is no bag")
        with pytest.raises(BagError, match=name):
            open_bag(tmp_path / name)


@pytest.mark.parametrize(
    "name, number",
    [("balm_15_mcap", 15), ("balm_5_db3", 5), ("balm_5_ros1.bag", 5), ("balm_15_mcap/balm_15_mcap.mcap", 15)],
)
def test_real_bags(name, number):
    if not (SHARED / name).exists():
        pytest.skip(f"needs shared/data/scans/rosbag/{name} beside the checkout")
    scans = read_all(SHARED / name)
    assert len(scans) == number
    assert all(scan.cloud.points.shape == (12288, 3) and scan.frame_id == "lidar" for scan in scans)
    assert np.all(np.diff([scan.stamp for scan in scans]) > 0.4)
