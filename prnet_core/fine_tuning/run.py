"""A fine-tuning run: tune a copy of the network, validate it on held-out scans, keep the better weights."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from prnet_core.model import PRNet

from .config import FineTuneConfig
from .held_out import HeldOut
from .progress import FineTuneError, FineTuneProgress, ScanTransform
from .report import FineTuneReport
from .scan_examples import ScanExamples, clean_scan, is_usable
from .surface_examples import SurfaceExamples
from .tuning import MAX_SKIPPED, Tuning


def fine_tune(
    network: PRNet,
    scans: Sequence[np.ndarray],
    config: FineTuneConfig | None = None,
    progress: Callable[[FineTuneProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    transforms: Sequence[ScanTransform] | None = None,
    began: float | None = None,
) -> FineTuneReport:
    """Tune a copy of the network on scans (n of (N_i, 3), one unit); the given network is not changed.

    Every epoch makes `examples_per_scan` pairs of each scan that is not held out, by random transforms and crops,
    or with the scans' known transforms where there are some. The weights with the lowest held-out error are kept if
    that is a gain, else the old ones. `should_stop` ends the run early with the best so far. On the CPU the result
    is a function of the seed and the number of threads, unless the seconds or `should_stop` end the run.
    `began`: time.monotonic() from which `max_seconds` count; None: now.

    Raises FineTuneError for scans of an invalid shape, and when fewer than `min_scans` are usable.
    """
    began = time.monotonic() if began is None else began
    config = config or FineTuneConfig()
    kind = SurfaceExamples if network.config.features == "surface" else ScanExamples
    examples, held_out_examples = split_scans(scans, transforms or (), config, kind)
    faster = replace(config, learning_rate=kind.RATE_FACTOR * config.learning_rate)
    tuning = Tuning(copy.deepcopy(network), examples, faster)
    held_out = HeldOut(tuning.network, held_out_examples, config)

    is_late = config.max_seconds is not None and time.monotonic() - began >= config.max_seconds
    ending = "the time was up before the first step" if is_late else ""
    while not ending:
        tuning.advance()
        seconds = time.monotonic() - began
        share = max(tuning.step / tuning.num_steps, seconds / config.max_seconds if config.max_seconds else 0.0)
        is_broken = tuning.num_skipped_in_a_row >= MAX_SKIPPED
        if share >= 1.0 or is_broken or share * config.num_validations >= len(held_out.history):
            held_out.validate(between(network, tuning.network, kind.TUNED_SHARE), tuning.step)
        if progress is not None:
            loss = tuning.loss_curve[-1][1] if tuning.loss_curve else float("nan")
            errors = held_out.before.error_deg, held_out.best_error_deg
            progress(FineTuneProgress(tuning.step, tuning.num_steps, min(share, 1.0), seconds, loss, *errors))
        if is_broken:
            ending = "the loss was not finite any more"
        elif tuning.step >= tuning.num_steps:
            ending = "all epochs done"
        elif share >= 1.0:
            ending = "the time was up"
        elif held_out.num_without_gain >= config.patience:
            ending = f"no gain in {config.patience} validations"
        elif should_stop is not None and should_stop():
            ending = "stopped"

    gained = held_out.is_gain(config.min_gain)
    tuning.network.load_state_dict(held_out.best_weights if gained else network.state_dict())
    return FineTuneReport(
        network=tuning.network.requires_grad_(False).eval(),
        kept="tuned" if gained else "original",
        reason=f"{held_out.verdict(config.min_gain)}; {ending}",
        before=held_out.before,
        after=held_out.best_tuned,
        loss_curve=tuning.loss_curve,
        validations=[(step, score.error_deg) for step, score in held_out.history],
        seconds=time.monotonic() - began,
        steps=tuning.step,
        skipped_steps=tuning.num_skipped,
        num_scans_tuned=len(examples),
        num_scans_held_out=len(held_out_examples),
        num_scans_unusable=len(scans) - len(examples) - len(held_out_examples),
        num_transforms=examples.num_transforms,
        config=config,
    )


def between(original: PRNet, tuned: PRNet, tuned_share: float) -> PRNet:
    """A network whose weights lie this share of the way from the original to the tuned ones: it forgets less."""
    network, weights = copy.deepcopy(original), tuned.state_dict()
    for name, value in network.state_dict().items():  # shares its memory with the network
        if value.is_floating_point():
            value.lerp_(weights[name], tuned_share)
    return network


def split_scans(
    scans: Sequence[np.ndarray],
    transforms: Sequence[ScanTransform],
    config: FineTuneConfig,
    kind: type[ScanExamples] = ScanExamples,
) -> tuple[ScanExamples, ScanExamples]:
    """Examples for tuning and for validation, from different scans; the held-out scans are evenly spread.

    A transform between a tuned and a held-out scan is a real pair for validation. Scans with too few finite points are
    left out. Raises FineTuneError when fewer than `min_scans` remain.
    """
    rng = np.random.default_rng([config.seed, 0])
    cleaned = [clean_scan(points, rng) for points in scans]
    usable = [index for index, points in enumerate(cleaned) if is_usable(points)]
    if len(usable) < config.min_scans:
        missing = config.min_scans - len(usable)
        raise FineTuneError(f"{len(usable)} usable scans of the {config.min_scans} needed: {missing} are missing")
    number = max(1, round(config.held_out_share * len(usable)))
    held_out = {usable[int(place)] for place in (np.arange(number) + 0.5) * len(usable) / number}
    places = {index: place for place, index in enumerate(usable)}
    transforms = [
        ScanTransform(places[m.source], places[m.target], m.T_target_source)
        for m in transforms
        if m.source in places and m.target in places
    ]
    clouds = [cleaned[index] for index in usable]
    transforms = kind.usable_transforms(clouds, transforms)
    held_out_scans = [place for index, place in places.items() if index in held_out]
    tuned = [place for index, place in places.items() if index not in held_out]
    within = [m for m in transforms if m.source in tuned and m.target in tuned]
    across = [m for m in transforms if m.source in held_out_scans]
    return (
        kind(clouds, within, config, True, tuned),
        kind(clouds, across, replace(config, known_transform_share=1.0), False, held_out_scans),
    )
