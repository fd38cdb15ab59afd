"""`prnet evaluate`: a table of methods on the paper's protocol."""

import shlex
import sys
from pathlib import Path

import typer

from prnet_core.cli.errors import one_line_errors
from prnet_core.cli.options import DEVICE, LIMIT, NETWORKS


@one_line_errors("evaluate")
def evaluate(
    data: Path = typer.Option(..., help="Shapes: .npz, ModelNet40's HDF5 files or OFF meshes, a folder of scans."),
    split: str = typer.Option(None, help="Split of the data, such as test. Default: all data."),
    protocol: str = typer.Option("objects", help="objects, noise, hard or full."),
    method: list[str] = typer.Option(
        ["icp", "fgr", "prnet", "prnet+refine"],
        help="icp, goicp, fgr, prnet, dcp or pointnetlk, each also with +refine; prnet+hypotheses; repeatable. "
        "NETWORK:LABEL uses the weights of that label. The trivial rows are always shown.",
    ),
    json: Path = typer.Option(None, help="File for the table (JSON); the Markdown file gets the same name."),
    weights: list[str] = NETWORKS,
    limit: int = LIMIT,
    device: str = DEVICE,
) -> None:
    """Measure registration methods on the same seeded pairs."""
    from prnet_core.evaluation.methods import MethodOptions
    from prnet_core.evaluation.run import transform_table
    from prnet_core.io.safe_write import check_target
    from prnet_core.pairs.protocol import PROTOCOLS
    from prnet_core.shapes.load import load_shapes

    if json is not None:
        if json.suffix == ".md":
            raise ValueError(f"{json}: the Markdown file gets this name; name a .json file")
        check_target(json)
        check_target(json.with_suffix(".md"))
    if protocol not in PROTOCOLS:
        raise ValueError(f"unknown protocol {protocol!r}: {', '.join(PROTOCOLS)}")
    table = transform_table(
        title=f"Protocol {protocol}",
        command=command_line(),
        shapes=load_shapes(data, split),
        protocol=PROTOCOLS[protocol],
        methods=method,
        options=MethodOptions(parse_weights(weights), device),
        settings={"data": data.name, "split": split or "all"},
        limit=limit,
    )
    typer.echo(table.to_markdown())
    if json is not None:
        table.write(json)


def parse_weights(values: list[str]) -> dict[str, Path]:
    """["a.safetensors", "dcp=b.safetensors"] -> {"prnet": ..., "dcp": ...}."""
    named = [value.split("=", 1) if "=" in value else ["prnet", value] for value in values]
    return {name: Path(file) for name, file in named}


def command_line() -> str:
    """`prnet evaluate ...` as typed, also for `python -m`."""
    program = Path(sys.argv[0])
    name = "prnet" if program.suffix == ".py" else program.name
    return shlex.join([name, *sys.argv[1:]])
