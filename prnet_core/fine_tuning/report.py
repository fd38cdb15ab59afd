"""The result of a fine-tuning run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from .config import FineTuneConfig
from .progress import Score

if TYPE_CHECKING:
    from prnet_core.model import PRNet


@dataclass(frozen=True)
class FineTuneReport:
    """network: the tuned copy, or a copy of the given one where nothing better was found; in evaluation mode;
        None where a report was read without it.

    kept: 'tuned' or 'original', and `reason` says why.
    before, after: held-out scores of the given network and of the best tuned weights.
    loss_curve: (step, loss) of every finite step, validations: (step, held-out error in degrees), step 0 first.
    skipped_steps: left out because the loss or the gradient was not finite.
    """

    network: PRNet | None
    kept: str
    reason: str
    before: Score
    after: Score
    loss_curve: list[tuple[int, float]]
    validations: list[tuple[int, float]]
    seconds: float
    steps: int
    skipped_steps: int
    num_scans_tuned: int
    num_scans_held_out: int
    num_scans_unusable: int
    num_transforms: int
    config: FineTuneConfig

    @property
    def improved(self) -> bool:
        """True if the tuned weights were kept."""
        return self.kept == "tuned"

    def to_dict(self) -> dict:
        """Builtin values for JSON, without the network."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "network"}
        return {**values, "before": asdict(self.before), "after": asdict(self.after), "config": asdict(self.config)}

    @classmethod
    def from_dict(cls, values: dict) -> FineTuneReport:
        """Inverse of `to_dict`."""
        parts = {"before": Score(**values["before"]), "after": Score(**values["after"])}
        pairs = {name: [tuple(pair) for pair in values[name]] for name in ("loss_curve", "validations")}
        return cls(network=None, **{**values, **parts, **pairs, "config": FineTuneConfig(**values["config"])})

    def summary(self) -> str:
        """The result and the errors before and after, in one line."""
        weights = "new weights" if self.improved else "old weights kept"
        before, after = self.before, self.after
        return (
            f"{weights}: {self.reason}. On {before.num_pairs} held-out pairs, network alone: "
            f"mean error {before.error_deg:.2f} -> {after.error_deg:.2f} deg, "
            f"median {before.median_deg:.2f} -> {after.median_deg:.2f} deg, in the refinement's basin "
            f"{100 * before.basin_share:.0f} -> {100 * after.basin_share:.0f} %. "
            f"{self.num_scans_tuned} scans tuned, {self.num_scans_held_out} held out, {self.num_transforms} pairs, "
            f"{self.steps} steps in {self.seconds:.0f} s"
        )
