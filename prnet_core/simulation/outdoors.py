"""Streets and parks with a closed road or path. Metres, z up, the ground at z = 0."""

import numpy as np

from prnet_core.simulation.places import Place, rounded_path, there_and_back
from prnet_core.simulation.scene_builder import SceneBuilder
from prnet_core.simulation.scene_parts import car as parked_car
from prnet_core.simulation.scene_parts import tree_or_pole

BLOCK = (165.0, 85.0)
ROAD = 13.0
"""Width of a street between the house fronts."""


def street(seed: int = 0) -> Place:
    """A loop of 500 m around a block of houses, with houses on both sides of each street.

    The streets go on beyond the corners. Cars drive the other lane, people walk on the pavements.
    """
    rng = np.random.default_rng([seed, 20])
    scene = SceneBuilder(rng)
    length, width = BLOCK
    scene.box((length / 2, width / 2, -0.25), (length + 400.0, width + 400.0, 0.5))
    half = ROAD / 2
    corners = np.array([[0.0, 0.0], [length, 0.0], [length, width], [0.0, width]])
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (end - start) / np.linalg.norm(end - start)
        left = np.array([-along[1], along[0]])
        span = float(np.linalg.norm(end - start))
        _house_fronts(scene, start + left * half, along, -left, half, span - half)
        _house_fronts(scene, start - left * half, along, left, -60.0, -half)
        _house_fronts(scene, start - left * half, along, left, half, span - half)
        _kerb_side(scene, start, along, left, span)
    lane = 1.8
    ccw = np.array([[-lane, -lane], [length + lane, -lane], [length + lane, width + lane], [-lane, width + lane]])
    other = np.array([[lane, lane], [lane, width - lane], [length - lane, width - lane], [length - lane, lane]])
    pavement = half - 1.2
    people = [
        there_and_back((x, side * pavement), (x + 25.0, side * pavement))
        for x, side in zip(np.arange(12.0, length - 30.0, 18.0), [1, -1] * 20, strict=False)
    ]
    people += [
        there_and_back((length + side * pavement, y), (length + side * pavement, y + 20.0))
        for y, side in ((10.0, 1), (30.0, -1), (50.0, 1))
    ]
    return Place(f"street {seed}", scene.solids(), rounded_path(ccw, 7.0), 8.0, people, [other] * 4, sensor_height=1.9)


def park(seed: int = 0, radius: float = 35.0) -> Place:
    """A winding path of about 250 m among trees, bushes, benches, low hills and a few sheds; people walk on it."""
    rng = np.random.default_rng([seed, 21])
    scene = SceneBuilder(rng)
    scene.box((0.0, 0.0, -0.25), (8 * radius, 8 * radius, 0.5))
    angles = np.arange(14) * 2 * np.pi / 14
    reach = radius * rng.uniform(0.75, 1.25, 14)
    path = rounded_path(np.stack([reach * np.cos(angles), reach * np.sin(angles)], axis=1), 6.0)
    for _ in range(260):
        x, y = rng.uniform(-2.2 * radius, 2.2 * radius, 2)
        away = np.linalg.norm(path[:, :2] - (x, y), axis=1).min()
        kind = rng.random()
        if kind < 0.5 and away > 2.5:
            tree_or_pole(scene, x, y)
        elif kind < 0.75 and away > 4.0:
            scene.blob((x, y, 0.2), rng.uniform((0.8, 0.8, 0.8), (4.0, 4.0, 3.0)), rng.uniform(0, np.pi))
        elif kind < 0.85 and away > 2.0:
            yaw = rng.uniform(0, np.pi)
            scene.box((x, y, 0.42), (1.8, 0.45, 0.06), yaw)
            scene.box((x, y, 0.2), (1.5, 0.1, 0.4), yaw)
        elif kind < 0.9 and away > 14.0:
            scene.blob((x, y, 0.0), rng.uniform((12.0, 12.0, 2.0), (18.0, 18.0, 5.0)), rng.uniform(0, np.pi))
        elif kind < 0.93 and away > 8.0:
            size = rng.uniform((2.5, 2.5, 2.4), (8.0, 6.0, 4.0))
            scene.box((x, y, size[2] / 2), size, rng.uniform(0, np.pi))
    people = [np.roll(path, -shift, axis=0)[::6, :2] * 0.94 for shift in range(0, len(path), len(path) // 5)]
    return Place(f"park {seed}", scene.solids(), path, 1.5, people)


def _house_fronts(
    scene: SceneBuilder, start: np.ndarray, along: np.ndarray, street: np.ndarray, first: float, last: float
) -> None:
    """Houses from `first` to `last` metres along the line through `start`; `street` points to the street."""
    rng = scene.rng
    yaw = np.arctan2(along[1], along[0])
    x = first
    while x < last - 3.0:
        front = min(rng.uniform(7.0, 20.0), last - x)
        depth, height = rng.uniform(7.0, 12.0), rng.uniform(4.0, 14.0)
        back = rng.choice([0.0, 0.0, rng.uniform(0.3, 3.0)])
        middle = start + along * (x + front / 2) - street * (back + depth / 2)
        scene.box((*middle, height / 2), (front, depth, height), yaw)
        face = middle + street * depth / 2
        for window in np.arange(-front / 2 + 1.5, front / 2 - 1.0, rng.uniform(2.0, 3.5)):
            for level in np.arange(1.6, height - 1.0, 3.0):
                scene.box((*(face + along * window), level), (1.1, 0.24, 1.4), yaw)
        if rng.random() < 0.4:
            bay = face + along * rng.uniform(-0.3, 0.3) * front + street * 0.4
            scene.box((*bay, height * 0.4), (rng.uniform(1.5, 3.0), 0.9, height * 0.5), yaw)
        x += front + rng.choice([0.0, 0.0, rng.uniform(1.0, 6.0)])


def _kerb_side(scene: SceneBuilder, start: np.ndarray, along: np.ndarray, left: np.ndarray, span: float) -> None:
    """Parked cars, trees and poles on both sides of a street, off its lanes."""
    rng = scene.rng
    yaw = np.arctan2(along[1], along[0])
    for side in (-1.0, 1.0):
        for x in np.arange(14.0, span - 14.0, 6.5):
            spot = start + along * (x + rng.normal(0.0, 0.4)) + left * side * (ROAD / 2 - 2.4)
            if rng.random() < 0.5:
                parked_car(scene, *spot, yaw + rng.normal(0.0, 0.03))
            elif rng.random() < 0.3:
                tree_or_pole(scene, *(spot + left * side * 1.2))
