"""The median of one row of numbers."""

import numpy as np
import pytest

from prnet_core.geometry.median import median


@pytest.mark.parametrize("count", [1, 2, 3, 4, 1000, 1001])
def test_it_is_that_of_numpy(count):
    values = np.random.default_rng(count).normal(size=count)
    assert median(values) == np.median(values)
