"""`prnet map`, `prnet localize`, `prnet merge`: maps of keyframes."""

from math import inf
from pathlib import Path

import typer

from prnet_core.cli.errors import check_picture, one_line_errors
from prnet_core.cli.options import COLUMNS, DEVICE, SCANS, TOPIC, WEIGHTS
from prnet_core.cli.register import json_text, matrix_rows

VOXEL = typer.Option(None, min=1e-6, help="Voxel size of map.ply, metres. Default: half of the registration's.")


@one_line_errors("map")
def make_map(
    source: Path = SCANS,
    out: Path = typer.Option(..., help="Folder of the map: map.ply, poses.tum, keyframes/, map.json."),
    picture: Path = typer.Option(None, help="Picture from above, before and after the loop closures: .png .svg .pdf"),
    topic: str = TOPIC,
    voxel: float = VOXEL,
    max_keyframes: int = typer.Option(2000, min=10, help="At this number the most redundant keyframe is dropped."),
    weights: str = WEIGHTS,
    device: str = DEVICE,
) -> None:
    """Build a map of the scans of SOURCE: odometry, loop closures, pose graph.

    Exit code 1 when no scan has a pose, 2 when a file cannot be used.
    """
    from prnet_core.cli.network import network_for
    from prnet_core.io.recordings import open_scans
    from prnet_core.mapping.builder import MapBuilder
    from prnet_core.mapping.config import MappingConfig
    from prnet_core.mapping.from_odometry import OdometryMapper
    from prnet_core.mapping.storage import check_map_target, save_map
    from prnet_core.odometry import OdometryConfig, ScanOdometry
    from prnet_core.odometry.offline import run_odometry
    from prnet_core.registration import Registration

    check_map_target(out)
    check_picture(picture)
    scans = open_scans(source, topic)
    registration = Registration(network_for(weights, device))
    builder = MapBuilder(registration, MappingConfig(max_keyframes=max_keyframes))
    odometry = ScanOdometry(registration, OdometryConfig(max_scan_time=inf, new_map_after=None))
    run = run_odometry(odometry, scans, on_update=OdometryMapper(builder).add_update)
    if len(builder.map) == 0:
        typer.echo(f"prnet map: none of {run.num_scans} scans has a pose", err=True)
        raise typer.Exit(1)
    voxel = voxel or builder.voxel_size / 2.0
    save_map(builder.map, out, voxel)
    counts = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    typer.echo(f"{run.num_scans} scans: {counts}")
    typer.echo(map_text(builder.map, out))
    if builder.num_dropped:
        typer.echo(f"{builder.num_dropped} keyframes were dropped at the limit of {max_keyframes}")
    if picture is not None:
        from prnet_core.mapping.picture import draw_map

        draw_map(builder.map, builder.odometry_poses, picture, voxel)


@one_line_errors("localize")
def localize(
    scan: Path = typer.Argument(..., help="Cloud in the sensor's frame, metres: PLY PCD XYZ npy bin LAS."),
    map_folder: Path = typer.Option(..., "--map", help="Folder of a map, made by `prnet map`."),
    json: bool = typer.Option(False, "--json", help="Print the whole result as JSON."),
    columns: str = COLUMNS,
    weights: str = WEIGHTS,
    device: str = DEVICE,
) -> None:
    """Find SCAN in a map without an initial guess and print T_map_sensor: p_map = R p_sensor + t.

    Exit code 0 when the pose is accepted, 1 when it is ambiguous or rejected, 2 when a file cannot be used.
    """
    from prnet_core.cli.network import network_for
    from prnet_core.io.cloud_files import read_cloud_file
    from prnet_core.mapping.localize import Localizer
    from prnet_core.mapping.storage import load_map
    from prnet_core.registration import Registration

    points = read_cloud_file(scan, columns)
    registration = Registration(network_for(weights, device))
    localizer = Localizer(load_map(map_folder), registration, folder=map_folder)
    result = localizer.localize(points)
    values = {name: value for name, value in vars(result).items() if name != "registration"}
    typer.echo(json_text(values) if json else as_text(result))
    if not result.usable:
        raise typer.Exit(1)


@one_line_errors("merge")
def merge(
    first: Path = typer.Argument(..., help="Folder of a map; its frame is kept."),
    second: Path = typer.Argument(..., help="Folder of another map that overlaps it."),
    out: Path = typer.Option(..., help="Folder of the joined map."),
    voxel: float = VOXEL,
    weights: str = WEIGHTS,
    device: str = DEVICE,
) -> None:
    """Join two maps that overlap. Exit code 2 with the reason when they do not, or when a file cannot be used."""
    from prnet_core.cli.network import network_for
    from prnet_core.mapping.merge import merge_maps
    from prnet_core.mapping.storage import check_map_target, load_map, save_map
    from prnet_core.registration import Registration

    check_map_target(out)
    maps = load_map(first), load_map(second)
    registration = Registration(network_for(weights, device))
    joined, T_first_second = merge_maps(*maps, registration)
    save_map(joined, out, voxel or registration.voxel_size_for(joined.keyframes[0].points) / 2.0)
    typer.echo("T_first_second:\n" + matrix_rows(T_first_second))
    typer.echo(map_text(joined, out))


def map_text(keyframe_map, folder: Path) -> str:
    return (
        f"{len(keyframe_map)} keyframes ({keyframe_map.num_bytes / 1e6:.1f} MB), {len(keyframe_map.closures)} loop "
        f"closures, written to {folder}"
    )


def as_text(result) -> str:
    lines = [matrix_rows(result.T_map_sensor), f"{result.status}: {result.reason}"]
    lines += [f"or\n{matrix_rows(pose)}" for pose in result.alternatives]
    return "\n".join([*lines, f"keyframe {result.keyframe}, {result.seconds:.2f} s"])
