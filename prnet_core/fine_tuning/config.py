"""The configuration of a fine-tuning run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FineTuneConfig:
    """The first three are the paper's. Fractions in [0, 1], angles in degrees."""

    examples_per_scan: int = 100
    """Pairs made from each scan in an epoch, drawn again in every epoch."""
    epochs: int = 10
    learning_rate: float = 1e-4
    batch_size: int = 8
    num_points: int = 384
    """Points of each cloud, as in training: half of those used in registration, a third of the computation."""
    warmup_steps: int = 10
    clip: float = 1.0
    """Maximum gradient norm."""

    max_seconds: float | None = 300.0
    """If this limit ends the run, the result depends on the speed of the machine, as do the times of validation."""
    min_scans: int = 4
    held_out_share: float = 0.2
    """Fraction of scans for validation, at least one scan; through their transforms to other scans where known."""
    held_out_pairs: int = 64
    num_validations: int = 8
    """Validations, spread over the run. The weights with the lowest held-out error are kept."""
    patience: int = 6
    """The run ends after this number of validations without a new lowest error."""
    min_gain: float = 0.05
    """Minimum relative decrease of the held-out error; otherwise the previous weights stay."""

    known_transform_share: float = 0.5
    """Fraction of a scan's examples that are pairs of two real scans, where transforms to other scans are known. With
    rotation-invariant inputs all are."""
    max_angle_deg: float = 180.0
    """Maximum rotation, about any axis, of pairs made from one scan."""
    near_share: float = 0.35
    near_deg: float = 30.0
    """Fraction of these pairs with a smaller maximum rotation, as after a first pass."""
    min_keep: float = 0.5
    """Minimum fraction of a scan that a crop leaves."""
    hidden_share: float = 0.6
    """Probability that points hidden from a camera on the side of the crop are removed, as between real views."""
    min_overlap: float = 0.25
    """Minimum fraction of the source with a true match; 0.1 with rotation-invariant inputs."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("examples_per_scan", "epochs", "batch_size", "held_out_pairs", "num_validations", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.min_scans < 2:
            raise ValueError(f"min_scans must be at least 2 (one is held out), got {self.min_scans}")
        if not self.learning_rate > 0.0:
            raise ValueError(f"learning_rate must be positive, got {self.learning_rate}")
