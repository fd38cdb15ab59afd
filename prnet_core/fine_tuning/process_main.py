"""The program of the process started by FineTuneProcess.

It answers one line of JSON per step, {"progress": ...}, and {"report": ...} or {"error": ...} as the last. Ends when
its standard input closes.
"""

import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TextIO


def main(answers: TextIO) -> None:
    """Fine-tune as requested in the folder."""
    folder = Path(sys.argv[1])

    def answer(**values: object) -> None:
        print(json.dumps(values), file=answers, flush=True)

    threading.Thread(target=_end_with_the_parent, daemon=True).start()

    import torch

    from prnet_core.model import load_network, save_network

    from .config import FineTuneConfig
    from .inputs import REQUEST, TUNED, WEIGHTS, read_inputs
    from .progress import FineTuneError
    from .run import fine_tune

    request = json.loads((folder / REQUEST).read_text())
    torch.set_num_threads(request["num_threads"])
    scans, transforms = read_inputs(folder)
    network = load_network(folder / WEIGHTS, request["device"])
    try:
        report = fine_tune(
            network, scans, FineTuneConfig(**request["config"]), lambda p: answer(progress=asdict(p)),
            transforms=transforms,
            began=request["began"],
        )  # fmt: skip
    except FineTuneError as error:
        answer(error=str(error))
        return
    save_network(report.network, folder / TUNED, card={})
    answer(report=report.to_dict())


def _end_with_the_parent() -> None:
    sys.stdin.read()
    os._exit(1)
