"""Tables of results, written as JSON and as Markdown."""

import json
import math
import os
import platform
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from prnet_core.io.safe_write import replacing

MISSING = "-"


def _today() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d")


@dataclass(frozen=True)
class Column:
    """A key of the rows, its heading and the format of its values."""

    key: str
    heading: str
    form: str = "{:.3f}"


TRANSFORM_COLUMNS = (
    Column("rmse_r_deg", "RMSE(R) deg"),
    Column("mae_r_deg", "MAE(R) deg"),
    Column("r2_r", "R2(R)"),
    Column("rmse_t", "RMSE(t)", "{:.4f}"),
    Column("mae_t", "MAE(t)", "{:.4f}"),
    Column("median_geodesic_deg", "median deg"),
    Column("share_within_1_deg", "within 1 deg", "{:.1%}"),
    Column("share_within_5_deg", "5 deg", "{:.1%}"),
    Column("share_within_15_deg", "15 deg", "{:.1%}"),
    Column("class_mean_mae_r_deg", "MAE(R), mean over classes"),
    Column("seconds_per_pair", "s per pair", "{:.4f}"),
)


@dataclass(frozen=True)
class Table:
    """Measured rows, published rows for comparison, and their provenance.

    settings   data, split, protocol, number of pairs, weights (JSON values)
    notes      sentences on differences and their reasons
    """

    title: str
    command: str
    rows: list[dict]
    columns: tuple[Column, ...] = TRANSFORM_COLUMNS
    published: list[dict] = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    first_heading: str = "method"
    machine: dict = field(default_factory=lambda: describe_machine())
    date: str = field(default_factory=_today)

    def to_json(self) -> str:
        """All fields. Numbers that are not finite become null."""
        names = ("title", "command", "date", "machine", "settings", "rows", "published", "notes")
        values = {name: getattr(self, name) for name in names}
        return json.dumps(json_values(values), indent=1) + "\n"

    def to_markdown(self) -> str:
        """Heading, table (published rows in italics, last), command, settings, notes."""
        shown = [column for column in self.columns if any(column.key in row for row in self.rows + self.published)]
        lines = [f"## {self.title}", ""]
        lines += ["| " + " | ".join([self.first_heading, *(column.heading for column in shown)]) + " |"]
        lines += ["|---|" + "---:|" * len(shown)]
        for row in self.rows:
            lines.append(_line(str(row["method"]), row, shown))
        for row in self.published:
            lines.append(_line(f"*{row['method']}*", row, shown))
        settings = ", ".join(f"{key} {value}" for key, value in self.settings.items() if not isinstance(value, dict))
        lines += ["", f"`{self.command}`", "", f"{settings}. Measured {self.date} on {machine_text(self.machine)}."]
        if self.published:
            lines[-1] += " Rows in italics are published values."
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def write(self, json_path: str | Path) -> None:
        """Write `json_path` and a Markdown file of the same name (.md); a failure leaves older ones as they were."""
        json_path = Path(json_path)
        json_path.parent.mkdir(parents=True, exist_ok=True)
        for path, text in ((json_path, self.to_json()), (json_path.with_suffix(".md"), self.to_markdown())):
            with replacing(path) as temporary:
                temporary.write_text(text)


def measured_here() -> str:
    """A sentence with the date and the machine."""
    return f"Measured {_today()} on {machine_text(describe_machine())}."


def describe_machine() -> dict:
    """Processor, available cores, load average, torch version and threads, GPU if there is one."""
    import torch

    model = platform.processor() or platform.machine()
    try:
        info = Path("/proc/cpuinfo").read_text()
        model = next(line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = {"cpu": model, "cores": cores, "torch": torch.__version__, "torch_threads": torch.get_num_threads()}
    if hasattr(os, "getloadavg"):
        machine["load_average"] = round(os.getloadavg()[0], 1)
    return machine | ({"gpu": torch.cuda.get_device_name(0)} if torch.cuda.is_available() else {})


def machine_text(machine: dict) -> str:
    """One phrase of `describe_machine`."""
    threads = f"{machine['cores']} cores, {machine['torch_threads']} threads"
    if machine.get("load_average", 0) > 1.5 * machine["cores"]:
        threads += f", not idle (load {machine['load_average']}: times are too long)"
    return f"{machine['cpu']}, {threads}, torch {machine['torch']}, {machine.get('gpu', 'no GPU')}"


def _line(name: str, row: dict, columns: list[Column]) -> str:
    cells = [_cell(row.get(column.key), column.form) for column in columns]
    return "| " + " | ".join([name, *cells]) + " |"


def _cell(value, form: str) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return MISSING
    return form.format(value)


def json_values(value):
    """Builtin values for JSON: lists of arrays, and None for a number that is not finite."""
    if isinstance(value, dict):
        return {str(key): json_values(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [json_values(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
