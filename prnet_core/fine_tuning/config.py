"""Every number of a fine-tuning run in one frozen object."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class FineTuneConfig:
    """The first three are the paper's. Shares are in [0, 1], angles in degrees."""

    examples_per_scan: int = 100
    """Pairs made of each scan in an epoch; drawn anew in every epoch."""
    epochs: int = 10
    learning_rate: float = 1e-4
    batch_size: int = 8
    num_points: int = 384
    """Points of each cloud: as in the training, half of what the registration shows, a third of its work."""
    warmup_steps: int = 10
    clip: float = 1.0
    """Largest gradient norm."""

    max_seconds: float | None = 300.0
    """A run that this ends, not `epochs`, depends on the machine; so does when it is judged."""
    min_scans: int = 4
    held_out_share: float = 0.2
    """Of the scans; at least one. They are judged on, never tuned on: by their motions to other scans where known."""
    held_out_pairs: int = 64
    num_judgements: int = 8
    """Spread over the run; the weights with the lowest held-out error are kept."""
    patience: int = 6
    """The run ends after so many judgements without a new lowest error."""
    min_gain: float = 0.05
    """The held-out error must fall by this share of itself, or the old weights stay."""

    known_motion_share: float = 0.5
    """Of a scan's examples, where motions to other scans are known: pairs of two real scans."""
    max_angle_deg: float = 180.0
    """Pairs of one scan are turned about any axis by up to this."""
    near_share: float = 0.35
    near_deg: float = 30.0
    """This share of them by no more than this, as after a first pass."""
    min_keep: float = 0.5
    """A crop leaves between this share of a scan and all of it."""
    hidden_share: float = 0.6
    """So often what a camera on the side of the crop would not see is left out as well: as between real views."""
    min_overlap: float = 0.25
    """Smallest share of the source with a true match."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("examples_per_scan", "epochs", "batch_size", "held_out_pairs", "num_judgements", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.min_scans < 2:
            raise ValueError(f"min_scans must be at least 2 (one is held out), got {self.min_scans}")
        if not self.learning_rate > 0.0:
            raise ValueError(f"learning_rate must be positive, got {self.learning_rate}")

    def to_dict(self) -> dict:
        """Plain values."""
        return asdict(self)
