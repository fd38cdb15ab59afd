"""`prnet odometry`: the trajectory of a folder of scans or a bag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from prnet_core.io.trajectories import Trajectory


def odometry(
    source: Path = typer.Argument(..., help="Folder of scans, or a bag (mcap, sqlite3, ROS 1)."),
    out: Path = typer.Option(None, help="Write the trajectory here: TUM, and KITTI beside it as .kitti"),
    picture: Path = typer.Option(None, help="Write a picture of the trajectory: .png .svg .pdf"),
    truth: Path = typer.Option(None, help="True trajectory: TUM, or KITTI rows for each scan."),
    topic: str = typer.Option(None, help="PointCloud2 topic of a bag; its only one when left out."),
    target: str = typer.Option(
        "keyframe", help="Register to the 'previous' scan, last 'keyframe' or a 'map'."
    ),
    every: int = typer.Option(1, min=1, help="Use every N-th scan only."),
    voxel: float = typer.Option(
        None, help="Voxel size in metres; from the first scan's scale when left out."
    ),
    refinement: str = typer.Option(
        "gicp", help="gicp or point_to_plane (small_gicp), open3d_gicp or open3d_point_to_plane (Open3D)."
    ),
    weights: str = typer.Option(None, help="Weights file of the network; 'none' does without."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
    threads: int = typer.Option(1, min=1, help="Threads of the refinement."),
) -> None:
    """Chain the scans of SOURCE to a trajectory; with a truth, print ATE and RPE.

    A folder's own poses.txt and a bag's true poses are the truth when no other is given.
    """
    from prnet_core.cli.network import fail, network_for
    from prnet_core.io.trajectories import write_kitti, write_tum
    from prnet_core.odometry import OdometryConfig, ScanOdometry
    from prnet_core.odometry.offline import open_scans, read_truth, run_odometry
    from prnet_core.registration import Registration, RegistrationConfig

    try:
        config = RegistrationConfig(voxel_size=voxel, num_threads=threads, refinement=refinement)
        worker = ScanOdometry(
            Registration(network_for(weights, device), config), OdometryConfig(target=target)
        )
        scans = open_scans(source, topic)
        run = run_odometry(worker, scans, every)
        reference = scans.truth if truth is None else read_truth(truth, scans.stamps)
    except (ValueError, OSError, ImportError) as error:
        raise fail("odometry", error) from error
    counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    typer.echo(f"{run.num_scans} scans: {counts}; {1e3 * run.seconds_per_scan:.0f} ms a scan")
    for stamp, reason in run.failures:
        typer.echo(f"  {stamp:.3f} s: {reason}")
    if reference is not None:
        typer.echo(error_text(run.trajectory, reference))
    if out is not None:
        write_tum(out, run.trajectory)
        write_kitti(out.with_suffix(".kitti"), run.trajectory.poses)
    if picture is not None:
        from prnet_core.odometry.picture import draw_trajectory

        draw_trajectory(run.trajectory, reference, picture)
    if len(run.trajectory) == 0:
        raise typer.Exit(1)


def error_text(estimate: Trajectory, truth: Trajectory) -> str:
    """ATE and RPE at 1 and 10 scans where the trajectories share that many instants."""
    from prnet_core.odometry.metrics import absolute_trajectory_error, match_stamps, relative_pose_error

    ours, theirs = match_stamps(estimate, truth)
    if len(ours) < 2:
        return "the truth shares fewer than two instants with the scans: no errors"
    lines = [f"ATE {absolute_trajectory_error(ours, theirs):.4f} m over {len(ours)} poses"]
    for step in (1, 10):
        if step < len(ours):
            error = relative_pose_error(ours, theirs, step)
            lines.append(
                f"RPE over {step:2d}: {error.translation_rmse:.4f} m, {error.rotation_rmse_deg:.3f} deg "
                f"(largest {error.translation_max:.4f} m, {error.rotation_max_deg:.3f} deg)"
            )
    return "\n".join(lines)
