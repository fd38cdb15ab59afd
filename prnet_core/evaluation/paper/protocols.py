"""Tables of registration errors by protocol: unseen objects and categories, noise, full clouds, hard pairs."""

from collections.abc import Callable
from importlib.util import find_spec

from prnet_core.evaluation import published
from prnet_core.evaluation.go_icp import GoICP
from prnet_core.evaluation.methods import LABEL
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.run import transform_table
from prnet_core.evaluation.table import Table
from prnet_core.pairs.protocol import PROTOCOLS
from prnet_core.shapes.modelnet import split_categories
from prnet_core.shapes.shape_sets import ShapeSet

CLASSICAL = ("icp", "goicp", "fgr")
LEARNED = ("pointnetlk", "dcp")
OURS = ("prnet", "prnet+refine", "prnet+hypotheses")
GO_ICP_PACKAGE = "py_simple_go_icp_interface"
GO_ICP_NOTE = (
    f"Go-ICP on {GoICP.num_points} random points of the source, 10 % trimmed, at most {GoICP.timeout_s:g} s per pair "
    "(py-simple-go-icp-interface, which compiles the authors' sources)."
)

HYPOTHESES_NOTE = (
    "prnet+hypotheses refines the network's result, the eight best hypotheses of its first pass and the aligned "
    "centroids, and keeps the transform under which the surfaces agree best, less (angle / 180 deg)^2: of equal ones, "
    "as those of a symmetric object, that with the smaller rotation. Chosen on 128 shapes held out of the training."
)
UNSEEN_NOTE = (
    "For weights trained without ModelNet40, such as the packaged ones, these are unseen objects. Training used no "
    "labels, but some training shapes are aircraft, chairs and other kinds that are also in ModelNet40. The published "
    "values are for all 2,468 test shapes of 40 classes."
)


def _methods(setup: Setup, classical: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """The methods that can run (labelled weights before ours), and notes on the omitted ones."""
    if setup.methods:
        return list(setup.methods), ()
    labelled = sorted(name for name in setup.options.weights if LABEL in name)
    omitted = [name for name in LEARNED if name not in setup.options.weights]
    notes = (f"Omitted without weights (--weights NAME=FILE): {', '.join(omitted)}.",) if omitted else ()
    if "goicp" in classical and find_spec(GO_ICP_PACKAGE):
        notes += (GO_ICP_NOTE,)
    elif "goicp" in classical:
        omitted.append("goicp")
        notes += (f"Omitted, not installed: goicp (pip install {GO_ICP_PACKAGE.replace('_', '-')}).",)
    return [name for name in (*classical, *LEARNED, *labelled, *OURS) if name not in omitted], notes


def _table(
    setup: Setup, title: str, protocol: str, published_rows: list[dict], notes=(), shapes: ShapeSet | None = None,
    classical: tuple[str, ...] = CLASSICAL,
) -> Table:  # fmt: skip
    methods, notes_on_methods = _methods(setup, classical)
    return transform_table(
        title, setup.command, shapes or setup.shapes(), PROTOCOLS[protocol], methods, setup.options, setup.settings(),
        setup.pairs_limit(), published_rows, (*notes, *notes_on_methods),
    )  # fmt: skip


def unseen(setup: Setup) -> Table:
    """Tables 1 and 2 of the paper, compared with weights trained without ModelNet40."""
    both = [{**row, "method": f"{row['method']}, unseen objects"} for row in published.UNSEEN_OBJECTS]
    both += [{**row, "method": f"{row['method']}, unseen categories"} for row in published.UNSEEN_CATEGORIES]
    return _table(setup, "Unseen objects, no noise", "objects", both, (UNSEEN_NOTE,))


def categories(setup: Setup) -> Table:
    """Table 2 with the paper's split: weights trained on the first 20 classes, measured on the other 20.

    Raises ValueError for data without all 40 classes: its first 20 would not be the paper's.
    """
    shapes = setup.shapes()
    num_classes = len(set(shapes.classes))
    if num_classes != 40:
        raise ValueError(f"categories needs all 40 classes of ModelNet40; {setup.data.name} has {num_classes} classes")
    _, held_out = split_categories(shapes)
    title = "Unseen categories: the last 20 classes"
    return _table(setup, title, "objects", published.UNSEEN_CATEGORIES, shapes=held_out)


def noise(setup: Setup) -> Table:
    return _table(setup, "Gaussian noise 0.01", "noise", published.NOISE, (UNSEEN_NOTE,))


def full(setup: Setup) -> Table:
    return _table(setup, "Full clouds", "full", published.FULL)


def hard(setup: Setup) -> Table:
    """Without Go-ICP: its search takes minutes where large parts of the clouds do not overlap."""
    notes = (
        "Independent viewpoints, X and Y sampled independently, noise 0.01. The rows of OMNet have one viewpoint.",
        HYPOTHESES_NOTE,
    )
    title = "Harder: independent viewpoints, twice sampled, noise"
    return _table(setup, title, "hard", published.TWICE_SAMPLED, notes, classical=("icp", "fgr"))


TABLES: dict[str, Callable[[Setup], Table]] = {
    "unseen": unseen,
    "categories": categories,
    "noise": noise,
    "full": full,
    "hard": hard,
}
