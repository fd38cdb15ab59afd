"""The paper's tables by name: each function of a `Setup` measures one and gives a `Table`."""

from __future__ import annotations

from collections.abc import Callable

from prnet_core.evaluation.paper import ablations, efficiency, motion, transfer
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.table import Table

TABLES: dict[str, Callable[[Setup], Table]] = {
    **motion.TABLES,
    **ablations.TABLES,
    "transfer": transfer.transfer_table,
    "efficiency": efficiency.efficiency_table,
}

__all__ = ["TABLES", "Setup", "Table"]
