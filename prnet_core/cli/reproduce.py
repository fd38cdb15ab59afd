"""`prnet reproduce`: measure the tables of the paper and compare them with the published values."""

from pathlib import Path

import typer

from prnet_core.cli.options import DEVICE, LIMIT, NETWORKS


def reproduce(
    table: str = typer.Argument(..., help="Name of a table, or all. `prnet reproduce list` lists them."),
    data: Path = typer.Option(None, help="Test shapes: .npz, ModelNet40's HDF5 files or OFF meshes."),
    split: str = typer.Option("test", help='Split of the test shapes; "" for all.'),
    train_data: Path = typer.Option(None, help="Training shapes, for ablations that train and for transfer."),
    weights: list[str] = NETWORKS,
    method: list[str] = typer.Option([], help="Only these methods."),
    out: Path = typer.Option(None, help="Folder for TABLE.json and TABLE.md. Default: docs/results, or quick_results."),
    limit: int = LIMIT,
    steps: int = typer.Option(160, min=1, help="Training steps of each run of an ablation that trains."),
    quick: bool = typer.Option(False, help="A few pairs and steps, to check that it runs; the values mean nothing."),
    device: str = DEVICE,
) -> None:
    """Measure a table of the paper, write it as JSON and Markdown, and update it in the README.md of the folder."""
    from prnet_core.cli.errors import fail, one_line_errors
    from prnet_core.cli.evaluate import command_line, parse_weights
    from prnet_core.evaluation.methods import MethodOptions
    from prnet_core.evaluation.paper import TABLES, Setup
    from prnet_core.evaluation.paper.page import update_page
    from prnet_core.io.safe_write import check_folder

    if table == "list":
        typer.echo("\n".join(TABLES))
        return
    names = TABLES if table == "all" else [table]
    out = out or Path("quick_results" if quick else "docs/results")
    with one_line_errors("reproduce"):
        if table != "all" and table not in TABLES:
            raise ValueError(f"unknown table {table!r}: {', '.join(TABLES)}, all")
        check_folder(out, ("README.md", *(f"{name}{suffix}" for name in names for suffix in (".json", ".md"))))
        if data is None:
            raise ValueError("test shapes are missing: --data")
    setup = Setup(
        data, train_data, split, MethodOptions(parse_weights(weights), device), tuple(method) or None, limit, steps,
        quick, command_line(),
    )  # fmt: skip
    failed = False
    for name in names:
        try:
            made = TABLES[name](setup)
            typer.echo(made.to_markdown())  # first, so that a full disk does not lose it
            made.write(out / f"{name}.json")
            update_page(out / "README.md", name, made.to_markdown())
        except (ValueError, OSError, ImportError) as error:
            fail(f"reproduce {name}", error)
            failed = True
    if failed:
        raise typer.Exit(2)
