"""The results page of a benchmark: Markdown, and the same figures as JSON beside it.

Benchmarks with one table use `prnet_core.evaluation.table.Table`, which writes both by itself.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from prnet_core.evaluation.table import measured_here
from prnet_core.io.safe_write import replacing


def command_line() -> str:
    """The command of this run."""
    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def page(title: str, *blocks: Iterable[str], command: str = "", measured: str = "") -> str:
    """Heading, command, date and machine, then blocks of lines. command: `command_line` by default; measured: now."""
    head = [f"# {title}"], [f"`{command or command_line()}`"], [measured or measured_here()]
    return "\n\n".join("\n".join(lines) for lines in (*head, *blocks)) + "\n"


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    """The lines of a table: the first column to the left, the others to the right."""
    headings = list(headings)
    lines = [f"| {' | '.join(headings).lstrip()} |", "|---|" + "---:|" * (len(headings) - 1)]
    return lines + ["| " + " | ".join(map(str, cells)) + " |" for cells in rows]


def write_results(path: Path, values: object, text: str) -> None:
    """Write the values to a JSON file, and the page to a Markdown file of the same name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for file, content in ((path, json.dumps(values, indent=1) + "\n"), (path.with_suffix(".md"), text)):
        with replacing(file) as temporary:
            temporary.write_text(content)
