"""The training loop: resumes after a kill, skips steps that are not finite, keeps the best weights by validation."""

import math
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from prnet_core.model.processes import process_rank

from .checkpoint import load_checkpoint, save_checkpoint
from .config import TrainingConfig
from .group import agree, average_gradients, mean_terms
from .log import TrainingLog
from .methods import training_method
from .pair_source import PairSource, seed_of
from .surface_pair_files import SurfacePairFiles
from .validation import rotation_errors_deg, score, validation_sets
from .weight_average import WeightAverage

LOG_EVERY = 20
NOISE = 1


@contextmanager
def flushed_denormals():
    """Treat denormal numbers as zero, which is several times as fast on a CPU. The mode is limited to this context,
    because SciPy's k-d tree recurses without end on some clouds in it."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextmanager
def interrupts_deferred():
    """Ctrl-C takes effect at the end of the block: a training step is done whole or not at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if received:
            signal.raise_signal(signal.SIGINT)


class Trainer:
    """Runs a TrainingConfig in a folder, from the newest intact checkpoint if there is one.

    Writes log.jsonl, checkpoints and best.safetensors, the weights with the lowest validation score. In a process group
    (torchrun) each batch is split over the processes, and the first process writes the files.
    """

    def __init__(self, config: TrainingConfig, folder: str | Path, device: torch.device) -> None:
        self.config, self.device = config, device
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = TrainingLog(self.folder) if process_rank() == 0 else None
        self.method = training_method(config.method)
        torch.manual_seed(config.seed)
        self.network = self.method.make_network(config.network).to(device).train()
        if config.init_from:
            weights = self.method.load(config.init_from, device).state_dict()
            unexpected = self.network.load_state_dict(weights, strict=False).unexpected_keys
            if unexpected:
                raise ValueError(f"{config.init_from} holds {unexpected[0]}, which this network does not have")
        optimiser = torch.optim.AdamW if config.optimiser == "adamw" else torch.optim.Adam
        self.optimiser = optimiser(self.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        self.average = WeightAverage(self.network, config.average_decay) if config.average_decay else None
        self.progress = load_checkpoint(self.folder, self.network, self.optimiser, self._message, self.average)
        if config.surface_pairs:
            self.source = SurfacePairFiles(config.surface_pairs, config.batch_size, config.seed, device)
            self.validation = self.source.validation(config.validation_pairs) if self.log else {}
        else:
            self.source = PairSource(config, device)
            self.validation = validation_sets(self.source, config) if self.log else {}

    def share_done(self) -> float:
        """Fraction of the run done, in [0, 1]: the larger of the fractions of steps and of minutes."""
        shares = [self.progress.step / self.config.steps]
        if self.config.max_minutes:
            shares.append(self.progress.seconds / (60.0 * self.config.max_minutes))
        return min(max(shares), 1.0)

    def run(self, should_stop: Callable[[], bool] = lambda: False) -> dict:
        """Train to the end of the schedule and return the last validation scores. Saves on stop and on Ctrl-C.

        `should_stop` is called after every step; the answer of the first process counts.
        """
        config, progress = self.config, self.progress
        self._write({"started_from": progress.step})
        started, before = time.monotonic(), progress.seconds
        checkpoint_at = before + 60.0 * config.checkpoint_minutes
        validate_at = before + 60.0 * config.validate_minutes
        stop = False
        try:
            while self.share_done() < 1.0 and not stop:
                with interrupts_deferred():
                    terms = self.step()
                progress.seconds, stop = agree([before + time.monotonic() - started, should_stop()], self.device)
                if progress.step % LOG_EVERY == 0:
                    self._write({name: round(float(value), 5) for name, value in terms.items()})
                if progress.seconds >= checkpoint_at:
                    self._save()
                    checkpoint_at = progress.seconds + 60.0 * config.checkpoint_minutes
                if progress.seconds >= validate_at:
                    self.validate()
                    validate_at = progress.seconds + 60.0 * config.validate_minutes
        finally:
            self._save()
        scores = self.validate()
        if self.log:
            self.log.close()
        return scores

    def step(self) -> dict[str, Tensor]:
        """One optimiser step. Returns the detached loss terms. A step that is not finite changes no weights."""
        config, progress = self.config, self.progress
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * self._rate()
        pairs = self.source.batch(progress.step)
        torch.manual_seed(seed_of(config.seed, progress.step, NOISE))
        with flushed_denormals():
            kept = {name: value.clone() for name, value in self.network.named_buffers()}
            with torch.autocast(self.device.type, torch.bfloat16, enabled=config.bfloat16):
                terms = self.method.objective(self.network, pairs, config.num_passes, self.share_done())
            self.optimiser.zero_grad(set_to_none=True)
            terms["total"].backward()
            average_gradients(self.network.parameters())
            norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip or math.inf)
            terms = mean_terms(terms)
            if torch.isfinite(norm) and torch.isfinite(terms["total"]):
                self.optimiser.step()
                if self.average:
                    self.average.update(self.network, progress.step)
            else:
                progress.skipped += 1
                for name, value in self.network.named_buffers():
                    value.copy_(kept[name])
        progress.step += 1
        return terms | {"gradient": norm}

    def validate(self) -> dict:
        """Score the network on the validation pairs and save it if it is the best so far (first process only)."""
        if not self.log:
            return {}
        with self.average.applied(self.network) if self.average else nullcontext():
            scores = self._validate()
        self._save()
        return scores

    def _validate(self) -> dict:
        scores = {
            name: score(rotation_errors_deg(self.network, pairs, self.device))
            for name, pairs in self.validation.items()
        }
        mean = sum(values["capped_mean_deg"] for values in scores.values()) / len(scores)
        self._write({"validation": scores, "score": mean})
        if mean < self.progress.best:
            self.progress.best = mean
            card = {"steps": self.progress.step, "minutes": round(self.progress.seconds / 60, 1), "validation": scores}
            self.method.save(self.network, self.folder / "best.safetensors", card | {"training": asdict(self.config)})
        return scores

    def _rate(self) -> float:
        warm = min(1.0, (self.progress.step + 1) / max(self.config.warmup_steps, 1))
        done = self.share_done()
        if self.config.schedule == "steps":
            return warm * 0.1 ** sum(done >= milestone for milestone in self.config.milestones)
        return warm * max(0.5 * (1.0 + math.cos(math.pi * done)), 0.005)

    def _save(self) -> None:
        if self.log:
            save_checkpoint(self.folder, self.network, self.optimiser, self.progress, self.average)

    def _write(self, values: dict) -> None:
        if self.log:
            self.log.write(self.progress.step, self.progress.seconds, values | {"skipped": self.progress.skipped})
            self.log.show(self.share_done(), values.get("total", math.nan))

    def _message(self, text: str) -> None:
        if self.log:
            self.log.message(text)
