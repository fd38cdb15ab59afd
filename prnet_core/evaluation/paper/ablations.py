"""Ablations: one setting is varied at a time, with the published MAE(R).

Rows that are trained start from random weights, with one recipe and one number of steps, from several seeds: a row has
the means, and the MAE(R) of each seed. The other rows change a setting of the given weights or of the test pairs. All
are measured with unweighted Procrustes, as in the paper: the robust one needs few correct matches, so that the rows
differ little. Its MAE(R) has its own column.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from tqdm import tqdm

from prnet_core.evaluation.evaluate import TestPairs, evaluate_method, make_test_pairs
from prnet_core.evaluation.learned_methods import NetworkMethod, with_settings
from prnet_core.evaluation.paper.setup import Setup
from prnet_core.evaluation.published import MAE_R_DEG_BY_CHOICE
from prnet_core.evaluation.table import TRANSFORM_COLUMNS, Column, Table
from prnet_core.model import PRNet
from prnet_core.pairs.protocol import PROTOCOLS

COLUMNS = (
    *TRANSFORM_COLUMNS[:2], Column("published_mae_r_deg", "MAE(R) deg, paper"), *TRANSFORM_COLUMNS[5:9],
    Column("mae_r_deg_robust", "MAE(R) deg, robust Procrustes"), Column("seeds", "MAE(R) deg of each seed", "{}"),
)  # fmt: skip
DEFAULT_PAIRS = 60
SEEDS = (0, 1, 2)

RECIPE = {
    "network": {"preset": "small"},
    "pairs": {
        "num_points": 341, "keep_share": 0.75, "drawn_misalignment": True, "turn_shape": True,
        "stretch": [0.75, 1.25], "max_noise": 0.01,
    },
    "batch_size": 16, "num_passes": 1, "warmup_steps": 50, "held_out": 128,
    "validate_minutes": 1e9, "checkpoint_minutes": 1e9, "validation_pairs": 1,
}  # fmt: skip
QUICK_RECIPE = {
    "network": {
        "preset": "small", "edge_conv_channels": [8, 8], "num_neighbours": 4, "embedding": 16, "num_heads": 2,
        "feed_forward": 16, "temperature_channels": [8],
    },
    "pairs": {**RECIPE["pairs"], "num_points": 64}, "steps": 2, "batch_size": 2, "held_out": 1,
    "bfloat16": False,
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A row: its name, the published MAE(R), and the settings it changes.

    network    of PRNetConfig
    training   of TrainingConfig; only in tables that train
    protocol   of the test pairs
    """

    name: str
    published: float | None = None
    network: dict = field(default_factory=dict)
    training: dict = field(default_factory=dict)
    protocol: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Ablation:
    title: str
    rows: tuple[Row, ...]
    trains: bool
    note: str = ""


def _rows(key: str, settings: Callable[[Any], dict], name: Callable[[Any], str] = str) -> tuple[Row, ...]:
    """A row for each published choice, with the settings of the row."""
    return tuple(
        Row(name(value), published, **settings(value)) for value, published in MAE_R_DEG_BY_CHOICE[key].items()
    )


GIVEN = "The given weights with each setting, not trained again; each row of the paper is trained."
SHOWN = "The given weights, not trained for these pairs; the paper's rows may be."
ABLATIONS = {
    "temperature": Ablation(
        "Choice of lambda", _rows("temperature", lambda value: {"network": {"temperature": value}}), True
    ),
    "keypoints": Ablation(
        "Keypoints by", _rows("keypoints", lambda value: {"network": {"keypoints": value}}), False, GIVEN
    ),
    "num-keypoints": Ablation(
        "Number of keypoints", _rows("num_keypoints", lambda value: {"network": {"num_keypoints": value}}), False, GIVEN
    ),
    "discount": Ablation(
        "Discount factor",
        _rows("discount", lambda value: {"network": {"discount": value}, "training": {"num_passes": 3}}),
        True,
        "Three unrolled passes in training: with one pass, the discount factor has no effect.",
    ),
    "missing": Ablation(
        "Missing part",
        _rows("missing", lambda share: {"protocol": {"num_kept": round((1 - share) * 1024)}}, "{:.0%}".format),
        False,
        SHOWN,
    ),
    "noise-level": Ablation("Noise", _rows("noise_level", lambda level: {"protocol": {"noise": level}}), False, SHOWN),
    "inference": Ablation(
        "Ours: matching and Procrustes at inference",
        tuple(
            Row(f"{matching}, {'robust' if robust else 'unweighted'} Procrustes, {passes} passes",
                network={"matching": matching, "robust_procrustes": robust, "num_passes": passes})
            for matching, robust, passes in (
                ("rowwise", False, 1), ("rowwise", False, 3), ("rowwise", True, 1), ("rowwise", True, 3),
                ("sinkhorn", False, 3), ("sinkhorn", True, 3),
            )
        ),
        False,
        "Sinkhorn matching is the paper's future work.",
    ),
    "matching": Ablation(
        "Ours: matching term, Sinkhorn, passes in training",
        (
            Row("matching term, row-wise, one pass", network={"matching_weight": 1.0}),
            Row("no matching term (the paper's loss)", network={"matching_weight": 0.0}),
            Row("matching term, Sinkhorn", network={"matching_weight": 1.0, "matching": "sinkhorn"}),
            Row("matching term, three passes unrolled", network={"matching_weight": 1.0},
                training={"num_passes": 3, "pairs": {"drawn_misalignment": False}}),
        ),
        True,
    ),
    "differences": Ablation(
        "Ours: form of the losses, width",
        (
            Row("losses in the exact form, embedding 256", network={"matching_weight": 0.0}),
            Row("losses as printed, embedding 256", network={"matching_weight": 0.0, "loss_form": "printed"}),
            Row("losses in the exact form, embedding 512", network={"matching_weight": 0.0, "embedding": 512}),
        ),
        True,
        "What two differences from the paper cost in a short training (docs/paper.md).",
    ),
}  # fmt: skip


def ablation_table(setup: Setup, name: str) -> Table:
    """Measure every row of `ABLATIONS[name]`."""
    ablation = ABLATIONS[name]
    shapes, limit = setup.shapes(), setup.pairs_limit(DEFAULT_PAIRS)
    pairs_of = {
        row.name: make_test_pairs(shapes, replace(PROTOCOLS["objects"], **row.protocol), limit) for row in ablation.rows
    }
    rows, notes = [], (ablation.note,) if ablation.note else ()
    if ablation.trains:
        seeds, steps = (SEEDS[:1], QUICK_RECIPE["steps"]) if setup.quick else (SEEDS, setup.steps)
        for row in tqdm(ablation.rows, desc=name, leave=False):
            runs = [_measure(row, train_row(setup, row, seed), pairs_of[row.name]) for seed in seeds]
            rows.append(mean_of_runs(runs))
        notes += (
            f"Each row: the mean of {len(seeds)} runs from random weights, of {steps} steps of 16 pairs and 256"
            " points; the paper's rows: 100 epochs.",
        )
    else:
        given = setup.network()
        rows = [_measure(row, with_settings(given, **row.network), pairs_of[row.name]) for row in ablation.rows]
    if "robust_procrustes" not in ablation.rows[0].network:
        notes += ("Unweighted Procrustes, as in the paper, except in the last column.",)
    notes += tuple(notes_on_order(rows))
    return Table(
        ablation.title, setup.command, rows, COLUMNS, [], setup.settings() | {"pairs": limit or len(shapes)}, notes,
        first_heading=ablation.title,
    )  # fmt: skip


def _measure(row: Row, network: PRNet, pairs: TestPairs) -> dict:
    """The metrics with unweighted Procrustes and the MAE(R) with the robust one, unless the row sets which."""
    if "robust_procrustes" in row.network:
        measured = evaluate_method(row.name, NetworkMethod(network), pairs)
    else:
        unweighted, robust = (
            evaluate_method(row.name, NetworkMethod(with_settings(network, robust_procrustes=choice)), pairs)
            for choice in (False, True)
        )
        measured = unweighted | {"mae_r_deg_robust": robust["mae_r_deg"]}
    return measured | ({} if row.published is None else {"published_mae_r_deg": row.published})


def mean_of_runs(runs: list[dict]) -> dict:
    """The means of the numbers of several runs of a row; `seeds`: the MAE(R) of each; `spread`: their range."""
    each = [run["mae_r_deg"] for run in runs]
    means = {key: fmean(run[key] for run in runs) for key, value in runs[0].items() if isinstance(value, float)}
    return runs[0] | means | {"seeds": ", ".join(f"{value:.2f}" for value in each), "spread": max(each) - min(each)}


def notes_on_order(rows: list[dict]) -> Iterator[str]:
    """Whether the rows have the paper's order, and whether the seeds of a row differ as much as the rows."""
    known = [row for row in rows if "published_mae_r_deg" in row]
    if not known:
        return
    ours = [row["method"] for row in sorted(known, key=lambda row: row["mae_r_deg"])]
    papers = [row["method"] for row in sorted(known, key=lambda row: row["published_mae_r_deg"])]
    means = [row["mae_r_deg"] for row in known]
    if max(means) - min(means) < max(row.get("spread", 0.0) for row in rows):
        yield "The seeds of one row differ as much as the rows: their order is not significant."
    elif ours == papers:
        yield "The order is the paper's."
    else:
        yield f"The order differs from the paper's: best to worst {', '.join(ours)}."


def train_row(setup: Setup, row: Row, seed: int) -> PRNet:
    """Train the network of a row from the random weights of a seed."""
    from prnet_core.model.weights import choose_device
    from prnet_core.training import Trainer
    from prnet_core.training.config import make_training_config

    recipe = {**RECIPE, **(QUICK_RECIPE if setup.quick else {})}
    training = dict(row.training)
    recipe.setdefault("steps", setup.steps)
    values = recipe | {
        "shapes": str(setup.needed_train_data()),
        "network": recipe["network"] | row.network,
        "pairs": recipe["pairs"] | training.pop("pairs", {}),
        "seed": seed,
        **training,
    }
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(make_training_config(values), Path(folder), choose_device(setup.options.device))
        trainer.run()
        return trainer.network.eval()


TABLES: dict[str, Callable[[Setup], Table]] = {
    f"ablation-{name}": partial(ablation_table, name=name) for name in ABLATIONS
}
