"""Parts of random scenes: walls with openings, furniture, stairs, cars and trees. Metres, z up."""

import numpy as np

from prnet_core.simulation.scene_builder import SceneBuilder
from prnet_core.simulation.solids import BOX, CYLINDER


def roughly_square_yaw(rng: np.random.Generator) -> float:
    """A yaw that is mostly parallel to the walls, as that of furniture."""
    yaw = rng.integers(4) * np.pi / 2
    return yaw + (rng.uniform(0, np.pi) if rng.random() < 0.25 else rng.normal(0.0, 0.03))


def slab(scene: SceneBuilder, width: float, depth: float, top: float, offset: float = 0.0) -> None:
    """A floor or ceiling from the corner (offset, offset), whose top is at height `top`."""
    scene.box((offset + width / 2, offset + depth / 2, top - 0.1), (width, depth, 0.2))


def ground(scene: SceneBuilder, extent: float) -> None:
    """Slightly sloping ground, three times `extent` wide, centred on the origin."""
    tilt = np.eye(3)
    tilt[2, 0] = scene.rng.normal(0.0, 0.02)
    tilt[:, 0] /= np.linalg.norm(tilt[:, 0])
    tilt[:, 2] = np.cross(tilt[:, 0], tilt[:, 1])
    scene.add(BOX, (0.0, 0.0, -0.5), (3 * extent, 3 * extent, 1.0), tilt=tilt)


def wall(scene: SceneBuilder, start, stop, height: float, outer: bool) -> None:
    """A straight wall, missing, whole, or with a door or window."""
    rng = scene.rng
    start, stop = np.asarray(start), np.asarray(stop)
    length, thickness = np.linalg.norm(stop - start), rng.uniform(0.08, 0.3)
    kind = rng.random()
    if kind < (0.08 if outer else 0.3):
        return
    along = (stop - start) / length
    yaw = np.arctan2(along[1], along[0])

    def piece(first: float, last: float, low: float, high: float) -> None:
        middle = start + along * (first + last) / 2
        scene.box((*middle, (low + high) / 2), (last - first, thickness, high - low), yaw)

    if kind > (0.6 if outer else 0.75) or length < 1.6:
        return piece(0.0, length, 0.0, height)
    opening = rng.uniform(0.8, min(2.5, length - 0.5))
    first = rng.uniform(0.2, length - opening - 0.2)
    sill = rng.choice([0.0, 0.9])
    lintel = min(rng.uniform(2.0, 2.3), height)
    piece(0.0, first, 0.0, height)
    piece(first + opening, length, 0.0, height)
    if sill:
        piece(first, first + opening, 0.0, sill)
    if lintel < height:
        piece(first, first + opening, lintel, height)


def furniture(scene: SceneBuilder, x: float, y: float, height: float) -> None:
    """One random piece at (x, y), in a room of this height."""
    rng = scene.rng
    yaw = roughly_square_yaw(rng)
    kind = rng.integers(7)
    if kind == 0:  # table
        size = rng.uniform((0.6, 0.5, 0.65), (2.4, 1.2, 0.9))
        scene.box((x, y, size[2]), (size[0], size[1], 0.05), yaw)
        along = np.array([np.cos(yaw), np.sin(yaw)]) * (size[0] / 2 - 0.05)
        for sign in (-1, 1):
            scene.box((x + sign * along[0], y + sign * along[1], size[2] / 2), (0.08, size[1] * 0.9, size[2]), yaw)
    elif kind == 1:  # chair or sofa: seat and back
        width, depth = rng.uniform(0.4, 2.0), rng.uniform(0.4, 0.9)
        across = np.array([-np.sin(yaw), np.cos(yaw)]) * depth / 2
        scene.box((x, y, 0.22), (width, depth, 0.44), yaw)
        scene.box((x + across[0], y + across[1], 0.45), (width, 0.1, 0.9), yaw)
    elif kind == 2:  # cupboard or shelf
        size = rng.uniform((0.4, 0.3, 0.8), (2.5, 0.7, min(2.2, height)))
        scene.box((x, y, size[2] / 2), size, yaw)
    elif kind == 3:  # person
        scene.add(CYLINDER, (x, y, 0.7), (0.3, 0.45, 1.4), yaw)
        scene.blob((x, y, 1.6), (0.22, 0.22, 0.28))
    elif kind == 4:  # barrel, bin or lamp
        scene.pole(x, y, 0.0, rng.uniform(0.3, 1.8), rng.uniform(0.1, 0.7))
    elif kind == 5:  # boxes on each other
        low, high = (rng.uniform((0.3, 0.3, 0.2), (1.3, 1.0, 1.0)), rng.uniform((0.2, 0.2, 0.2), (0.9, 0.8, 0.8)))
        scene.box((x, y, low[2] / 2), low, yaw)
        scene.box((x + rng.normal(0, 0.1), y, low[2] + high[2] / 2), high, yaw + rng.normal(0, 0.3))
    else:  # hanging duct or lamp
        scene.pipe((x, y, height - rng.uniform(0.2, 0.6)), rng.uniform(0.5, 4.0), rng.uniform(0.1, 0.5), yaw)


def stairs(scene: SceneBuilder, x: float, y: float, height: float) -> None:
    """A flight of solid steps along x."""
    width, direction = scene.rng.uniform(0.9, 2.0), scene.rng.choice([-1.0, 1.0])
    for step in range(min(int(height / 0.36), 10)):
        top = 0.36 * (step + 1)
        scene.box((x + direction * 0.56 * step, y, top / 2), (0.56, width, top))


def car(scene: SceneBuilder, x: float, y: float, yaw: float) -> None:
    """A parked car: body and cabin."""
    length, width, height = scene.rng.uniform((3.5, 1.6, 1.3), (6.0, 2.1, 2.2))
    scene.box((x, y, 0.25 + height * 0.25), (length, width, height * 0.5), yaw)
    scene.box((x - 0.1 * length, y, height * 0.75), (length * 0.55, width * 0.9, height * 0.5), yaw)


def tree_or_pole(scene: SceneBuilder, x: float, y: float) -> None:
    """A pole, mostly with a crown of one to three blobs."""
    rng = scene.rng
    height = rng.uniform(2.5, 9.0)
    scene.pole(x, y, -0.2, height, rng.uniform(0.08, 0.6))
    if rng.random() < 0.75:
        for _ in range(rng.integers(1, 4)):
            offset, size = rng.normal(0.0, 0.8, 3), rng.uniform(1.0, 4.5, 3)
            scene.blob((x + offset[0], y + offset[1], height + offset[2] * 0.7), size, rng.uniform(0, np.pi))
