"""How many files of the corpus each reader answers correctly, and how fast it reads a large file.

    python benchmarks/compare_readers.py [--large] [--names] [--json FILE]

A valid file counts when its points come back to 1e-7 of their size, a damaged one when it is refused with an
exception. Silent: files that gave other points without an exception. A reader that is not installed has no row.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results_page  # noqa: E402
from reader_corpus import Case, corpus  # noqa: E402

KINDS = ("correct", "refused", "silent")
INTRODUCTION = (
    "Files of `benchmarks/reader_corpus`, valid and damaged ones. Correct: the points of a valid file, or an exception "
    "for a damaged one; refused: a valid file; silent: other points, or a damaged file accepted."
)


def ours(path: Path) -> np.ndarray:
    from prnet_core.io.cloud_files import read_cloud_file

    return read_cloud_file(path)


def by_plyfile(path: Path) -> np.ndarray:
    from plyfile import PlyData

    vertex = PlyData.read(path)["vertex"]
    return np.stack([vertex[axis] for axis in "xyz"], axis=1)


def by_pypcd4(path: Path) -> np.ndarray:
    from pypcd4 import PointCloud

    return PointCloud.from_path(path).numpy(("x", "y", "z"))


def by_open3d(path: Path) -> np.ndarray:
    import open3d

    open3d.utility.set_verbosity_level(open3d.utility.VerbosityLevel.Error)
    points = np.asarray(open3d.io.read_point_cloud(str(path)).points)
    if len(points) == 0:
        raise ValueError("no points")
    return points


def by_trimesh(path: Path) -> np.ndarray:
    import trimesh

    return np.asarray(trimesh.load(path, process=False).vertices)


def by_laspy(path: Path) -> np.ndarray:
    import laspy

    return np.asarray(laspy.read(path).xyz)


def by_pye57(path: Path) -> np.ndarray:
    import pye57

    file = pye57.E57(str(path))
    scans = [file.read_scan(index, ignore_missing_fields=True) for index in range(file.scan_count)]
    return np.concatenate([np.stack([scan[f"cartesian{axis}"] for axis in "XYZ"], axis=1) for scan in scans])


READERS = {
    ".ply": [ours, by_plyfile, by_open3d, by_trimesh],
    ".pcd": [ours, by_pypcd4, by_open3d],
    ".xyz": [ours, by_open3d, by_trimesh],
    ".txt": [ours],
    ".csv": [ours],
    ".pts": [ours, by_open3d],
    ".las": [ours, by_laspy],
    ".laz": [ours, by_laspy],
    ".e57": [ours, by_pye57],
}


def answer(reader, case: Case, folder: Path) -> str:
    """'correct', 'refused' or 'silent' (other points, or a damaged file accepted)."""
    path = folder / case.name
    path.write_bytes(case.content)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            points = np.asarray(reader(path))
    except Exception:
        return "refused" if case.is_valid else "correct"
    same = case.is_valid and points.shape == case.expected.shape
    return "correct" if same and np.allclose(points, case.expected, rtol=1e-7, equal_nan=True) else "silent"


def measure(suffix: str, name: str) -> dict:
    """Counts of one reader over the corpus; runs in a process of its own, since C++ readers can crash."""
    reader = next(reader for reader in READERS[suffix] if reader.__name__ == name)
    counts = dict.fromkeys(KINDS, 0)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for case in corpus():
            if case.name.endswith(suffix) and case.columns is None:
                print(case.name, file=sys.stderr, flush=True)
                kind = answer(reader, case, Path(folder))
                counts[kind] += 1
                if kind != "correct":
                    failed.append(f"{case.name}: {kind}")
    return {**counts, "failed": failed}


def large_files(folder: Path, number: int = 300_000) -> list[Path]:
    """One large file of each kind."""
    from reader_corpus.pcd_cases import pcd
    from reader_corpus.ply_cases import ply

    points = np.random.default_rng(0).normal(size=(number, 3)).astype("f4").astype(float)
    contents = {
        "ascii.ply": ply("ascii", [("vertex", ["float x", "float y", "float z"], points)]),
        "binary.ply": ply("<", [("vertex", ["float x", "float y", "float z"], points)]),
        "ascii.pcd": pcd(points, "ascii"),
        "binary.pcd": pcd(points),
        "compressed.pcd": pcd(points, "binary_compressed"),
        "spaces.xyz": "".join(f"{x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in points).encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def time_large() -> Iterator[list]:
    """Rows of file, reader and the best of three times."""
    with tempfile.TemporaryDirectory() as folder:
        for path in large_files(Path(folder)):
            for reader in READERS[path.suffix]:
                with contextlib.suppress(Exception):
                    times = []
                    for _ in range(3):
                        began = time.perf_counter()
                        reader(path)
                        times.append(time.perf_counter() - began)
                    yield [path.name, label(reader), f"{min(times):.3f}"]


def label(reader) -> str:
    """The name of a reader in the tables."""
    return "prnet_ros" if reader is ours else reader.__name__.removeprefix("by_")


def count_all(show_names: bool) -> Iterator[list]:
    """Rows of format, reader and counts."""
    for suffix, readers in READERS.items():
        for reader in readers:
            if reader is not ours and find_spec(label(reader)) is None:
                continue
            command = [sys.executable, __file__, "--one", suffix, reader.__name__]
            run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            if run.returncode:
                yield [suffix, label(reader), f"the process died in {run.stderr.splitlines()[-1:]}", "", ""]
                continue
            counts = json.loads(run.stdout.splitlines()[-1])
            yield [suffix, label(reader), *(counts[key] for key in KINDS)]
            if show_names and counts["failed"]:
                print("      " + "\n      ".join(counts["failed"]), file=sys.stderr)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also time files of 300,000 points")
    parser.add_argument("--one", nargs=2, metavar=("SUFFIX", "READER"), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="write the tables here, and as Markdown beside it")
    parser.add_argument("--names", action="store_true", help="name the files that are not answered correctly")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    counts = list(count_all(arguments.names))
    times = list(time_large()) if arguments.large else []
    blocks = [[INTRODUCTION], results_page.table(["format", "reader", *KINDS], counts)]
    if times:
        blocks += [["Files of 300,000 points, best of three:"], results_page.table(["file", "reader", "s"], times)]
    text = results_page.page("Readers of cloud files", *blocks)
    print(text)
    if arguments.json:
        results_page.write_results(arguments.json, {"counts": counts, "seconds": times}, text)


if __name__ == "__main__":
    main()
