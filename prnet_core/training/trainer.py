"""The training loop: resumable at any kill, skipping what is not finite, keeping the best by validation."""

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from ..data.pairs import PairBatch
from ..model import PRNet, load_network, prnet_loss, save_network
from .checkpoint import load_checkpoint, save_checkpoint
from .config import TrainingConfig
from .pair_source import PairSource
from .validation import object_validation, rotation_errors_deg, scan_validation, score

LOG_EVERY = 20


def prnet_objective(network: PRNet, pairs: PairBatch, num_passes: int) -> dict[str, Tensor]:
    """The loss terms of a batch; "total" is what is minimised."""
    output = network(pairs.source, pairs.target, num_passes)
    return prnet_loss(output, pairs.T_target_source, network.config, pairs.matches)


class Trainer:
    """Runs a TrainingConfig in a folder, from its newest checkpoint if there is one.

    The folder gets log.jsonl, checkpoints, and best.safetensors: the weights with the lowest validation score.
    """

    def __init__(self, config: TrainingConfig, folder: str | Path, device: torch.device) -> None:
        self.config, self.device = config, device
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(config.seed)
        torch.set_flush_denormal(True)
        network = load_network(config.init_from, device) if config.init_from else PRNet(config.network)
        self.network = network.to(device).train()
        optimiser = torch.optim.AdamW if config.optimiser == "adamw" else torch.optim.Adam
        self.optimiser = optimiser(
            self.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.source = PairSource(config, device)
        self.progress = load_checkpoint(self.folder, self.network, self.optimiser, self._say)
        self.validation = {"objects": object_validation(self.source, config)}
        if self.source.scans:
            self.validation["scans"] = scan_validation(self.source, config)

    def share_done(self) -> float:
        """In [0, 1]: of the steps or of the minutes, whichever is nearer to its end."""
        shares = [self.progress.step / self.config.steps]
        if self.config.max_minutes:
            shares.append(self.progress.seconds / (60.0 * self.config.max_minutes))
        return min(max(shares), 1.0)

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> dict:
        """Train to the end of the schedule; returns the last validation. Saves on stop and on Ctrl-C."""
        config, progress = self.config, self.progress
        started, before = time.monotonic(), progress.seconds
        checkpoint_at = validate_at = progress.seconds
        checkpoint_at += 60.0 * config.checkpoint_minutes
        validate_at += 60.0 * config.validate_minutes
        try:
            while self.share_done() < 1.0 and not should_stop():
                terms = self.step()
                progress.seconds = before + time.monotonic() - started
                if progress.step % LOG_EVERY == 0:
                    self._log({name: round(float(value), 5) for name, value in terms.items()})
                if progress.seconds >= checkpoint_at:
                    save_checkpoint(self.folder, self.network, self.optimiser, progress)
                    checkpoint_at = progress.seconds + 60.0 * config.checkpoint_minutes
                if progress.seconds >= validate_at:
                    self.validate()
                    validate_at = progress.seconds + 60.0 * config.validate_minutes
        finally:
            save_checkpoint(self.folder, self.network, self.optimiser, progress)
        return self.validate()

    def step(self) -> dict[str, Tensor]:
        """One optimiser step; returns the detached loss terms. A step that is not finite changes nothing."""
        config, progress = self.config, self.progress
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * self._rate()
        pairs = self.source.batch(progress.step)
        kept = {name: value.clone() for name, value in self.network.named_buffers()}
        with torch.autocast(self.device.type, torch.bfloat16, enabled=config.bfloat16):
            terms = prnet_objective(self.network, pairs, config.num_passes)
        self.optimiser.zero_grad(set_to_none=True)
        terms["total"].backward()
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        if torch.isfinite(norm) and torch.isfinite(terms["total"]):
            self.optimiser.step()
        else:
            progress.skipped += 1
            for name, value in self.network.named_buffers():
                value.copy_(kept[name])
        progress.step += 1
        return {name: value.detach() for name, value in terms.items()} | {"gradient": norm}

    def validate(self) -> dict:
        """Score the network on the validation pairs, keep it if it is the best so far."""
        scores = {
            name: score(rotation_errors_deg(self.network, pairs, self.device, self.config.bfloat16))
            for name, pairs in self.validation.items()
        }
        mean = sum(values["capped_mean_deg"] for values in scores.values()) / len(scores)
        self._log({"validation": scores, "score": mean})
        if mean < self.progress.best:
            self.progress.best = mean
            card = {"steps": self.progress.step, "minutes": round(self.progress.seconds / 60, 1), "validation": scores}
            save_network(self.network, self.folder / "best.safetensors", card | {"training": self.config.to_dict()})
        return scores

    def _rate(self) -> float:
        warm = min(1.0, (self.progress.step + 1) / max(self.config.warmup_steps, 1))
        done = self.share_done()
        if self.config.schedule == "steps":
            return warm * 0.1 ** sum(done >= milestone for milestone in self.config.milestones)
        return warm * max(0.5 * (1.0 + math.cos(math.pi * done)), 0.005)

    def _log(self, values: dict) -> None:
        head = {"step": self.progress.step, "minutes": round(self.progress.seconds / 60, 2)}
        with open(self.folder / "log.jsonl", "a") as file:
            file.write(json.dumps(head | values) + "\n")

    def _say(self, text: str) -> None:
        print(text, flush=True)
