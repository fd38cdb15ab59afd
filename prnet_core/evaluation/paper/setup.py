"""What a table is measured on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from prnet_core.evaluation.methods import MethodOptions
from prnet_core.model import PRNet, load_network
from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.shape_sets import ShapeSet

QUICK_PAIRS = 3


@dataclass(frozen=True)
class Setup:
    """Data, weights, and how much work to spend.

    data        the test shapes; `split` of them where the data has splits ("" takes all)
    train_data  the shapes that ablations train on, and that the transfer's second part classifies
    options     weights by method name, and the device
    methods     instead of a table's own methods
    limit       number of pairs, spread over the shapes; None takes every shape
    minutes     of training for each row of an ablation that trains
    quick       a few pairs and steps: shows that the table can be made, not what is in it
    command     printed under the table
    """

    data: Path
    train_data: Path | None = None
    split: str = "test"
    options: MethodOptions = field(default_factory=MethodOptions)
    methods: tuple[str, ...] | None = None
    limit: int | None = None
    minutes: float = 5.0
    quick: bool = False
    command: str = ""

    def shapes(self) -> ShapeSet:
        return load_shapes(self.data, self.split or None)

    def train_shapes(self) -> ShapeSet:
        return load_shapes(self.needed_train_data())

    def needed_train_data(self) -> Path:
        """Raises ValueError when no training shapes were named."""
        if self.train_data is None:
            raise ValueError("this table trains, or classifies training shapes: name them with --train-data")
        return self.train_data

    def pairs_limit(self, usual: int | None = None) -> int | None:
        """Pairs to measure on: the given limit, a few in quick mode, otherwise the table's usual number."""
        return self.limit or (QUICK_PAIRS if self.quick else usual)

    def network(self) -> PRNet:
        return load_network(self.options.weights.get("prnet"), self.options.device)

    def settings(self) -> dict:
        """What is the same for every row, for the table."""
        return {"data": self.data.name, "split": self.split or "all"} | ({"quick": True} if self.quick else {})
