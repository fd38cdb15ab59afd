"""The log of a run: log.jsonl, TensorBoard where it is installed, and a progress bar on a terminal."""

import json
from pathlib import Path

from tqdm import tqdm

BAR = "{percentage:3.0f}%|{bar}| {elapsed} since this launch, {postfix}"


class TrainingLog:
    """Appends one JSON line per entry to log.jsonl in the folder, over all launches of the run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.jsonl"
        self.bar = tqdm(total=1.0, bar_format=BAR, disable=None, leave=False)
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            self.board = None
        else:
            self.board = SummaryWriter(folder / "tensorboard")

    def write(self, step: int, seconds: float, values: dict) -> None:
        """values: numbers, text, or dictionaries of them."""
        with open(self.path, "a") as file:
            file.write(json.dumps({"step": step, "minutes": round(seconds / 60, 2)} | values) + "\n")
        if self.board:
            for name, value in _flat(values):
                self.board.add_scalar(name, value, step)

    def show(self, share_done: float, loss: float) -> None:
        """Update the progress bar."""
        self.bar.n = share_done
        self.bar.set_postfix_str(f"loss {loss:.4f}")

    def message(self, text: str) -> None:
        self.bar.write(text)

    def close(self) -> None:
        self.bar.close()
        if self.board:
            self.board.flush()


def _flat(values: dict, prefix: str = ""):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, int | float):
            yield prefix + name, value
