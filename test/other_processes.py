"""How much of the processor other processes take, for tests of what a node manages in real time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK")
MAX_SHARE = 0.5  # of the processor: with more taken by others no rate can be expected


class OtherProcesses:
    """What all processes but this one and its descendants use of this process's cores, from now on. Linux."""

    def __init__(self) -> None:
        self._began, self._all, self._own = time.monotonic(), _busy_seconds(), _own_seconds()

    def share(self) -> float:
        """0 to 1, since the start. What ended without being waited for counts as another's."""
        cores = len(os.sched_getaffinity(0))
        busy = (_busy_seconds() - self._all) - (_own_seconds() - self._own)
        return busy / (cores * (time.monotonic() - self._began))

    def skip_if_busy(self, what: str) -> None:
        """Skip the test, which would fail by `what`, if the others took more than MAX_SHARE."""
        share = self.share()
        if share > MAX_SHARE:
            pytest.skip(f"{what}; other processes took {100 * share:.0f} % of the processor: no rate can be expected")


def _busy_seconds() -> float:
    """Time that this process's cores were not idle."""
    total = 0
    cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name in cores:
            user, nice, system, _, _, irq, softirq, steal = map(int, ticks[:8])
            total += user + nice + system + irq + softirq + steal
    return total / TICKS


def _own_seconds() -> float:
    """Processor time of this process and its descendants, those that ended too."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(path.parent.name)
        parents[process], used[process] = int(fields[1]), sum(map(int, fields[11:15]))
    return sum(ticks for process, ticks in used.items() if _descends(process, parents)) / TICKS


def _descends(process: int, parents: dict[int, int]) -> bool:
    while process > 1 and process != os.getpid():
        process = parents.get(process, 0)
    return process == os.getpid()
