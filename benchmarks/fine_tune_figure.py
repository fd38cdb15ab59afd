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
    """Two pairs per row: input, and moved by the first and by the second transform (4, 4); largest error first."""
    pairs = sorted(pairs, key=lambda item: -item[0].errors(item[1])[0])
    rows = -(-len(pairs) // 2)
    figure = Figure(figsize=(15.0, 2.35 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    plots = figure.subplots(rows, 6, squeeze=False).reshape(-1, 3)
    for (pair, before, after), line in zip(pairs, plots, strict=False):
        target, source = _share(pair.target), _share(pair.source)
        titles = (
            f"{pair.name.removeprefix('bunny ')}: input",
            f"before: {pair.errors(before)[0]:.1f} deg",
            f"after: {pair.errors(after)[0]:.1f} deg",
        )
        for plot, title, T in zip(line, titles, (np.eye(4), before, after), strict=True):
            _draw(plot, ((target, TARGET), (se3.apply(T, source), SOURCE)))
            plot.set_title(title, fontsize=13)
    for line in plots[len(pairs) :]:
        for plot in line:
            plot.axis("off")
    title = "Bunny range scans, the network alone before and after fine-tuning (blue target, red source)"
    figure.suptitle(title, fontsize=15)
    figure.savefig(path, dpi=90)


def _draw(plot, clouds) -> None:
    """Points of both clouds from the far to the near, as the scanner sees them: y is up, z towards it."""
    points = np.vstack([cloud for cloud, _ in clouds])
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
