"""Inputs for benchmarks/fuzz_readers.py: damaged files of the corpus, odd PointCloud2 messages, damaged bags."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from reader_corpus import corpus

NUMBERS = [b"-1", b"0", b"1", b"3", b"255", b"65536", b"4294967295", b"99999999999999999999", b"nan", b"1e9", b"x", b""]
WORDS = [b"list", b"uchar", b"double", b"float", b"vertex", b"x", b"ascii", b"binary", b"binary_compressed", b"F", b"U",
         b"property list uchar int a\n", b"element face 2\n", b"POINTS 9\n", b"COUNT 1 1 9\n", b"x,y,z\n", b"#", b"\n",
         b",", b";", b"\"", b"\r", b"\x00"]  # fmt: skip


def damaged(rng: np.random.Generator, content: bytes, other: bytes, most: int = 20_000) -> bytes:
    """The first `most` bytes of the content with one to four kinds of damage."""
    data = bytearray(content[:most])
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(data) + 1)) if rng.random() < 0.5 else int(rng.integers(min(len(data), 300) + 1))
        length = int(rng.integers(1, 40))
        kind = rng.integers(8)
        if kind == 0:
            data[place : place + length] = rng.bytes(length)
        elif kind == 1:
            del data[place : place + length]
        elif kind == 2:
            data[place:place] = data[place : place + length] * int(rng.integers(1, 4))
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            data[place:place] = WORDS[rng.integers(len(WORDS))]
        elif kind == 5:
            data = replace_number(rng, data)
        elif kind == 6:
            data[place:] = other[int(rng.integers(len(other) + 1)) :][:20_000]
        elif place < len(data):
            data[place] ^= 1 << int(rng.integers(8))
    return bytes(data)


def replace_number(rng: np.random.Generator, data: bytearray) -> bytearray:
    """Another number for one of the words in the first lines."""
    words = data[:400].split(b" ")
    which = int(rng.integers(len(words)))
    tail = words[which][words[which].find(b"\n") :] if b"\n" in words[which] else b""
    words[which] = bytearray(NUMBERS[rng.integers(len(NUMBERS))] + tail)
    return bytearray(b" ".join(words)) + data[400:]


def file_inputs(suffix: str, seed: int):
    """Endless (name, content) for a kind of file."""
    rng = np.random.default_rng([seed, *suffix.encode()])
    contents = [case.content for case in corpus() if case.name.endswith(suffix)]
    while True:
        if rng.random() < 0.05:
            yield rng.bytes(int(rng.integers(0, 2000)))
        else:
            first, second = rng.integers(len(contents), size=2)
            yield damaged(rng, contents[first], contents[second])


def message_inputs(seed: int):
    """Endless PointCloud2 messages, most of them nearly correct."""
    rng = np.random.default_rng(seed)
    names = ["x", "y", "z", "t", "time", "timestamp", "offset_ns", "intensity", "timeOffset"]
    while True:
        num_points, step = int(rng.integers(0, 60)), int(rng.choice([12, 16, 20, 24, 32, rng.integers(0, 64)]))
        fields = [
            SimpleNamespace(name=name, offset=4 * i, datatype=7, count=1) for i, name in enumerate(("x", "y", "z"))
        ]
        for name in rng.choice(names, size=rng.integers(0, 3)):
            offset, datatype = int(rng.integers(0, 40)), int(rng.integers(1, 9))
            fields.append(SimpleNamespace(name=str(name), offset=offset, datatype=datatype, count=1))
        if rng.random() < 0.3 and fields:
            setattr(fields[rng.integers(len(fields))], rng.choice(["offset", "datatype"]), int(rng.integers(-1, 2**33)))
        data = rng.bytes(num_points * step)
        if rng.random() < 0.5:
            data = rng.normal(size=num_points * step // 4 + 1).astype("<f4").tobytes()[: num_points * step]
        message = SimpleNamespace(
            header=SimpleNamespace(frame_id="lidar", stamp=SimpleNamespace(sec=int(rng.integers(0, 2**31)), nanosec=1)),
            height=1, width=num_points, point_step=step, row_step=step * num_points, fields=fields, data=data,
            is_bigendian=bool(rng.random() < 0.2), is_dense=True,
        )  # fmt: skip
        for name in ("height", "width", "point_step", "row_step"):
            if rng.random() < 0.1:
                setattr(message, name, int(rng.choice([0, 1, 2, 3, 7, 2**16, 2**31, 2**32 - 1])))
        if rng.random() < 0.1:
            message.data = data[: rng.integers(len(data) + 1)]
        yield message


def bag_contents(kind: str, folder: Path) -> list[bytes]:
    """Small bags of a kind: 'mcap' (uncompressed, zstd chunks), 'db3', 'bag' (ROS 1: uncompressed, bz2, lz4)."""
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS1_NOETIC if kind == "bag" else Stores.ROS2_JAZZY)
    make = types.types
    clouds = []
    for index in range(4):
        stamp = make["builtin_interfaces/msg/Time"](index, 0)
        header = make["std_msgs/msg/Header"](*([index] if kind == "bag" else []), stamp, "lidar")
        fields = [make["sensor_msgs/msg/PointField"](name, 4 * i, 7, 1) for i, name in enumerate("xyz")]
        points = np.random.default_rng(index).normal(size=(20, 3)).astype("<f4")
        data = np.frombuffer(points.tobytes(), np.uint8)
        clouds.append(make["sensor_msgs/msg/PointCloud2"](header, 1, 20, fields, False, 12, 240, data, True))
    serialize = types.serialize_ros1 if kind == "bag" else types.serialize_cdr
    contents = []
    for number, writer in enumerate(bag_writers(kind, folder)):
        with writer:
            connection = writer.add_connection("/points", clouds[0].__msgtype__, typestore=types)
            for index, cloud in enumerate(clouds):
                writer.write(connection, index * 10**8, serialize(cloud, cloud.__msgtype__))
        contents += [file.read_bytes() for file in (folder / f"{number}").rglob(f"*.{kind}")]
    return contents


def bag_writers(kind: str, folder: Path):
    """Writers of bags of a kind in folders 0, 1, 2."""
    if kind == "bag":
        from rosbags.rosbag1 import Writer

        for number, compression in enumerate((None, Writer.CompressionFormat.BZ2, Writer.CompressionFormat.LZ4)):
            (folder / f"{number}").mkdir()
            writer = Writer(folder / f"{number}" / "a.bag")
            if compression:
                writer.set_compression(compression)
            yield writer
        return
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    storage = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
    for number in range(2 if kind == "mcap" else 1):
        writer = Writer(folder / f"{number}", version=8, storage_plugin=storage)
        if number:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        yield writer


def bag_inputs(kind: str, seed: int, folder: Path):
    """Endless damaged bag files."""
    contents = bag_contents(kind, folder)
    rng = np.random.default_rng([seed, *kind.encode()])
    while True:
        first, second = rng.integers(len(contents), size=2)
        yield damaged(rng, contents[first], contents[second], 100_000)
