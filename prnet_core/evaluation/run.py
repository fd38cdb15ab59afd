"""A table of methods, measured on the test pairs of a protocol."""

from dataclasses import asdict

from tqdm import tqdm

from prnet_core.evaluation.evaluate import evaluate_method, make_test_pairs
from prnet_core.evaluation.methods import TRIVIAL, MethodOptions, make_method
from prnet_core.evaluation.published import BY_PROTOCOL
from prnet_core.evaluation.table import Table
from prnet_core.pairs.protocol import Protocol
from prnet_core.shapes.shape_sets import ShapeSet


def transform_table(
    title: str,
    command: str,
    shapes: ShapeSet,
    protocol: Protocol,
    methods: list[str],
    options: MethodOptions,
    settings: dict,
    limit: int | None = None,
    published: list[dict] | None = None,
    notes: tuple[str, ...] = (),
) -> Table:
    """Measure the trivial rows and `methods`. `published` replaces the published rows of the protocol.

    Raises ValueError for an unknown method, ImportError for one whose library is not installed.
    """
    names = [*TRIVIAL, *(name for name in dict.fromkeys(methods) if name not in TRIVIAL)]
    made = {name: make_method(name, options) for name in names}
    pairs = make_test_pairs(shapes, protocol, limit)
    rows = [
        evaluate_method(name, method, pairs, lambda items, name=name: tqdm(items, desc=name, leave=False))
        for name, method in made.items()
    ]
    weights = {name: path.name for name, path in options.weights.items()}
    for row in rows:
        if row.get("num_timeouts"):
            notes += (f"{row['method']} timed out on {row['num_timeouts']} pairs, which ICP registered.",)
        if row["num_failed"]:
            notes += (f"{row['method']}: no finite transform for {row['num_failed']} pairs, counted as identity.",)
    return Table(
        title=title,
        command=command,
        rows=rows,
        published=BY_PROTOCOL.get(protocol.name, []) if published is None else published,
        settings={**settings, "pairs": len(pairs), "protocol": protocol.name, "protocol_settings": asdict(protocol),
                  "weights": weights},
        notes=notes,
    )  # fmt: skip
