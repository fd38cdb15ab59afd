"""`prnet register`: the transform between two clouds in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prnet_core.cli.errors import check_picture, one_line_errors, without_effect
from prnet_core.cli.options import COLUMNS, DEVICE, REFINEMENT, THREADS, WEIGHTS

if TYPE_CHECKING:
    import numpy as np

    from prnet_core.registration import RegistrationResult


@one_line_errors("register")
def register(
    source: Path = typer.Argument(..., help="Cloud that is moved: PLY PCD XYZ npy bin LAS."),
    target: Path = typer.Argument(..., help="Cloud that it is moved onto."),
    guess: Path = typer.Option(None, help="Text file with a 4x4 matrix, T_target_source: the initial guess."),
    scan: bool = typer.Option(
        None,
        "--scan/--object",
        help="Single scans in their sensor's frame (verified by free space), or objects and fused clouds. "
        "Default: scans, if the points lie around the origin, at least 1 (metre) away, and face it.",
    ),
    columns: str = COLUMNS,
    json: bool = typer.Option(False, "--json", help="Print the whole result as JSON."),
    save: Path = typer.Option(None, help="Write the moved source here: .ply .npy .xyz"),
    view: Path = typer.Option(None, help="Write a picture before and after here: .png .svg .pdf"),
    show: bool = typer.Option(False, "--show", help="Show the registered clouds in a window of Open3D."),
    voxel: float = typer.Option(None, help="Voxel size in the clouds' unit. Default: by their scale."),
    refinement: str = REFINEMENT,
    weights: str = WEIGHTS,
    device: str = DEVICE,
    threads: int = THREADS,
) -> None:
    """Register SOURCE to TARGET and print T_target_source: p_target = R p_source + t.

    Exit code 0 when the transform is accepted, 1 when it is ambiguous, weak or rejected, 2 when a file cannot be used.
    """
    import numpy as np

    from prnet_core.cli.network import network_for
    from prnet_core.geometry import se3
    from prnet_core.io.ascii_rows import read_numbers
    from prnet_core.io.cloud_files import WRITTEN_SUFFIXES, read_cloud_file, write_cloud_file
    from prnet_core.io.safe_write import check_target
    from prnet_core.registration import Registration, RegistrationConfig
    from prnet_core.registration.scan_origin import looks_like_scan

    if refinement is not None:
        without_effect("register", "--refinement", "GICP refines")
    if save is not None:
        check_target(save, WRITTEN_SUFFIXES)
    check_picture(view)
    clouds = read_cloud_file(source, columns), read_cloud_file(target, columns)
    config = RegistrationConfig(voxel_size=voxel, num_threads=threads)
    registration = Registration(network_for(weights, device), config)
    stated = "as requested" if scan is not None else "by how the points face the origin"
    scan = all(looks_like_scan(cloud, registration) for cloud in clouds) if scan is None else scan
    origin = np.zeros(3) if scan else None
    result = registration.register(
        *clouds, None if guess is None else read_numbers(guess), source_origin=origin, target_origin=origin
    )
    if save is not None:
        write_cloud_file(save, se3.apply(result.T_target_source, clouds[0]))
    kind = f"{'scans, sensor at the origin' if scan else 'objects or fused clouds, no sensor origin'} ({stated})"
    typer.echo(json_text({"clouds": kind} | vars(result)) if json else as_text(result, kind))
    if view is not None:
        from prnet_core.registration.picture import draw_before_and_after

        draw_before_and_after(*clouds, result, view)
    if show:
        from prnet_core.registration.picture import show_registered

        show_registered(*clouds, result)
    if not result.usable:
        raise typer.Exit(1)


def as_text(result: RegistrationResult, kind: str) -> str:
    seconds = ", ".join(f"{name} {1e3 * value:.0f} ms" for name, value in result.timings.items())
    rows = matrix_rows(result.T_target_source)
    overlap = f"{100 * result.overlap_source:.0f} % of the source, {100 * result.overlap_target:.0f} % of the target"
    return "\n".join(
        [
            f"{result.status}: {result.reason}",
            f"clouds: {kind}",
            f"hypothesis {result.hypothesis}, inliers {100 * result.inlier_ratio:.0f} %, "
            f"residual {result.residual:.4g}",
            f"overlap {overlap}",
            seconds,
            "T_target_source =",
            rows,
            *(f"alternative {i + 1} =\n{matrix_rows(other)}" for i, other in enumerate(result.alternatives)),
        ]
    )


def matrix_rows(matrix: np.ndarray) -> str:
    return "\n".join(" ".join(f"{value:14.9f}" for value in row) for row in matrix)


def json_text(values: dict) -> str:
    """JSON of values with arrays; a number that is not finite becomes null."""
    import json

    from prnet_core.evaluation.table import json_values

    return json.dumps(json_values(values), indent=1)
