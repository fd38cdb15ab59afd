"""The command line `prnet`: one file per command; expensive modules are imported when a command runs."""

import os

import typer

from prnet_core.cli.evaluate import evaluate
from prnet_core.cli.figure import figure
from prnet_core.cli.fine_tune import fine_tune
from prnet_core.cli.map import localize, make_map, merge
from prnet_core.cli.odometry import odometry
from prnet_core.cli.register import register
from prnet_core.cli.reproduce import reproduce
from prnet_core.cli.train import train

app = typer.Typer(no_args_is_help=True, add_completion=False)
app.command()(evaluate)
app.command()(figure)
app.command()(fine_tune)
app.command()(localize)
app.command("map")(make_map)
app.command()(merge)
app.command()(odometry)
app.command()(register)
app.command()(reproduce)
app.command()(train)


@app.callback()
def main() -> None:
    """Learned registration of partial 3D scans."""
    # Waiting threads spin briefly, then sleep. On an idle machine this is twice as fast as sleeping at once, and two
    # programs that compute at the same time do not block each other for long.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")


if __name__ == "__main__":
    app()
