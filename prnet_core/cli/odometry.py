"""`prnet odometry`: the trajectory of a folder of scans or a bag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prnet_core.cli.errors import check_picture, one_line_errors, without_effect
from prnet_core.cli.options import COLUMNS, DEVICE, REFINEMENT, SCANS, THREADS, TOPIC, WEIGHTS

if TYPE_CHECKING:
    from prnet_core.io.recordings import GroundTruthFile, RecordedScans
    from prnet_core.io.trajectories import Trajectory


@one_line_errors("odometry")
def odometry(
    source: Path = SCANS,
    out: Path = typer.Option(
        None,
        help="Write the trajectory here: TUM, and KITTI beside it as .kitti; only KITTI if the name ends in .kitti.",
    ),
    picture: Path = typer.Option(None, help="Write a picture of the trajectory: .png .svg .pdf"),
    truth: Path = typer.Option(None, help="Ground truth to compare with: TUM, or KITTI rows for each scan."),
    topic: str = TOPIC,
    columns: str = COLUMNS,
    target: str = typer.Option(None, hidden=True, help="Deprecated: scans are registered to a local map always."),
    every: int = typer.Option(1, min=1, help="Use every N-th scan only."),
    voxel: float = typer.Option(None, help="Voxel size in metres. Default: by the scale of the first scan."),
    refinement: str = REFINEMENT,
    weights: str = WEIGHTS,
    device: str = DEVICE,
    threads: int = THREADS,
    max_scan_time: float = typer.Option(
        inf,
        help="Maximum seconds for one scan, as in the node; without a limit no result depends on the machine's load.",
    ),
) -> None:
    """Estimate the trajectory of the scans of SOURCE; with ground truth, print ATE and RPE.

    Without --truth, the ground truth is a folder's poses.txt or a bag's ground truth topic. A scan that cannot be read
    is skipped and counted. Exit code 1 when no scan has a pose, 2 when a file or an option cannot be used.
    """
    from prnet_core.cli.network import network_for
    from prnet_core.io.recordings import GroundTruthFile, open_scans
    from prnet_core.odometry import OdometryConfig, ScanOdometry
    from prnet_core.odometry.offline import run_odometry
    from prnet_core.registration import Registration, RegistrationConfig

    if target is not None:
        without_effect("odometry", "--target", "scans are registered to a local map")
    if refinement is not None:
        without_effect("odometry", "--refinement", "GICP refines")
    writers = trajectory_writers(out, picture)
    check_picture(picture)
    truth_file = None if truth is None else GroundTruthFile(truth)
    config = RegistrationConfig(voxel_size=voxel, num_threads=threads)
    odometry_config = OdometryConfig(max_scan_time=max_scan_time)
    scans = open_scans(source, topic, columns)
    worker = ScanOdometry(Registration(network_for(weights, device), config), odometry_config)
    run = run_odometry(worker, scans, every)
    counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    typer.echo(f"{run.num_scans} scans: {counts}; {1e3 * run.seconds_per_scan:.0f} ms per scan")
    for line in recording_notes(scans):
        typer.echo(line)
    for stamp, reason in run.failures:
        typer.echo(f"  {stamp:.3f} s: {reason}")
    reference = comparison_truth(scans, truth_file)
    if reference is not None:
        typer.echo(error_text(run.trajectory, reference))
    for path, write in writers.items():
        write(path, run.trajectory)
    if picture is not None:
        from prnet_core.odometry.picture import draw_trajectory

        draw_trajectory(run.trajectory, reference, picture)
    if len(run.trajectory) == 0:
        raise typer.Exit(1)


def trajectory_writers(out: Path | None, picture: Path | None) -> dict[Path, Callable[[Path, Trajectory], None]]:
    """The writer of each output file: TUM at `out` and KITTI beside it, or KITTI alone where `out` is called .kitti.

    Raises ValueError or OSError when one of them cannot be written, or is the picture too.
    """
    from prnet_core.io.safe_write import check_target
    from prnet_core.io.trajectories import write_kitti, write_tum

    if out is None:
        return {}
    if out.suffix.lower() == ".kitti":
        writers = {out: lambda path, trajectory: write_kitti(path, trajectory.poses)}
    else:
        writers = {out: write_tum}
        if out.is_file() or not out.exists():  # nothing beside a device
            writers[out.with_suffix(".kitti")] = lambda path, trajectory: write_kitti(path, trajectory.poses)
    for path in writers:
        check_target(path)
    if picture in writers:
        raise ValueError(f"{picture}: the picture and the trajectory cannot be one file")
    return writers


def recording_notes(scans: RecordedScans) -> list[str]:
    """One line about the scans left out, and one about those without point times."""
    lines = []
    if scans.skipped:
        lines.append(f"skipped: {_counted(scans.skipped)}")
    if scans.no_times:
        number = sum(scans.no_times.values())
        lines.append(f"no point times in {number} scans, which are not deskewed: {_counted(scans.no_times)}")
    return lines


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in reasons.items())


def comparison_truth(scans: RecordedScans, file: GroundTruthFile | None) -> Trajectory | None:
    """The ground truth of the file, else that of the recording; None with a warning when the file's does not fit."""
    if file is None:
        return scans.ground_truth
    try:
        return file.for_scans(scans.stamps)
    except ValueError as error:
        typer.echo(f"prnet odometry: {error}; no errors are computed", err=True)
        return None


def error_text(estimate: Trajectory, ground_truth: Trajectory) -> str:
    """ATE and RPE at 1 and 10 scans where the trajectories share that many stamps."""
    from prnet_core.odometry.metrics import absolute_trajectory_error, match_stamps, relative_pose_error

    estimated, true = match_stamps(estimate, ground_truth)
    if len(estimated) < 2:
        return "the ground truth shares fewer than two stamps with the scans: no errors"
    lines = [f"ATE {absolute_trajectory_error(estimated, true):.4f} m over {len(estimated)} poses"]
    for step in (1, 10):
        if step < len(estimated):
            error = relative_pose_error(estimated, true, step)
            lines.append(
                f"RPE over {step:2d}: {error.translation_rmse:.4f} m, {error.rotation_rmse_deg:.3f} deg "
                f"(largest {error.translation_max:.4f} m, {error.rotation_max_deg:.3f} deg)"
            )
    return "\n".join(lines)
