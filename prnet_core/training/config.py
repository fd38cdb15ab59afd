"""The configuration of a training run, read from a YAML file with the same names."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from prnet_core.model import PRNetConfig
from prnet_core.model.config import check_choices
from prnet_core.pairs.object_pairs import ObjectPairConfig

from .methods import training_method


@dataclass(frozen=True)
class TrainingConfig:
    """The network, its training pairs, the optimiser and its schedule. Paths are relative to the working folder."""

    method: str = "prnet"
    """The network to train, a name in `prnet_core.training.methods`."""
    network: Any = field(default_factory=PRNetConfig.paper)
    """The configuration of the network: PRNetConfig for "prnet"."""
    pairs: ObjectPairConfig = field(default_factory=ObjectPairConfig)
    shapes: str = "train.npz"
    """A file or folder that `prnet_core.shapes.load.load_shapes` reads."""
    split: str | None = None
    num_classes: int | None = None
    """Train on this number of classes, the first by name. 20 of ModelNet40 is the paper's unseen-category split."""
    scan_views: str | None = None
    """Precomputed views of scenes (scripts/make_scan_views.py). `scan_share` of each batch is made from them."""
    scan_share: float = 0.0
    surface_pairs: str | None = None
    """A folder of precomputed surface pairs (`SurfacePairFiles`), for a network with the features "surface"; the
    shapes and scan views are then not read."""
    held_out: int = 128
    """Number of groups of shapes reserved for validation."""
    workers: int = 0
    """Processes that make the scan-like pairs; 0: the training process. Object pairs are made on the device."""

    steps: int = 100_000
    max_minutes: float | None = None
    """The schedule ends after `steps` or after this time, whichever comes first. A resumed run equals an uninterrupted
    one only when it is None."""
    batch_size: int = 16
    """Pairs per step, over all processes."""
    num_passes: int = 1
    optimiser: Literal["adamw", "adam"] = "adamw"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    warmup_steps: int = 200
    schedule: Literal["cosine", "steps"] = "cosine"
    milestones: tuple[float, ...] = (0.3, 0.6, 0.8)
    """For schedule "steps": the fractions of the run at which the learning rate is divided by ten."""
    clip: float | None = 1.0
    """Maximum gradient norm; None disables clipping."""
    average_decay: float | None = None
    """Share kept at each step of a moving average of the weights, which is then validated and saved."""
    bfloat16: bool = True
    seed: int = 0
    init_from: str | None = None
    """A weights file with the initial weights; modules that it lacks, such as a transformer, keep their own."""

    checkpoint_minutes: float = 3.0
    validate_minutes: float = 12.0
    validation_pairs: int = 32

    def __post_init__(self) -> None:
        check_choices(self)
        if self.batch_size < 1 or self.steps < 1:
            raise ValueError("batch_size and steps must be at least 1")


def load_training_config(path: str | Path, **overrides) -> TrainingConfig:
    """Read a YAML file. `network` may hold `preset: paper|small|invariant` and the settings that differ from it.

    Raises ValueError that names an unknown setting, a setting of another type, or the line of a YAML error.
    """
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text()) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold a mapping of settings, got a {type(values).__name__}")
    values.update({name: value for name, value in overrides.items() if value is not None})
    return make_training_config(values)


def make_training_config(values: dict) -> TrainingConfig:
    """A TrainingConfig from the values of `asdict` or of a YAML file."""
    values = dict(values)
    method = training_method(values.get("method", TrainingConfig.method))
    network = method.make_config(dict(values.pop("network", {})))
    pairs = _strict(ObjectPairConfig, values.pop("pairs", {}), "pairs.")
    return _strict(TrainingConfig, {**values, "network": network, "pairs": pairs}, "")


def _strict(cls, values: dict, prefix: str):
    known = {item.name: item.default for item in fields(cls)}
    unknown = set(values) - set(known)
    if unknown:
        raise ValueError("unknown training settings: " + ", ".join(prefix + name for name in sorted(unknown)))
    for name, value in values.items():
        if isinstance(known[name], int | float) and not _fits(value, known[name]):
            kind = type(known[name]).__name__
            raise ValueError(f"{prefix}{name} must be {kind}, got {value!r} (YAML reads 1e-3 as text: write 1.0e-3)")
    return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def _fits(value, default) -> bool:
    if value is None:
        return True
    if isinstance(value, bool) or isinstance(default, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    return isinstance(value, int if isinstance(default, int) else int | float)
