"""The paper's figure of real scans: the input on the left, registered on the right; here before and after tuning."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from registration_data import Pair

from prnet_core.geometry import se3

MAX_POINTS = 6000
SOURCE, TARGET = "#e4572e", "#2e86ab"


def draw_pairs(pairs: list[tuple[Pair, np.ndarray, np.ndarray]], path: Path) -> None:
    """One row a pair: as it came, and moved by the first and by the second motion (4, 4)."""
    figure = Figure(figsize=(8.4, 2.7 * len(pairs)), layout="constrained")
    FigureCanvasAgg(figure)
    plots = figure.subplots(len(pairs), 3, squeeze=False)
    titles = ("input", "network alone, before", "network alone, after")
    for (pair, *motions), line in zip(pairs, plots, strict=True):
        target, source = _share(pair.target), _share(pair.source)
        view = np.linalg.svd(target - target.mean(axis=0), full_matrices=False)[2]
        for plot, title, T in zip(line, titles, (np.eye(4), *motions), strict=True):
            clouds = ((target, TARGET), (se3.apply(T, source), SOURCE))
            _draw(plot, clouds, view)
            error = "" if T is motions[0] or T is motions[1] else pair.name.removeprefix("bunny ")
            plot.set_title(error or f"{title}: {pair.errors(T)[0]:.1f} deg", fontsize=9)
        line[0].set_ylabel(titles[0], fontsize=9)
    figure.savefig(path, dpi=110)


def _draw(plot, clouds, view: np.ndarray) -> None:
    """Points of both clouds from the far to the near, along the view's third axis."""
    points = np.vstack([cloud for cloud, _ in clouds]) @ view.T
    colours = np.repeat([colour for _, colour in clouds], [len(cloud) for cloud, _ in clouds])
    order = np.argsort(points[:, 2])
    plot.scatter(points[order, 0], points[order, 1], s=0.6, c=colours[order], linewidths=0)
    plot.set_aspect("equal")
    plot.set_xticks([])
    plot.set_yticks([])
    for side in plot.spines.values():
        side.set_visible(False)


def _share(points: np.ndarray) -> np.ndarray:
    return points[:: max(1, len(points) // MAX_POINTS)]
