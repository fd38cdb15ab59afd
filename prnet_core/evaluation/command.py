"""The command that is running, as a table prints it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def command_line() -> str:
    """`prnet evaluate ...` as it was typed, also when it was started with `python -m`."""
    program = Path(sys.argv[0])
    name = "prnet" if program.suffix == ".py" else program.name
    return shlex.join([name, *sys.argv[1:]])
