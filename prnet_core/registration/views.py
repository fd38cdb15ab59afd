"""Where a cloud was seen from: the rays of a sensor, for the verification by free space."""

from dataclasses import dataclass

import numpy as np
import small_gicp

from prnet_core.geometry.rows import row_norms

MIN_RANGE = 1e-6  # voxels: a point nearer to the origin has no direction
MIN_RAYS = 20  # a view with fewer rays shows nothing


@dataclass(frozen=True)
class View:
    """Rays of one sensor pose, in a cloud's centred frame and voxel units.

    origin: (3,) the sensor's position. ranges: (N,) lengths of the rays. directions: (N, 3) unit, and their tree.
    spacing: median chord between the directions of neighbouring rays.
    """

    origin: np.ndarray
    ranges: np.ndarray
    directions: np.ndarray
    tree: small_gicp.KdTree
    spacing: float


def make_view(origin: np.ndarray, points: np.ndarray) -> View | None:
    """The rays from an origin (3,) to points (N, 3); None when there are too few."""
    rays = points - origin
    ranges = row_norms(rays)
    if len(ranges) and ranges.min() <= MIN_RANGE:
        rays, ranges = rays[ranges > MIN_RANGE], ranges[ranges > MIN_RANGE]
    if len(rays) < MIN_RAYS:
        return None
    directions = rays / ranges[:, None]
    tree = small_gicp.KdTree(directions)
    _, squared = tree.batch_knn_search(directions[:: max(1, len(directions) // 1000)], 2)
    return View(origin, ranges, directions, tree, float(np.sqrt(np.median(squared[:, 1]))))


def make_views(
    origins: np.ndarray, points: np.ndarray, view_index: np.ndarray | None, filtered: np.ndarray
) -> tuple[View, ...]:
    """Views from origins (K, 3) of points (N, 3), where `view_index` (N,) names the origin of each point.

    One view takes the `filtered` points (M, 3) of the whole cloud; several are filtered to one point a voxel each.
    """
    if len(origins) == 1:
        views = [make_view(origins[0], filtered)]
    else:
        views = []
        for index, origin in enumerate(origins):
            own = points[view_index == index]
            if len(own):
                own = small_gicp.voxelgrid_sampling(own, 1.0).points()[:, :3]
            views.append(make_view(origin, own))
    return tuple(view for view in views if view is not None)
