"""The paper's tables, by name. Each function measures one table from a `Setup`."""

from collections.abc import Callable

from prnet_core.evaluation.paper import ablations, efficiency, protocols, transfer
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.table import Table

TABLES: dict[str, Callable[[Setup], Table]] = {
    **protocols.TABLES,
    **ablations.TABLES,
    "transfer": transfer.transfer_table,
    "efficiency": efficiency.efficiency_table,
}

__all__ = ["TABLES", "Setup", "Table"]
