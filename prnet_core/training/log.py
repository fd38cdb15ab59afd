"""What a run tells: log.jsonl, TensorBoard where it is installed, and a progress bar on a terminal."""

import json
from pathlib import Path

from tqdm import tqdm

BAR = "{percentage:3.0f}%|{bar}| {elapsed} of this start, {postfix}"


class TrainingLog:
    """One line of JSON an entry in log.jsonl of the folder, appended over all starts of the run."""

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
        """values: numbers, dictionaries of such, or text."""
        with open(self.path, "a") as file:
            file.write(json.dumps({"step": step, "minutes": round(seconds / 60, 2)} | values) + "\n")
        if self.board:
            for name, value in _flat(values):
                self.board.add_scalar(name, value, step)

    def show(self, share_done: float, loss: float) -> None:
        """Move the bar."""
        self.bar.n = share_done
        self.bar.set_postfix_str(f"loss {loss:.4f}")

    def say(self, text: str) -> None:
        """A line for a person, above the bar."""
        self.bar.write(text)

    def close(self) -> None:
        """End the bar and write out what TensorBoard holds back."""
        self.bar.close()
        if self.board:
            self.board.flush()


def _flat(values: dict, prefix: str = ""):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}/")
        elif isinstance(value, int | float):
            yield prefix + name, value
