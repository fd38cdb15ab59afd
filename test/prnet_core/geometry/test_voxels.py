"""Means of the points of voxels."""

import numpy as np
import pytest

from prnet_core.geometry.voxels import voxel_means


@pytest.mark.parametrize("min_points", [1, 3])
def test_each_voxel_gives_the_mean_of_the_values_of_its_points(min_points):
    rng = np.random.default_rng(0)
    points = rng.uniform(0.0, 4.0, (300, 3))
    points[0] = 0.0  # the grid begins at the smallest coordinates
    values = rng.normal(size=(300, 5))
    cells = [tuple(cell) for cell in np.floor(points).astype(int)]
    members = [[i for i, cell in enumerate(cells) if cell == wanted] for wanted in sorted(set(cells))]
    expected = [values[rows].mean(axis=0) for rows in members if len(rows) >= min_points]
    np.testing.assert_allclose(voxel_means(points, values, 1.0, min_points), expected, atol=1e-12)
