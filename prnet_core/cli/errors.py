"""Errors of the command line: one line that names the file and the reason, and exit code 2."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer


def fail(command: str, error: Exception) -> typer.Exit:
    """Print the error in one line and give the exit to raise."""
    text = " ".join(str(error).split()) or type(error).__name__
    typer.echo(f"prnet {command}: {text}", err=True)
    return typer.Exit(2)


@contextmanager
def one_line_errors(command: str) -> Iterator[None]:
    """Turn errors of invalid input (ValueError, OSError, ImportError) into `fail`; also a decorator of a command."""
    try:
        yield
    except BrokenPipeError:  # of a reader such as `head`: click ends the program silently
        raise
    except (ValueError, OSError, ImportError) as error:
        raise fail(command, error) from error


def without_effect(command: str, option: str, reason: str) -> None:
    """Warn about a deprecated option."""
    typer.echo(f"prnet {command}: {option} has no effect any more: {reason}", err=True)


def check_picture(path: Path | None) -> None:
    """Raise ValueError or OSError unless a picture can be written at `path`; None is fine."""
    if path is None:
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from prnet_core.io.safe_write import check_target

    check_target(path, tuple(f".{name}" for name in FigureCanvasAgg.get_supported_filetypes()))
