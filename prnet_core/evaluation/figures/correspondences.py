"""Matches between two objects of a class, which show that the features generalise over shapes."""

from pathlib import Path

import numpy as np
from matplotlib import colormaps

from prnet_core.evaluation.figures.canvas import draw_cloud, new_figure, save, view_matrix
from prnet_core.evaluation.figures.network_view import run_network
from prnet_core.geometry.farthest_points import farthest_points
from prnet_core.model import PRNet

VIEW = view_matrix(-60, 35)
NUM_POINTS, NUM_KEYPOINTS = 1024, 256
NUM_LINES = 40
GAP = 0.5


def draw_correspondences(network: PRNet, first: np.ndarray, second: np.ndarray, path: str | Path) -> int:
    """Two shapes (P, 3) side by side, with the most confident matches as lines.

    Writes `path`. Returns the number of lines.
    """
    first, second = first[:NUM_POINTS], second[:NUM_POINTS]
    view = run_network(network, first, second, NUM_KEYPOINTS)
    best = np.argsort(-view.confidence)[: 4 * NUM_LINES]
    best = best[farthest_points(first[view.source_keypoints[best]], min(NUM_LINES, len(best)))]
    sources = first[view.source_keypoints[best]]
    targets = second[view.target_keypoints[view.matches[best]]]

    figure, axes = new_figure(1, 1, 9.0)
    one = axes[0, 0]
    one.set_title(f"{len(best)} of {NUM_KEYPOINTS} matches between two objects, the most confident", fontsize=11)
    shift = ((first @ VIEW[0]).max() - (second @ VIEW[0]).min() + GAP) * VIEW[0]
    draw_cloud(one, first, VIEW, "#8a94a0", size=4)
    draw_cloud(one, second + shift, VIEW, "#8a94a0", size=4)
    along = sources @ VIEW[0]
    colors = colormaps["turbo"]((along - along.min()) / max(np.ptp(along), 1e-9))
    for start, end, color in zip(sources @ VIEW.T, (targets + shift) @ VIEW.T, colors, strict=True):
        one.plot([start[0], end[0]], [start[1], end[1]], color=color, linewidth=0.9, alpha=0.85, zorder=2)
        one.scatter([start[0], end[0]], [start[1], end[1]], s=20, color=color, edgecolors="white", linewidths=0.5,
                    zorder=3)  # fmt: skip
    save(figure, path)
    return len(best)
