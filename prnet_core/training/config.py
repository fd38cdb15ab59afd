"""Every number of a training run, read from a YAML file of the same names."""

from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Literal

from ..data.object_pairs import ObjectPairConfig
from ..model import PRNetConfig


@dataclass(frozen=True)
class TrainingConfig:
    """A run: the network, its pairs, the optimiser and its schedule. Paths are relative to the working folder."""

    network: PRNetConfig = field(default_factory=PRNetConfig.paper)
    pairs: ObjectPairConfig = field(default_factory=ObjectPairConfig)
    shapes: str = "train.npz"
    """Anything that `prnet_core.data.shapes.load_shapes` reads."""
    split: str | None = None
    scan_views: str | None = None
    """Folder with scenes.npz of precomputed scan views; with it, `scan_share` of each batch is scan-like."""
    scan_share: float = 0.0
    held_out: int = 128
    """Groups of shapes kept for validation."""

    steps: int = 100_000
    max_minutes: float | None = None
    """The schedule ends at `steps` or here, whichever is nearer at the moment."""
    batch_size: int = 16
    num_passes: int = 1
    optimiser: Literal["adamw", "adam"] = "adamw"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    warmup_steps: int = 200
    schedule: Literal["cosine", "steps"] = "cosine"
    milestones: tuple[float, ...] = (0.3, 0.6, 0.8)
    """Of schedule "steps": the shares of the run after which the rate falls to a tenth."""
    clip: float = 1.0
    """Largest gradient norm."""
    bfloat16: bool = True
    seed: int = 0
    init_from: str | None = None
    """A weights file to start from."""

    checkpoint_minutes: float = 3.0
    validate_minutes: float = 12.0
    validation_pairs: int = 32

    def to_dict(self) -> dict:
        """Plain values, as in the YAML file."""
        return asdict(self)


def load_training_config(path: str | Path, **overrides) -> TrainingConfig:
    """Read a YAML file; `network` may hold `preset: paper|small` and what differs from it.

    Raises ValueError naming an unknown setting.
    """
    import yaml

    values = yaml.safe_load(Path(path).read_text()) or {}
    values.update({name: value for name, value in overrides.items() if value is not None})
    return make_training_config(values)


def make_training_config(values: dict) -> TrainingConfig:
    """A TrainingConfig of the plain values of `to_dict` or of a YAML file."""
    values = dict(values)
    network = dict(values.pop("network", {}))
    preset = getattr(PRNetConfig, network.pop("preset", "paper"))()
    network = PRNetConfig.from_dict({**preset.to_dict(), **network})
    pairs = _strict(ObjectPairConfig, values.pop("pairs", {}), "pairs.")
    return _strict(TrainingConfig, {**values, "network": network, "pairs": pairs}, "")


def _strict(cls, values: dict, prefix: str):
    unknown = set(values) - {item.name for item in fields(cls)}
    if unknown:
        raise ValueError("unknown training settings: " + ", ".join(prefix + name for name in sorted(unknown)))
    return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
