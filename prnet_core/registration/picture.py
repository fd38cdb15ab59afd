"""A pair before and after registration: a picture, and a window."""

import os
import sys
from pathlib import Path

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.safe_write import replacing
from prnet_core.registration.result import RegistrationResult

MAX_POINTS = 8000


def draw_before_and_after(source: np.ndarray, target: np.ndarray, result: RegistrationResult, path: Path) -> None:
    """Draw source (N, 3) over target (M, 3), as given and as registered, along the target's two widest axes."""
    from matplotlib.figure import Figure

    source, target = _share(source), _share(target)
    axes = np.linalg.svd(target - target.mean(axis=0), full_matrices=False)[2][:2]
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    pictures = (("before", source), (f"after: {result.status}", se3.apply(result.T_target_source, source)))
    for plot, (title, moved) in zip(figure.subplots(1, 2, sharex=True, sharey=True), pictures, strict=True):
        for cloud, colour, label in ((target, "tab:blue", "target"), (moved, "tab:orange", "source")):
            plot.plot(*(cloud @ axes.T).T, ".", markersize=1, color=colour, label=label, alpha=0.6)
        plot.set_title(title)
        plot.set_aspect("equal")
    plot.legend(markerscale=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)


def show_registered(source: np.ndarray, target: np.ndarray, result: RegistrationResult) -> None:
    """Show target (M, 3) in blue and registered source (N, 3) in orange in a window of Open3D until it is closed.

    Raises ImportError without Open3D, OSError where no window can be opened.
    """
    import open3d

    window = open3d.visualization.Visualizer()
    has_display = sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()  # else it draws unseen
    if not has_display or not window.create_window(f"prnet register: {result.status}"):
        raise OSError("no window can be opened here (is there a display?); a picture: --view FILE.png")
    for points, colour in ((target, (0.12, 0.47, 0.71)), (se3.apply(result.T_target_source, source), (1.0, 0.5, 0.05))):
        cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points[np.isfinite(points).all(axis=1)]))
        cloud.paint_uniform_color(colour)
        window.add_geometry(cloud)
    window.run()
    window.destroy_window()


def _share(points: np.ndarray) -> np.ndarray:
    """The finite points, or an even share of them."""
    points = points[np.isfinite(points).all(axis=1)]
    return points[:: max(1, len(points) // MAX_POINTS)]
