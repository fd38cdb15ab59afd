"""The tables of motions: unseen categories, noise, full clouds, the harder variant, and Go-ICP's own."""

from __future__ import annotations

from collections.abc import Callable

from prnet_core.data.modelnet import split_categories
from prnet_core.evaluation import published
from prnet_core.evaluation.protocol import PROTOCOLS
from prnet_core.evaluation.run import motion_table
from prnet_core.evaluation.table import Table
from prnet_core.reproduce.setup import Setup

CLASSICAL = ("icp", "fgr")
LEARNED = ("pointnetlk", "dcp")
OURS = ("prnet", "prnet+refine")
GO_ICP_PAIRS = 22

UNSEEN_NOTE = (
    "Weights that never saw ModelNet40, such as the packaged ones, meet unseen objects of unseen categories here. The "
    "published figures are on all 2,468 test shapes of 40 classes."
)


def _available(setup: Setup, names: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """The methods that can run, and a note naming the learned ones left out for want of weights."""
    if setup.methods:
        return list(setup.methods), ()
    missing = [name for name in names if name in LEARNED and name not in setup.options.weights]
    note = (f"Left out for want of weights (--weights NAME=FILE): {', '.join(missing)}.",) if missing else ()
    return [name for name in names if name not in missing], note


def _table(setup: Setup, title: str, protocol: str, rows_beside: list[dict], notes=(), limit=None, extra=()) -> Table:
    methods, missing = _available(setup, (*CLASSICAL, *extra, *LEARNED, *OURS))
    return motion_table(
        title, setup.command, setup.shapes(), PROTOCOLS[protocol], methods, setup.options, setup.settings(),
        setup.pairs_limit(limit), rows_beside, (*notes, *missing),
    )  # fmt: skip


def unseen(setup: Setup) -> Table:
    """Tables 1 and 2 of the paper at once, for weights that never saw ModelNet40."""
    beside = [{**row, "method": f"{row['method']}, unseen objects"} for row in published.UNSEEN_OBJECTS]
    beside += [{**row, "method": f"{row['method']}, unseen categories"} for row in published.UNSEEN_CATEGORIES]
    return _table(setup, "Unseen objects and categories, no noise", "objects", beside, (UNSEEN_NOTE,))


def categories(setup: Setup) -> Table:
    """Table 2 with the paper's own split: for weights trained on the first 20 classes, measured on the rest.

    Raises ValueError for data that has not all 40 classes: the first 20 would not be the paper's.
    """
    methods, missing = _available(setup, (*CLASSICAL, *LEARNED, *OURS))
    shapes = setup.shapes()
    num_classes = len(set(shapes.classes))
    if num_classes != 40:
        raise ValueError(f"categories needs all of ModelNet40; {setup.data.name} has {num_classes} classes")
    _, held_out = split_categories(shapes)
    return motion_table(
        "Unseen categories: the last 20 classes", setup.command, held_out, PROTOCOLS["objects"], methods,
        setup.options, setup.settings(), setup.pairs_limit(), published.UNSEEN_CATEGORIES, missing,
    )  # fmt: skip


def noise(setup: Setup) -> Table:
    return _table(setup, "Gaussian noise 0.01", "noise", published.NOISE, (UNSEEN_NOTE,))


def full(setup: Setup) -> Table:
    return _table(setup, "Full clouds", "full", published.FULL)


def hard(setup: Setup) -> Table:
    note = "Independent viewpoints, X and Y sampled apart, noise 0.01. OMNet's rows keep one viewpoint."
    title = "Harder: independent viewpoints, twice sampled, noise"
    return _table(setup, title, "hard", published.TWICE_SAMPLED, (note,))


def go_icp(setup: Setup) -> Table:
    """Go-ICP takes seconds a pair, so it is measured on fewer pairs, with every other method on the same."""
    note = (
        "Go-ICP on 200 points of the source, 10 % trimmed, 20 s a pair at most (py-simple-go-icp-interface 0.1.4, "
        "which compiles its authors' sources)."
    )
    title = "Go-ICP, on fewer pairs"
    return _table(setup, title, "objects", published.UNSEEN_CATEGORIES, (note,), GO_ICP_PAIRS, ("goicp",))


TABLES: dict[str, Callable[[Setup], Table]] = {
    "unseen": unseen,
    "categories": categories,
    "noise": noise,
    "full": full,
    "hard": hard,
    "goicp": go_icp,
}
