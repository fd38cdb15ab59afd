"""The steps of a fine-tuning run."""

import numpy as np
import torch
from torch import nn

from prnet_core.model import EdgeConv, PRNet, prnet_loss
from prnet_core.model.precision import bfloat16_is_fast
from prnet_core.pairs.pair_batch import PairBatch

from .config import FineTuneConfig
from .scan_examples import ScanExamples

MAX_SKIPPED = 10
"""This number of consecutive steps without a finite loss and gradient ends a run."""


class Tuning:
    """Tunes a network in place on examples, one batch per step. A batch depends on the seed and the step only.

    loss_curve: (step, loss) of every step that was finite.
    """

    def __init__(self, network: PRNet, examples: ScanExamples, config: FineTuneConfig) -> None:
        self.network = network.requires_grad_(True)
        self.examples = examples
        self.config = config
        self.device = next(network.parameters()).device
        self.optimiser = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
        self.steps_per_epoch = -(-len(examples) * config.examples_per_scan // config.batch_size)
        self.num_steps = self.steps_per_epoch * config.epochs
        self.step = self.num_skipped = self.num_skipped_in_a_row = 0
        self.loss_curve: list[tuple[int, float]] = []

    def advance(self) -> None:
        """One step. A step without a finite loss and gradient does not change the weights."""
        config = self.config
        train_with_running_statistics(self.network)
        for group in self.optimiser.param_groups:
            group["lr"] = config.learning_rate * min(1.0, (self.step + 1) / max(config.warmup_steps, 1))
        generator = torch.Generator(self.device).manual_seed(self._seed(self.step, 2))
        pairs = self.batch(self.step)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=bfloat16_is_fast(self.device)):
            output = self.network(pairs.source, pairs.target, num_passes=1, generator=generator)
            loss = prnet_loss(output, pairs.T_target_source, self.network.config, pairs.matches)["total"]
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self.step += 1
        if torch.isfinite(norm) and torch.isfinite(loss):
            self.optimiser.step()
            self.loss_curve.append((self.step, float(loss.detach())))
            self.num_skipped_in_a_row = 0
        else:
            self.num_skipped += 1
            self.num_skipped_in_a_row += 1

    def batch(self, step: int) -> PairBatch:
        """The pairs of a step. In an epoch, every scan is the source of `examples_per_scan` pairs."""
        epoch, place = divmod(step, self.steps_per_epoch)
        order = np.random.default_rng([self.config.seed, 1, epoch]).permutation(
            np.repeat(np.arange(len(self.examples)), self.config.examples_per_scan)
        )
        rng = np.random.default_rng(self._seed(step, 3))
        chosen = order[place * self.config.batch_size : (place + 1) * self.config.batch_size]
        return self.examples.stack([self.examples.draw(int(scan), rng) for scan in chosen], self.device)

    def _seed(self, step: int, purpose: int) -> int:
        return int(np.random.SeedSequence([self.config.seed, purpose, step]).generate_state(1)[0])


def train_with_running_statistics(network: PRNet) -> None:
    """Training mode, except that BatchNorm uses its running statistics and does not change them.

    A batch of a few scans has other statistics than the training data; its scale and shift are still learned.
    """
    network.train()
    for module in network.modules():
        if isinstance(module, EdgeConv | nn.modules.batchnorm._BatchNorm):
            module.eval()
