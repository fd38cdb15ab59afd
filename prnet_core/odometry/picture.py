"""A picture of a trajectory, beside the ground truth where there is one."""

from pathlib import Path

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.safe_write import replacing
from prnet_core.io.trajectories import Trajectory
from prnet_core.odometry.metrics import match_stamps


def draw_trajectory(trajectory: Trajectory, ground_truth: Trajectory | None, path: Path) -> None:
    """Draw the positions from above and the height over time; the ground truth is aligned at the first shared pose."""
    from matplotlib.figure import Figure

    lines = [("estimate", "tab:orange", trajectory.stamps, trajectory.poses[:, :3, 3])]
    if ground_truth is not None:
        estimated, true = match_stamps(trajectory, ground_truth)
        if len(estimated):
            T_odom_world = estimated[0] @ se3.invert(true[0])
            lines.insert(
                0, ("ground truth", "tab:gray", ground_truth.stamps, (T_odom_world @ ground_truth.poses)[:, :3, 3])
            )
    figure = Figure(figsize=(10, 5), layout="constrained")
    above, height = figure.subplots(1, 2)
    start = min((stamps[0] for _, _, stamps, _ in lines if len(stamps)), default=0.0)
    for name, colour, stamps, positions in lines:
        above.plot(positions[:, 0], positions[:, 1], "-o", markersize=2, color=colour, label=name)
        height.plot(np.asarray(stamps) - start, positions[:, 2], "-", color=colour, label=name)
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal")
    above.set_adjustable("datalim")
    height.set(xlabel="time [s]", ylabel="z [m]", title="height")
    above.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)
