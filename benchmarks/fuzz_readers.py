"""Fuzz every reader: only the documented exceptions, no hang, no memory beyond ten times the input.

    python benchmarks/fuzz_readers.py [--inputs 200000] [--seed 0] [--kinds .ply .pcd ...] [--out FILE.md]

Inputs are files of the corpus with damage (bytes changed, cut out, repeated, numbers and words of headers replaced),
pieces of two files joined, and random bytes; PointCloud2 messages with invalid sizes, offsets, types and data; MCAP,
sqlite3 and ROS 1 bags with damage. A hang is 10 s of processor time, so that a busy machine makes none. Memory is
measured for every tenth input: the growth of the process's largest resident set, and what Python and numpy allocate
(not for MCAP and ROS 1: rosbags requests buffers of the sizes that damaged records state, and never touches them).
Prints a table and every input that failed; exit code 1 when there is one.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))
import results_page  # noqa: E402
from fuzz_inputs import bag_inputs, file_inputs, message_inputs  # noqa: E402
from reader_corpus import corpus  # noqa: E402

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file  # noqa: E402
from prnet_core.io.pointcloud2 import CloudError, read_cloud  # noqa: E402

SECONDS_ALLOWED = 10  # of processor time
WALL_SECONDS_ALLOWED = 600  # for what waits without computing
MEMORY_FACTOR = 10
MEMORY_ALLOWANCE = 4 << 20  # what a reader needs for any input: buffers of its own, modules imported late
RESIDENT_ALLOWANCE = 32 << 20  # the same for the resident set, which grows by whole arenas
ADDRESS_SPACE = 8 << 30
BAGS = ("mcap", "db3", "bag")
UNTRACED = ("mcap", "bag")


class Hang(Exception):
    """A reader took too long."""


def read_bag(path: Path) -> None:
    """All scans of a bag file."""
    from prnet_core.io.bags import open_bag

    with open_bag(path) as bag:
        for topic in bag.point_cloud_topics():
            for _ in bag.scans(topic):
                pass


def resident(key: str) -> int:
    """Bytes of VmRSS (now) or VmHWM (the largest since it was reset)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024 * int(line.split()[1])
    raise ValueError(key)


class Memory:
    """The memory that a block takes: `allocated` by Python and numpy, `grown` by the whole process; bytes."""

    def __init__(self, is_traced: bool):
        self.is_traced, self.allocated, self.grown = is_traced, 0, 0

    def __enter__(self) -> Memory:
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
        self._before = resident("VmRSS")
        if self.is_traced:
            tracemalloc.start()
        return self

    def __exit__(self, *_) -> None:
        if self.is_traced:
            self.allocated = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        self.grown = max(0, resident("VmHWM") - self._before)


def attempt(read, allowed: tuple[type[Exception], ...]) -> tuple[str, str]:
    """(outcome, problem or '') of one input."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS_ALLOWED)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS_ALLOWED)
    try:
        read()
        return "read", ""
    except allowed:
        return "refused", ""
    except Hang:
        return "failed", f"longer than {SECONDS_ALLOWED} s"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "failed", "".join(traceback.format_exception(error)[-3:])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def reading(kind: str, path: Path, content):
    """(function that reads one input, the exceptions it may raise)."""
    if kind == "PointCloud2":
        return lambda: read_cloud(content), (CloudError,)
    path.write_bytes(content)
    if kind in BAGS:
        from prnet_core.io.bags import BagError

        return lambda: read_bag(path), (BagError,)
    return lambda: read_cloud_file(path), (CloudFileError,)


def fuzz(kind: str, number: int, seed: int, measure_every: int = 10) -> tuple[Counter[str], list[str], list[int]]:
    """Outcomes of `number` inputs of a kind, the problems, and the most memory (allocated, resident) that one took.

    Failing inputs are kept in fuzz_failures/.
    """
    counts: Counter[str] = Counter()
    problems: list[str] = []
    most = [0, 0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / f"a.{kind}" if kind in BAGS else folder / f"a{kind}"
        inputs = (
            message_inputs(seed)
            if kind == "PointCloud2"
            else bag_inputs(kind, seed, folder)
            if kind in BAGS
            else file_inputs(kind, seed)
        )
        next(inputs)
        warm_up(kind, folder)
        for index in range(number):
            content = next(inputs)
            read, allowed = reading(kind, path, content)
            if index % measure_every:
                outcome, problem = attempt(read, allowed)
            else:
                with Memory(is_traced=kind not in UNTRACED) as memory:
                    outcome, problem = attempt(read, allowed)
                most = [max(most[0], memory.allocated), max(most[1], memory.grown)]
                limit = MEMORY_FACTOR * len(content.data if kind == "PointCloud2" else content)
                for taken, allowance in ((memory.allocated, MEMORY_ALLOWANCE), (memory.grown, RESIDENT_ALLOWANCE)):
                    if not problem and taken > limit + allowance:
                        outcome, problem = "failed", f"{taken} bytes of memory for {limit // MEMORY_FACTOR}"
            counts[outcome] += 1
            if problem:
                kept = ""
                if kind != "PointCloud2" and len(problems) < 20:
                    os.makedirs("fuzz_failures", exist_ok=True)
                    kept = f"fuzz_failures/{seed}_{index}{path.suffix}"
                    Path(kept).write_bytes(content)
                problems.append(f"{kind} seed {seed} input {index} {kept}\n{problem}")
    return counts, problems, most


def warm_up(kind: str, folder: Path) -> None:
    """Read a correct file, so that imports are not counted as the first input's memory."""
    if kind in BAGS:
        read_bag(next((folder / "0").rglob(f"*.{kind}")))
    for case in corpus():
        if case.name.endswith(kind) and case.is_valid:
            (folder / case.name).write_bytes(case.content)
            read_cloud_file(folder / case.name, case.columns)
            return


def kinds() -> list[str]:
    """All kinds of input, by what is installed."""
    suffixes = sorted({Path(case.name).suffix for case in corpus()})
    return [*suffixes, "PointCloud2", *BAGS]


def main() -> None:
    """Share the inputs evenly between the kinds; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=None)
    parser.add_argument("--out", type=Path, help="Markdown page for the table")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    def on_alarm(*_):
        raise Hang

    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGPROF, on_alarm)
    chosen = arguments.kinds or kinds()
    number = -(-arguments.inputs // len(chosen))
    rows, failed = [], []
    for kind in chosen:
        began = time.process_time()
        counts, problems, most = fuzz(kind, number, arguments.seed)
        failed += problems
        seconds = time.process_time() - began
        rows.append([kind, number, counts["read"], counts["refused"], counts["failed"], round(seconds), *most])
        print(f"{kind:12} {dict(counts)} in {seconds:.0f} s, memory {most}", flush=True)
    for problem in failed[:20]:
        print(problem)
    if arguments.out:
        arguments.out.write_text(page(rows, failed))
    sys.exit(1 if failed else 0)


def page(rows: list[list], failed: list[str]) -> str:
    """The table in Markdown."""
    total = ["all", *(sum(row[column] for row in rows) for column in range(1, 6))]
    total += [max(row[column] for row in rows) for column in (6, 7)]
    headings = ("kind", "inputs", "read", "refused with the documented exception", "failed", "processor time, s",
                "most allocated by Python, MB", "most resident growth, MB")  # fmt: skip
    cells = [[*row[:6], *(f"{value / 1e6:.1f}" for value in row[6:])] for row in [*rows, total]]
    problems = [["```", *failed[:20], "```"]] if failed else []
    description = __doc__.strip().splitlines()[4:]
    return results_page.page("Fuzzing of the readers", description, results_page.table(headings, cells), *problems)


if __name__ == "__main__":
    main()
