"""Clouds in an orthographic view on 2D axes, which is sharper than Matplotlib's 3D axes."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

SOURCE, TARGET, KEYPOINT, LOST = "#2f6fb5", "#e0812b", "#111111", "#c9303c"
DPI = 200
TITLE_INCHES = 0.3


def view_matrix(azimuth_deg: float, elevation_deg: float) -> np.ndarray:
    """(3, 3), rows: right, up, towards the viewer, for a world with z up."""
    azimuth, elevation = np.radians([azimuth_deg, elevation_deg])
    towards = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    return np.stack([right, np.cross(towards, right), towards])


def draw_cloud(axes: Axes, points: np.ndarray, view: np.ndarray, color, size: float = 5.0, faint: bool = False) -> None:
    """Scatter points (N, 3), far points first and paler. `color`: one colour, or (N, 3 or 4) colours."""
    seen = points @ view.T
    order = np.argsort(seen[:, 2])
    depth = seen[order, 2]
    nearness = (depth - depth.min()) / max(np.ptp(depth), 1e-9)
    colors = np.asarray(color)[order] if not isinstance(color, str) else color
    alpha = (0.12 if faint else 0.35) + (0.2 if faint else 0.6) * nearness
    axes.scatter(seen[order, 0], seen[order, 1], s=size, c=colors, alpha=alpha, linewidths=0)


def draw_marks(axes: Axes, points: np.ndarray, view: np.ndarray, color: str, size: float = 22.0) -> None:
    """Ringed dots for keypoints (K, 3)."""
    seen = points @ view.T
    axes.scatter(seen[:, 0], seen[:, 1], s=size, c=color, edgecolors="white", linewidths=0.6, zorder=3)


def new_figure(rows: int, columns: int, size: float = 3.2) -> tuple[Figure, np.ndarray]:
    """Axes (rows, columns) without frames, of equal scale; each row has equal limits."""
    figure = Figure(figsize=(columns * size, rows * size), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey="row")
    for one in axes.flat:
        one.set_aspect("equal")
        one.axis("off")
    return figure, axes


def save(figure: Figure, path: str | Path, legend: dict[str, tuple[str, float]] | None = None) -> None:
    """Write the figure with row heights that fit their content. legend: text -> (colour, size) of its dot."""
    rows = figure.axes[0].get_gridspec()
    first = figure.axes[:: rows.ncols]
    heights = [np.ptp(one.get_ylim()) for one in first]
    rows.set_height_ratios(heights)
    width, _ = figure.get_size_inches()
    drawn = sum(heights) / np.ptp(first[0].get_xlim()) * width / rows.ncols
    figure.set_size_inches(width, drawn + TITLE_INCHES * rows.nrows + (TITLE_INCHES if legend else 0.0))
    if legend:
        dots = [
            Line2D([], [], linestyle="", marker="o", color=color, markersize=size) for color, size in legend.values()
        ]
        figure.legend(dots, legend.keys(), loc="outside lower center", ncols=len(legend), frameon=False, fontsize=9)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI, facecolor="white")
