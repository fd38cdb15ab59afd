"""Alternatives to a transform: rotations that a symmetric object or room would hide."""

from itertools import permutations, product

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import nearest
from prnet_core.registration.preprocess import PreparedCloud

SAME_DIRECTION = np.cos(np.radians(15.0))
SAME_ROTATION = np.radians(20.0)
MAX_NORMALS = 1500
ACROSS = 0.5  # cosine between a normal and an axis that it constrains
FEWEST_ACROSS, MOST_ACROSS = 20, 400  # points with such a normal
SLIDE_STEP = 2.0  # voxels
MEETING_COSINE = 0.8
SLIDES = 2
SLIDE_SHARE = 0.75  # of the most points that meet: others are no rival


def cube_rotations() -> np.ndarray:
    """The 24 rotations (24, 3, 3) that map a cube onto itself, the identity first."""
    rotations = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0.0:
                rotations.append(matrix)
    return np.array(sorted(rotations, key=se3.rotation_angle))


def normal_frame(normals: np.ndarray) -> np.ndarray:
    """Axes (3, 3), as columns: the direction that most normals (N, 3) share, and the next one perpendicular to it."""
    normals = normals[:: max(1, len(normals) // MAX_NORMALS)]
    first = _commonest(normals, normals)
    across = normals - np.outer(normals @ first, first)
    length = np.linalg.norm(across, axis=1)
    wall = length > 0.9
    if wall.sum() < 10:
        wall = length > 0.1
    across = across[wall] / np.maximum(length[wall], 1e-9)[:, None]
    second = _commonest(across, across) if len(across) else np.linalg.svd(first[None])[2][1]
    second = second - (second @ first) * first
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def _commonest(candidates: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The mean direction of the largest group of parallel directions (N, 3)."""
    cosines = np.abs(candidates[:: max(1, len(candidates) // 300)] @ directions.T)
    chosen = candidates[:: max(1, len(candidates) // 300)][(cosines > SAME_DIRECTION).sum(axis=1).argmax()]
    signs = directions @ chosen
    group = directions[np.abs(signs) > SAME_DIRECTION] * np.sign(signs[np.abs(signs) > SAME_DIRECTION])[:, None]
    mean = group.mean(axis=0)
    return mean / np.linalg.norm(mean)


def point_frame(points: np.ndarray) -> np.ndarray:
    """Principal axes (3, 3) of points (N, 3), as columns; right-handed."""
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2].T
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return axes


def alternative_transforms(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, is_corner: bool = False
) -> list[np.ndarray]:
    """A transform (4, 4) with the source rotated in place, along the axes of the target's normals.

    Scans of a place (a sensor origin is known): by 90, 180 and 270 degrees about each axis, and where they show a
    corner of a room and little else (`is_corner`) by 120 degrees about its diagonals, too. Objects: by all rotations of
    a cube, and along the principal axes too.
    """
    centre = se3.apply(transform, source.points.mean(axis=0)[None])[0]
    rotations = [np.eye(3)]
    is_place = bool(source.views and target.views)
    cubes = cube_rotations()
    if is_place:
        about_axis = np.diagonal(cubes, axis1=1, axis2=2).max(axis=1) == 1.0
        about_diagonal = np.trace(cubes, axis1=1, axis2=2) == 0.0
        cubes = cubes[about_axis | (about_diagonal & is_corner)]
    for axes in [normal_frame(target.normals)] + ([] if is_place else [point_frame(target.points)]):
        for cube in cubes:
            rotation = axes @ cube @ axes.T
            traces = np.einsum("kij,ij->k", rotations, rotation)  # 1 + 2 cos of the angle to each
            if traces.max() < 1.0 + 2.0 * np.cos(SAME_ROTATION):
                rotations.append(rotation)
    return [se3.make_transform(r, centre - r @ centre) @ transform for r in rotations[1:]]


def slid_transforms(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, axis: np.ndarray
) -> list[np.ndarray]:
    """A transform (4, 4) moved along an axis (3,) to where most surfaces across the axis meet a surface like them.

    The axis is the one that the scene constrains least: a corridor with equal doors fits at several places along it.
    Empty when the source has too few surfaces across the axis.
    """
    normals = source.normals @ transform[:3, :3].T
    across = np.flatnonzero(np.abs(normals @ axis) > ACROSS)
    if len(across) < FEWEST_ACROSS:
        return []
    across = across[:: max(1, len(across) // MOST_ACROSS)]
    points, normals = se3.apply(transform, source.points[across]), normals[across]
    reach = 0.5 * float(np.ptp(target.points @ axis))
    shifts = np.arange(-reach, reach + SLIDE_STEP, SLIDE_STEP)
    moved = (points[None] + shifts[:, None, None] * axis).reshape(-1, 3)
    index, distance = nearest(target.level.tree, moved, source.config.num_threads)
    cosines = np.abs(np.sum(target.normals[index] * np.tile(normals, (len(shifts), 1)), axis=1))
    meets = (distance < SLIDE_STEP) & (cosines > MEETING_COSINE)
    counts = meets.reshape(len(shifts), -1).sum(axis=1)
    padded = np.concatenate([[-1], counts, [-1]])
    peaks = np.flatnonzero((counts >= padded[:-2]) & (counts > padded[2:]))
    peaks = peaks[counts[peaks] > SLIDE_SHARE * counts.max()]
    best = peaks[np.argsort(-counts[peaks], kind="stable")[:SLIDES]]
    return [se3.make_transform(np.eye(3), shifts[peak] * axis) @ transform for peak in best]
