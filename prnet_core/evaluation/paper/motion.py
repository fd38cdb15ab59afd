"""The tables of motions: unseen categories, noise, full clouds, and the harder variant."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from prnet_core.evaluation import published
from prnet_core.evaluation.go_icp import GoICP
from prnet_core.evaluation.methods import LABEL
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.run import motion_table
from prnet_core.evaluation.table import Table
from prnet_core.pairs.protocol import PROTOCOLS
from prnet_core.shapes.modelnet import split_categories
from prnet_core.shapes.shape_sets import ShapeSet

CLASSICAL = ("icp", "goicp", "fgr")
LEARNED = ("pointnetlk", "dcp")
OURS = ("prnet", "prnet+refine")
GO_ICP_PACKAGE = "py_simple_go_icp_interface"
GO_ICP_NOTE = (
    f"Go-ICP on {GoICP.num_points} points of the source drawn at random, 10 % trimmed, {GoICP.timeout_s:g} s a pair at "
    "most (py-simple-go-icp-interface, which compiles its authors' sources)."
)

UNSEEN_NOTE = (
    "Weights that never saw ModelNet40, such as the packaged ones, meet unseen objects here. They used no label, but "
    "some of their training shapes are aircraft, chairs and other kinds that ModelNet40 has too. The published figures "
    "are on all 2,468 test shapes of 40 classes."
)


def _methods(setup: Setup, classical: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """The methods that can run, weights under a label before ours, and notes on what is left out."""
    if setup.methods:
        return list(setup.methods), ()
    labelled = sorted(name for name in setup.options.weights if LABEL in name)
    left_out = [name for name in LEARNED if name not in setup.options.weights]
    notes = (f"Left out for want of weights (--weights NAME=FILE): {', '.join(left_out)}.",) if left_out else ()
    if "goicp" in classical and find_spec(GO_ICP_PACKAGE):
        notes += (GO_ICP_NOTE,)
    elif "goicp" in classical:
        left_out.append("goicp")
        notes += (f"Left out, not installed: goicp (pip install {GO_ICP_PACKAGE.replace('_', '-')}).",)
    return [name for name in (*classical, *LEARNED, *labelled, *OURS) if name not in left_out], notes


def _table(
    setup: Setup, title: str, protocol: str, published_rows: list[dict], notes=(), shapes: ShapeSet | None = None,
    classical: tuple[str, ...] = CLASSICAL,
) -> Table:  # fmt: skip
    methods, notes_on_methods = _methods(setup, classical)
    return motion_table(
        title, setup.command, shapes or setup.shapes(), PROTOCOLS[protocol], methods, setup.options, setup.settings(),
        setup.pairs_limit(), published_rows, (*notes, *notes_on_methods),
    )  # fmt: skip


def unseen(setup: Setup) -> Table:
    """The figures of tables 1 and 2 of the paper beside weights that never saw ModelNet40."""
    beside = [{**row, "method": f"{row['method']}, unseen objects"} for row in published.UNSEEN_OBJECTS]
    beside += [{**row, "method": f"{row['method']}, unseen categories"} for row in published.UNSEEN_CATEGORIES]
    return _table(setup, "Unseen objects, no noise", "objects", beside, (UNSEEN_NOTE,))


def categories(setup: Setup) -> Table:
    """Table 2 with the paper's own split: for weights trained on the first 20 classes, measured on the rest.

    Raises ValueError for data that has not all 40 classes: the first 20 would not be the paper's.
    """
    shapes = setup.shapes()
    num_classes = len(set(shapes.classes))
    if num_classes != 40:
        raise ValueError(f"categories needs all of ModelNet40; {setup.data.name} has {num_classes} classes")
    _, held_out = split_categories(shapes)
    title = "Unseen categories: the last 20 classes"
    return _table(setup, title, "objects", published.UNSEEN_CATEGORIES, shapes=held_out)


def noise(setup: Setup) -> Table:
    return _table(setup, "Gaussian noise 0.01", "noise", published.NOISE, (UNSEEN_NOTE,))


def full(setup: Setup) -> Table:
    return _table(setup, "Full clouds", "full", published.FULL)


def hard(setup: Setup) -> Table:
    """Without Go-ICP, whose search takes minutes where so much of the clouds has no counterpart."""
    note = "Independent viewpoints, X and Y sampled apart, noise 0.01. OMNet's rows keep one viewpoint."
    title = "Harder: independent viewpoints, twice sampled, noise"
    return _table(setup, title, "hard", published.TWICE_SAMPLED, (note,), classical=("icp", "fgr"))


TABLES: dict[str, Callable[[Setup], Table]] = {
    "unseen": unseen,
    "categories": categories,
    "noise": noise,
    "full": full,
    "hard": hard,
}
