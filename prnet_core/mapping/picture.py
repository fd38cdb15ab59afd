"""A picture of a map from above."""

from pathlib import Path

import numpy as np

from prnet_core.mapping.keyframe_map import KeyframeMap

MAX_DRAWN = 60_000


def draw_map(keyframe_map: KeyframeMap, poses_before: list[np.ndarray], path: Path, voxel_size: float) -> None:
    """Draw the points from above with the keyframes, before and after the loop closures, side by side.

    poses_before: (4, 4) of every keyframe by odometry alone. Raises ValueError for a suffix that is no picture's.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7), layout="constrained")
    before = KeyframeMap(keyframe_map.keyframes, poses_before)
    panels = ((before, "odometry alone"), (keyframe_map, f"after {len(keyframe_map.closures)} loop closures"))
    for axes, (drawn, title) in zip(figure.subplots(1, 2, sharex=True, sharey=True), panels, strict=True):
        points = drawn.fused_points(voxel_size)
        points = points[:: max(1, len(points) // MAX_DRAWN)]
        axes.scatter(points[:, 0], points[:, 1], s=0.4, c=points[:, 2], cmap="viridis", linewidths=0)
        positions = drawn.positions
        axes.plot(positions[:, 0], positions[:, 1], "-", color="tab:red", linewidth=1.2, label="keyframes")
        for closure in drawn.closures:
            ends = positions[[closure.first, closure.second]]
            axes.plot(ends[:, 0], ends[:, 1], "-", color="tab:blue", linewidth=0.8)
        axes.set(title=title, xlabel="x [m]", ylabel="y [m]", aspect="equal")
    figure.savefig(path, dpi=110)
