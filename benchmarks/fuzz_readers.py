"""Fuzz every reader: only the documented exceptions, no hang, no memory beyond ten times the input.

    python benchmarks/fuzz_readers.py [--inputs 200000] [--seed 0] [--kinds .ply .pcd ...]

Inputs are files of the corpus with damage (bytes changed, cut out, repeated, numbers and words of headers replaced),
pieces of two files joined, and random bytes; PointCloud2 messages with wrong sizes, offsets, types and data; MCAP files
with damage. Each reader's memory is the peak that numpy and Python allocate; C++ libraries are not seen by it, so the
process's own limit is set too. Prints a table and every input that failed; exit code 1 when there is one.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import tracemalloc
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reader_corpus import corpus  # noqa: E402

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file  # noqa: E402
from prnet_core.io.pointcloud2 import CloudError, read_cloud  # noqa: E402

SECONDS_ALLOWED = 10
MEMORY_FACTOR = 10
MEMORY_ALLOWANCE = 4 << 20  # what a reader needs for any input: buffers of its own, modules imported late
ADDRESS_SPACE = 8 << 30
NUMBERS = [b"-1", b"0", b"1", b"3", b"255", b"65536", b"4294967295", b"99999999999999999999", b"nan", b"1e9", b"x", b""]
WORDS = [b"list", b"uchar", b"double", b"float", b"vertex", b"x", b"ascii", b"binary", b"binary_compressed", b"F", b"U",
         b"property list uchar int a\n", b"element face 2\n", b"POINTS 9\n", b"COUNT 1 1 9\n", b"x,y,z\n", b"#", b"\n",
         b",", b";", b"\"", b"\r", b"\x00"]  # fmt: skip


class Hang(Exception):
    """A reader took too long."""


def damaged(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """The content with one to four kinds of damage."""
    data = bytearray(content[:20_000])
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


def mcap_inputs(seed: int, folder: Path):
    """Endless damaged MCAP files, of small uncompressed and compressed bags; nothing where rosbags is missing."""
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_JAZZY)
    make = types.types
    contents = []
    for compressed in (False, True):
        path = folder / f"bag_{compressed}"
        writer = Writer(path, version=8, storage_plugin=StoragePlugin.MCAP)
        if compressed:
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            connection = writer.add_connection("/points", "sensor_msgs/msg/PointCloud2", typestore=types)
            for index in range(4):
                stamp = make["builtin_interfaces/msg/Time"](index, 0)
                header = make["std_msgs/msg/Header"](stamp, "lidar")
                fields = [make["sensor_msgs/msg/PointField"](name, 4 * i, 7, 1) for i, name in enumerate("xyz")]
                points = np.random.default_rng(index).normal(size=(20, 3)).astype("<f4")
                data = np.frombuffer(points.tobytes(), np.uint8)
                cloud = make["sensor_msgs/msg/PointCloud2"](header, 1, 20, fields, False, 12, 240, data, True)
                writer.write(connection, index * 10**8, types.serialize_cdr(cloud, cloud.__msgtype__))
        contents += [file.read_bytes() for file in path.glob("*.mcap")]
    rng = np.random.default_rng(seed)
    while True:
        first, second = rng.integers(len(contents), size=2)
        yield damaged(rng, contents[first], contents[second])


def read_bag(path: Path) -> None:
    """All scans of a bag file."""
    from prnet_core.io.bags import open_bag

    with open_bag(path) as bag:
        for topic in bag.point_cloud_topics():
            for _ in bag.scans(topic):
                pass


def attempt(read, size: int, allowed: tuple[type[Exception], ...], traced: bool) -> tuple[str, str]:
    """(outcome, what is wrong or '') of one input."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS_ALLOWED)
    if traced:
        tracemalloc.start()
    try:
        read()
        outcome, problem = "read", ""
    except allowed:
        outcome, problem = "refused", ""
    except Hang:
        outcome, problem = "failed", f"longer than {SECONDS_ALLOWED} s"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome, problem = "failed", "".join(traceback.format_exception(error)[-3:])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        peak = tracemalloc.get_traced_memory()[1] if traced else 0
        if traced:
            tracemalloc.stop()
    if peak > MEMORY_FACTOR * size + MEMORY_ALLOWANCE:
        return "failed", f"{peak} bytes allocated for {size}"
    return outcome, problem


def fuzz(kind: str, number: int, seed: int, trace_every: int = 10) -> tuple[Counter[str], list[str]]:
    """Outcomes of `number` inputs of a kind, and the problems; failing inputs are kept in fuzz_failures/."""
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / f"a{'.mcap' if kind == 'mcap' else kind}"
        inputs = {"PointCloud2": lambda: message_inputs(seed), "mcap": lambda: mcap_inputs(seed, folder)}.get(
            kind, lambda: file_inputs(kind, seed)
        )()
        warm_up(kind, folder)
        for index in range(number):
            content = next(inputs)
            # rosbags requests buffers of the sizes that damaged records state, and never touches them.
            traced = index % trace_every == 0 and kind != "mcap"
            if kind == "PointCloud2":
                size = len(content.data)
                outcome, problem = attempt(lambda: read_cloud(content), size, (CloudError,), traced)  # noqa: B023
            else:
                path.write_bytes(content)
                if kind == "mcap":
                    from prnet_core.io.bags import BagError

                    outcome, problem = attempt(lambda: read_bag(path), len(content), (BagError,), traced)
                else:
                    outcome, problem = attempt(lambda: read_cloud_file(path), len(content), (CloudFileError,), traced)
            counts[outcome] += 1
            if problem:
                kept = ""
                if kind != "PointCloud2" and len(problems) < 20:
                    os.makedirs("fuzz_failures", exist_ok=True)
                    kept = f"fuzz_failures/{seed}_{index}{path.suffix}"
                    Path(kept).write_bytes(content)
                problems.append(f"{kind} seed {seed} input {index} {kept}\n{problem}")
    return counts, problems


def warm_up(kind: str, folder: Path) -> None:
    """Read a correct file, so that imports are not counted as the first input's memory."""
    for case in corpus():
        if case.name.endswith(kind) and case.is_valid:
            (folder / case.name).write_bytes(case.content)
            read_cloud_file(folder / case.name, case.columns)
            return


def kinds() -> list[str]:
    """All kinds of input, by what is installed."""
    suffixes = sorted({Path(case.name).suffix for case in corpus()})
    return [*suffixes, "PointCloud2", "mcap"]


def main() -> None:
    """Share the inputs evenly between the kinds; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=None)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    def on_alarm(*_):
        raise Hang

    signal.signal(signal.SIGALRM, on_alarm)
    chosen = arguments.kinds or kinds()
    total: Counter[str] = Counter()
    failed = []
    for kind in chosen:
        began = time.perf_counter()
        counts, problems = fuzz(kind, arguments.inputs // len(chosen), arguments.seed)
        total += counts
        failed += problems
        seconds = time.perf_counter() - began
        print(f"{kind:12} {dict(counts)} in {seconds:.0f} s", flush=True)
    print(f"{'all':12} {dict(total)}")
    for problem in failed[:20]:
        print(problem)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
