"""Visibility of the points of a sampled surface from a camera, by a coarse depth buffer (numpy).

Points have no extent, so occluded points would be visible between them. The surface is represented by the nearest depth
in a point's own cell of the image, and in the 3x3 cells around it with more tolerance for slanted surfaces.
"""

import numpy as np
from scipy.ndimage import minimum_filter

SAME_CELL_TOLERANCE, AROUND_TOLERANCE = 2.5, 5.0
"""Maximum depth of a visible point behind the nearest point, in cells."""


def visible_points(points: np.ndarray, camera: np.ndarray, cell: float) -> np.ndarray:
    """Mask (N,) of the points (N, 3) seen from camera (3,), which looks at the origin from outside the cloud.

    cell: edge of an image cell at the origin's depth, about the spacing of the points.
    """
    distance = np.linalg.norm(camera)
    forward = -camera / distance
    right = np.cross(forward, [1.0, 0.0, 0.0] if abs(forward[0]) < 0.7 else [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    local = (points - camera) @ np.stack([right, np.cross(forward, right), forward], axis=1)
    depth = np.maximum(local[:, 2], 1e-3 * distance)
    pixels = np.floor(local[:, :2] / depth[:, None] * (distance / cell)).astype(np.int64)
    pixels -= pixels.min(0) - 1
    width, height = pixels.max(0) + 2
    buffer = np.full(width * height, np.inf)
    index = pixels[:, 0] * height + pixels[:, 1]
    np.minimum.at(buffer, index, depth)
    image = buffer.reshape(width, height)
    around = minimum_filter(image, size=3, mode="nearest")
    same = depth <= buffer[index] + SAME_CELL_TOLERANCE * cell
    return same & (depth <= around.ravel()[index] + AROUND_TOLERANCE * cell)
