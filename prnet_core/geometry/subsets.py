"""Random subsets of points."""

import numpy as np


def at_most(points: np.ndarray, count: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """At most `count` of the points (N, ...), drawn at random, by default with the seed 0.

    Every n-th point would select the same lasers of a spinning sensor.
    """
    if len(points) <= count:
        return points
    rng = np.random.default_rng(0) if rng is None else rng
    return points[rng.choice(len(points), count, replace=False)]
