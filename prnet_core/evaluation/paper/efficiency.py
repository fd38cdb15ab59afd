"""Seconds per pair for several cloud sizes, all methods in one run."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from tqdm import tqdm

from prnet_core.evaluation.baselines import DCP, DCPConfig, PointNetLK, PointNetLKConfig
from prnet_core.evaluation.learned_methods import NetworkMethod
from prnet_core.evaluation.method import Method
from prnet_core.evaluation.methods import make_method
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.published import SECONDS_PER_PAIR
from prnet_core.evaluation.table import Column, Table
from prnet_core.model import PRNet, PRNetConfig
from prnet_core.model.weights import choose_device
from prnet_core.pairs.protocol import PROTOCOLS, protocol_pair
from prnet_core.shapes.shape_sets import ShapeSet

SIZES = (512, 1024, 2048)
DEFAULT_PAIRS = 7
MAX_SECONDS = 30.0
"""Maximum measuring time of a method and size; slow methods are timed on fewer pairs."""


def efficiency_table(setup: Setup) -> Table:
    """Median seconds per pair of full clouds of 512, 1024 and 2048 points, after one warm-up pair, on one core."""
    shapes = setup.shapes()
    sizes = tuple(size for size in SIZES if size <= shapes.points.shape[1])
    repeats = setup.pairs_limit(DEFAULT_PAIRS)
    rows = []
    with one_core():
        for name, make in tqdm(_methods(setup).items(), desc="efficiency", leave=False):
            try:
                method = make()
            except ImportError as error:
                rows.append({"method": f"{name} (not installed: {error.name})"})
                continue
            rows.append({"method": name} | {_key(size): _seconds(method, shapes, size, repeats) for size in sizes})
    return Table(
        "Seconds per pair",
        setup.command,
        rows,
        tuple(Column(_key(size), f"{size} points", "{:.4f}") for size in sizes),
        [
            {"method": f"{name}, paper"} | {_key(size): value for size, value in values.items()}
            for name, values in SECONDS_PER_PAIR.items()
        ],
        setup.settings() | {"pairs": repeats},
        ("Three passes of PRNet. Untrained rows have random weights: the time does not depend on them.", "One core."),
    )


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and those it starts, on one core, so that rows of different libraries compare."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if cores:
        os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        if cores:
            os.sched_setaffinity(0, cores)


def _methods(setup: Setup) -> dict[str, Callable[[], Method]]:
    options = setup.options

    def untrained(network) -> Callable[[], Method]:
        return lambda: NetworkMethod(network().to(choose_device(options.device)).eval())

    made: dict[str, Callable[[], Method]] = {
        name: lambda name=name: make_method(name, options) for name in ("icp", "fgr", "goicp", "prnet", "prnet+refine")
    }
    made["dcp (small, untrained)"] = untrained(lambda: DCP(DCPConfig.small()))
    made["pointnetlk (small, untrained)"] = untrained(lambda: PointNetLK(PointNetLKConfig.small()))
    made["prnet (the paper's size, untrained)"] = untrained(lambda: PRNet(PRNetConfig.paper()))
    made["dcp (the paper's size, untrained)"] = untrained(lambda: DCP(DCPConfig.paper()))
    made["pointnetlk (the paper's size, untrained)"] = untrained(lambda: PointNetLK(PointNetLKConfig.paper()))
    if setup.methods:
        made = {name: make for name, make in made.items() if name in setup.methods}
    return made


def _key(size: int) -> str:
    return f"seconds_per_pair_{size}"


def _seconds(method: Method, shapes: ShapeSet, size: int, repeats: int) -> float:
    protocol = replace(PROTOCOLS["objects"], num_points=size, num_kept=size)
    seconds = []
    for index in np.linspace(0, len(shapes) - 1, repeats + 1).round().astype(int):
        source, target, _ = protocol_pair(shapes.points[index], int(index), protocol)
        started = time.perf_counter()
        method.register(source, target)
        seconds.append(time.perf_counter() - started)
        if len(seconds) > 1 and sum(seconds) > MAX_SECONDS:
            break
    return float(np.median(seconds[1:]))
