"""The running command, for the tables."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def command_line() -> str:
    """`prnet evaluate ...` as typed, also for `python -m`."""
    program = Path(sys.argv[0])
    name = "prnet" if program.suffix == ".py" else program.name
    return shlex.join([name, *sys.argv[1:]])
