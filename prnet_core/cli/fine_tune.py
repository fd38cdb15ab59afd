"""`prnet fine-tune`: adapt the network to scans in files, folders and bags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prnet_core.cli.errors import one_line_errors
from prnet_core.cli.options import COLUMNS, DEVICE, TOPIC

if TYPE_CHECKING:
    import numpy as np

    from prnet_core.fine_tuning import FineTuneReport


@one_line_errors("fine-tune")
def fine_tune(
    scans: list[Path] = typer.Argument(..., help="Clouds in files, folders of scans, bags; in one unit."),
    out: Path = typer.Option(..., help="Write the tuned weights here (.safetensors)."),
    weights: Path = typer.Option(None, help="Initial weights. Default: the packaged ones."),
    topic: str = TOPIC,
    columns: str = COLUMNS,
    max_scans: int = typer.Option(50, min=4, help="Maximum number of scans: the last ones that differ."),
    examples: int = typer.Option(100, min=1, help="Pairs made of each scan in an epoch."),
    epochs: int = typer.Option(10, min=1, help="Maximum number of epochs."),
    learning_rate: float = typer.Option(1e-4, help="Learning rate of Adam."),
    max_minutes: float = typer.Option(5.0, help="Maximum duration of the command."),
    seed: int = typer.Option(0),
    device: str = DEVICE,
    threads: int = typer.Option(2, min=1, help="CPU threads."),
    json: bool = typer.Option(False, "--json", help="Print the whole report as JSON."),
) -> None:
    """Tune the network on SCANS, self-supervised, and validate it on some of them held out.

    Exit code 0 when better weights were written, 1 when the error did not fall enough (nothing is written), 2 when the
    scans cannot be used. Ctrl-C ends the run with the best weights so far.
    """
    import signal
    import time
    from json import dumps

    import torch

    from prnet_core.fine_tuning import FineTuneConfig
    from prnet_core.fine_tuning import fine_tune as run
    from prnet_core.fine_tuning.scan_transforms import register_neighbours
    from prnet_core.io.safe_write import check_target
    from prnet_core.model import load_network, save_network
    from prnet_core.model.weights import FOR_SCANS
    from prnet_core.registration import Registration, RegistrationConfig

    began = time.monotonic()
    stopped: list[int] = []
    check_target(out)
    config = FineTuneConfig(
        examples_per_scan=examples, epochs=epochs, learning_rate=learning_rate, max_seconds=60.0 * max_minutes,
        seed=seed,
    )  # fmt: skip
    torch.set_num_threads(threads)
    network = load_network(weights or FOR_SCANS, device)
    clouds = different_scans(read_scans(scans, topic, columns), max_scans)
    typer.echo(f"{len(clouds)} scans that differ; registering neighbours", err=True)
    transforms = register_neighbours(clouds, Registration(network, RegistrationConfig(num_threads=threads)))
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    with typer.progressbar(length=1000, label="fine-tuning", file=typer.get_text_stream("stderr")) as bar:
        report = run(
            network,
            clouds,
            config,
            progress=lambda progress: bar.update(round(1000 * progress.share_done) - bar.pos),
            should_stop=lambda: bool(stopped),
            transforms=transforms,
            began=began,
        )
    if report.improved:
        save_network(report.network, out, {"fine_tuned": report.to_dict()})
    typer.echo(dumps(report.to_dict(), indent=1) if json else as_table(report))
    if not json and report.improved:
        typer.echo(f"written to {out}")
    if not report.improved:
        raise typer.Exit(1)


def read_scans(paths: list[Path], topic: str | None, columns: str | None = None) -> Iterator[np.ndarray]:
    """Points (N, 3) of all files, folders and bags, in order."""
    from prnet_core.io.bag_files import is_storage_file
    from prnet_core.io.cloud_files import read_cloud_file
    from prnet_core.io.recordings import open_scans

    for path in paths:
        if path.is_dir() or is_storage_file(path):
            for _, points, _ in open_scans(path, topic, columns):
                yield points
        else:
            yield read_cloud_file(path, columns)


def different_scans(scans: Iterator[np.ndarray], capacity: int) -> list[np.ndarray]:
    """The last `capacity` scans that differ from one another."""
    from prnet_core.fine_tuning.recent_scans import RecentScans

    recent = RecentScans(capacity)
    for index, points in enumerate(scans):
        recent.add(points, None, float(index))
    return [scan.points for scan in recent.snapshot()]


def as_table(report: FineTuneReport) -> str:
    rows = [
        ("mean error, deg", report.before.error_deg, report.after.error_deg, ".2f"),
        ("median error, deg", report.before.median_deg, report.after.median_deg, ".2f"),
        ("in the refinement's basin", report.before.basin_share, report.after.basin_share, ".0%"),
    ]
    lines = [f"{f'network alone, {report.before.num_pairs} held-out pairs':40}{'before':>10}{'after':>10}"]
    lines += [f"{name:40}{before:>10{form}}{after:>10{form}}" for name, before, after, form in rows]
    kept = "new weights" if report.improved else "old weights kept"
    unusable = f", {report.num_scans_unusable} unusable" if report.num_scans_unusable else ""
    return "\n".join(
        [
            *lines,
            f"{kept}: {report.reason}",
            f"{report.num_scans_tuned} scans tuned on, {report.num_scans_held_out} held out{unusable}, "
            f"{report.num_transforms} transforms between them; "
            f"{report.steps} steps in {report.seconds:.0f} s",
        ]
    )
