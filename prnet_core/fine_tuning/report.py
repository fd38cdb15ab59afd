"""What a fine-tuning run did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from prnet_core.model import PRNet

from .config import FineTuneConfig
from .held_out import Score


@dataclass(frozen=True)
class FineTuneReport:
    """network: the tuned copy, or a copy of the given one where nothing better was found; in evaluation mode.

    kept: 'tuned' or 'original', and `reason` says why in words.
    before, after: held-out scores of the given network and of the best tuned weights.
    loss_curve: (step, loss) of every finite step, judgements: (step, held-out error in degrees), step 0 first.
    skipped_steps: left out because the loss or the gradient was not finite.
    """

    network: PRNet
    kept: str
    reason: str
    before: Score
    after: Score
    loss_curve: list[tuple[int, float]]
    judgements: list[tuple[int, float]]
    seconds: float
    steps: int
    skipped_steps: int
    num_scans_tuned: int
    num_scans_held_out: int
    num_scans_unusable: int
    num_motions: int
    config: FineTuneConfig

    @property
    def improved(self) -> bool:
        """True when the tuned weights were kept."""
        return self.kept == "tuned"

    def to_dict(self) -> dict:
        """Plain values for JSON, all but the network."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "network"}
        return {**values, "before": asdict(self.before), "after": asdict(self.after), "config": self.config.to_dict()}

    def summary(self) -> str:
        """One sentence with the figures before and after."""
        weights = "new weights" if self.improved else "old weights kept"
        return (
            f"{weights}: {self.reason}. Held-out error {self.before.error_deg:.2f} -> {self.after.error_deg:.2f} deg, "
            f"median {self.before.median_deg:.2f} -> {self.after.median_deg:.2f} deg, in the refinement's basin "
            f"{100 * self.before.basin_share:.0f} -> {100 * self.after.basin_share:.0f} % of "
            f"{self.before.num_pairs} pairs; {self.num_scans_tuned} scans tuned on, {self.num_scans_held_out} held out, "
            f"{self.steps} steps in {self.seconds:.0f} s"
        )
