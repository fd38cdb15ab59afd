"""Data, weights and effort for the tables."""

from dataclasses import dataclass, field
from pathlib import Path

from prnet_core.evaluation.methods import MethodOptions
from prnet_core.model import PRNet, load_network
from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.shape_sets import ShapeSet

QUICK_PAIRS = 3


@dataclass(frozen=True)
class Setup:
    """Data, weights and effort.

    data        the test shapes. `split`: a split of them, "" for all
    train_data  shapes for the ablations that train and for the second part of the transfer table
    options     weights by method name, device
    methods     replaces the methods of a table
    limit       number of pairs, spread over the shapes; None: one for every shape
    steps       training steps for each run of an ablation that trains
    quick       a few pairs and steps, to check that the command runs; the values mean nothing
    command     printed under the table
    """

    data: Path
    train_data: Path | None = None
    split: str = "test"
    options: MethodOptions = field(default_factory=MethodOptions)
    methods: tuple[str, ...] | None = None
    limit: int | None = None
    steps: int = 160
    quick: bool = False
    command: str = ""

    def shapes(self) -> ShapeSet:
        return load_shapes(self.data, self.split or None)

    def needed_train_data(self) -> Path:
        """The path of the training shapes. Raises ValueError without one."""
        if self.train_data is None:
            raise ValueError("this table needs training shapes: --train-data")
        return self.train_data

    def pairs_limit(self, default: int | None = None) -> int | None:
        """Number of pairs: the limit, a few in quick mode, otherwise the default of the table."""
        return self.limit or (QUICK_PAIRS if self.quick else default)

    def network(self) -> PRNet:
        return load_network(self.options.weights.get("prnet"), self.options.device)

    def settings(self) -> dict:
        """Settings common to all rows."""
        return {"data": self.data.name, "split": self.split or "all"} | ({"quick": True} if self.quick else {})
