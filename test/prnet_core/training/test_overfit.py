"""A small network learns a handful of shapes in seconds, by our loss and by the paper's alone.

The full claim, on real shapes, is benchmarks/overfit.py.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
from overfit import overfit  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


def test_our_loss_overfits(shapes_file):
    figures = overfit(shapes_file, matching_weight=1.0, steps=100, batch_size=4)
    assert figures["loss_last"] < 0.6 * figures["loss_first"]
    assert figures["mean_deg_before"] > 15.0
    assert figures["mean_deg_after"] < 2.0 and figures["median_deg_after"] < 1.0


def test_the_papers_loss_alone_learns(shapes_file):
    figures = overfit(shapes_file, matching_weight=0.0, steps=60, batch_size=4)
    assert figures["loss_last"] < 0.7 * figures["loss_first"]
    assert figures["mean_deg_before"] > 15.0
    assert figures["mean_deg_after"] < 0.35 * figures["mean_deg_before"]
