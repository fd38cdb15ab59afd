"""`prnet train`: start a training run in a folder, or continue it."""

from pathlib import Path

import typer

from prnet_core.cli.options import DEVICE


def train(
    config: Path = typer.Option(..., help="YAML file of the run, such as those in configs/."),
    out: Path = typer.Option(None, help="Folder of the run. Default: runs/NAME for NAME.yaml."),
    max_minutes: float = typer.Option(None, help="Length of the whole run, over all its launches."),
    device: str = DEVICE,
) -> None:
    """Train a network, or continue from the newest checkpoint in the folder.

    A kill loses the minutes since that checkpoint. SIGTERM and Ctrl-C lose nothing. With several
    processes: torchrun --nproc-per-node N -m prnet_core.cli.main train --config FILE.
    """
    import json
    import signal

    import torch

    import prnet_core.evaluation.baselines  # noqa: F401  adds its networks to the methods
    from prnet_core.cli.errors import fail, one_line_errors
    from prnet_core.io.safe_write import check_folder
    from prnet_core.training import Trainer, load_training_config
    from prnet_core.training.group import join_group

    stopped = []
    with one_line_errors("train"):
        folder = check_folder(out or Path("runs") / config.stem)
        settings = load_training_config(config, max_minutes=max_minutes)
        trainer = Trainer(settings, folder, join_group(device))
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    try:
        scores = trainer.run(lambda: bool(stopped))
    except OSError as error:  # such as a full disk; what the last checkpoint holds is kept
        raise fail("train", error) from error
    if scores:
        summary = {"step": trainer.progress.step, "folder": str(trainer.folder), "validation": scores}
        typer.echo(json.dumps(summary))
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
