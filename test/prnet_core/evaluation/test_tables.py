import json

import numpy as np
import pytest

from prnet_core.evaluation.evaluate import evaluate_method, make_test_pairs
from prnet_core.evaluation.methods import MethodOptions
from prnet_core.evaluation.published import BY_PROTOCOL
from prnet_core.evaluation.run import transform_table
from prnet_core.evaluation.table import Column, Table
from prnet_core.pairs.protocol import PROTOCOLS, protocol_pair
from prnet_core.shapes.shape_sets import make_shape_set


@pytest.fixture
def shapes():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 2048, 3)) * [1.0, 0.5, 0.25]
    points /= np.linalg.norm(points, axis=2).max(axis=1)[:, None, None]
    return make_shape_set(points, [f"s{i}" for i in range(6)], list("aaaabb"))


class GroundTruth:
    """Knows the answers, in order."""

    def __init__(self, pairs):
        self.answers = {source.tobytes(): true for (source, _), true in zip(pairs.pairs, pairs.true, strict=True)}

    def register(self, source, target):
        return self.answers[source.tobytes()]


def test_limit_keeps_each_shapes_own_pair(shapes):
    every, some = make_test_pairs(shapes, "objects"), make_test_pairs(shapes, "objects", limit=3)
    assert len(every) == 6 and len(some) == 3
    np.testing.assert_array_equal(some.true[-1], every.true[-1])
    np.testing.assert_array_equal(every.pairs[2][0], protocol_pair(shapes.points[2], 2, "objects")[0])
    assert some.classes.tolist() == ["a", "a", "b"]


def test_row_has_what_the_table_needs(shapes):
    pairs = make_test_pairs(shapes, "noise")
    row = evaluate_method("ground truth", GroundTruth(pairs), pairs)
    assert row["mae_r_deg"] == 0 and row["class_mean_share_within_1_deg"] == 1
    assert row["num_pairs"] == 6 and row["num_failed"] == 0 and row["seconds_per_pair"] >= 0


def test_a_motion_that_is_not_finite_is_counted_as_identity(shapes):
    class Broken:
        def register(self, source, target):
            return np.full((4, 4), np.nan)

    pairs = make_test_pairs(shapes, "objects")
    row = evaluate_method("broken", Broken(), pairs)
    assert row["num_failed"] == 6
    assert row["mae_r_deg"] > 10


def test_transform_table_shows_trivial_rows_published_rows_and_command(shapes, tmp_path):
    table = transform_table(
        "Test", "prnet evaluate --that", shapes, PROTOCOLS["objects"], ["icp", "identity"], MethodOptions(),
        {"data": "tiny"}, limit=2,
    )  # fmt: skip
    assert [row["method"] for row in table.rows] == ["identity", "constant", "centroid", "icp"]
    table.write(tmp_path / "sub" / "t.json")
    written = json.loads((tmp_path / "sub" / "t.json").read_text())
    assert written["command"] == "prnet evaluate --that"
    assert written["published"] == BY_PROTOCOL["objects"]
    assert written["settings"]["protocol_settings"]["num_kept"] == 768
    assert {"mae_r_deg", "rmse_r_deg", "mae_t", "r2_r", "share_within_1_deg"} <= set(written["rows"][3])
    text = (tmp_path / "sub" / "t.md").read_text()
    assert "| icp |" in text and "| *PRNet (paper)* | 3.199 | 1.454 |" in text and "`prnet evaluate --that`" in text


def test_missing_and_infinite_values():
    columns = (Column("a", "A"), Column("b", "B"), Column("nowhere", "N"))
    table = Table("T", "c", [{"method": "m", "a": float("nan")}, {"method": "n", "b": 1.0}], columns)
    text = table.to_markdown()
    assert "| method | A | B |" in text
    assert "| m | - | - |" in text and "| n | - | 1.000 |" in text
    assert json.loads(table.to_json())["rows"][0]["a"] is None


def test_published_prnet_is_ahead_of_dcp_in_every_table():
    for rows in (BY_PROTOCOL["objects"], BY_PROTOCOL["noise"], BY_PROTOCOL["full"]):
        by_name = {row["method"]: row["mae_r_deg"] for row in rows}
        ours = by_name.get("PRNet (paper)", by_name.get("PRNet (PRNet paper)"))
        assert ours < by_name["DCP-v2 (PRNet paper)"]
