"""Run methods on the seeded pairs of a set of shapes."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from prnet_core.evaluation.method import Method
from prnet_core.evaluation.metrics import class_mean_metrics, compute_metrics
from prnet_core.pairs.protocol import Protocol, protocol_pair
from prnet_core.shapes.shape_sets import ShapeSet


@dataclass(frozen=True)
class TestPairs:
    """Test pairs (source, target) with the true T_target_source (n, 4, 4) and the classes (n,)."""

    __test__ = False

    pairs: list[tuple[np.ndarray, np.ndarray]]
    true: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.pairs)


def make_test_pairs(shapes: ShapeSet, protocol: Protocol | str, limit: int | None = None) -> TestPairs:
    """One pair for each shape, seeded by the index of the shape. With `limit`, that many shapes spread over the set."""
    indices = np.arange(len(shapes))
    if limit is not None and limit < len(shapes):
        indices = np.linspace(0, len(shapes) - 1, limit).round().astype(int)
    made = [protocol_pair(shapes.points[index], int(index), protocol) for index in indices]
    return TestPairs(
        pairs=[(source, target) for source, target, _ in made],
        true=np.stack([T_target_source for _, _, T_target_source in made]),
        classes=shapes.classes[indices],
    )


def evaluate_method(
    name: str, method: Method, pairs: TestPairs, progress: Callable[[Iterable], Iterable] = iter
) -> dict:
    """The row of one method: name, metrics of `compute_metrics` and `class_mean_metrics`, num_pairs, and
    seconds_per_pair (median; the first pair is run once before as warm-up).

    A transform that is not finite counts as the identity and in num_failed.
    """
    method.register(*pairs.pairs[0])
    estimated, seconds, num_failed = [], [], 0
    for source, target in progress(pairs.pairs):
        started = time.perf_counter()
        T_target_source = np.asarray(method.register(source, target), dtype=np.float64)
        seconds.append(time.perf_counter() - started)
        if not np.isfinite(T_target_source).all():
            T_target_source, num_failed = np.eye(4), num_failed + 1
        estimated.append(T_target_source)
    row = {"method": name, **compute_metrics(np.stack(estimated), pairs.true)}
    row |= class_mean_metrics(np.stack(estimated), pairs.true, pairs.classes)
    row |= {"seconds_per_pair": float(np.median(seconds)), "num_pairs": len(pairs), "num_failed": num_failed}
    num_timeouts = getattr(method, "num_timeouts", 0)
    return row | ({"num_timeouts": num_timeouts} if num_timeouts else {})
