"""Procedural places to scan: furnished floors of buildings, halls with pillars, streets and parks.

Metres, z up. A `Scene` is its solids and the box in which a sensor may be. What matters for learning is not
that they look right to a person but that scans of them have a real scan's walls, clutter, occlusion and
open ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from prnet_core.simulation.ray_casting import BOX, CYLINDER, ELLIPSOID, Solids


@dataclass(frozen=True)
class Scene:
    """Solids, and the corners (2, 3) of the region where sensors are put."""

    solids: Solids
    sensor_region: np.ndarray


class SceneBuilder:
    """Collects solids. Positions and sizes in metres, yaw in radians about z."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self._solids: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, kind: int, centre, size, yaw: float = 0.0, tilt: np.ndarray | None = None) -> None:
        """One solid of full extents `size` (3,); `tilt` (3, 3) turns it before the yaw."""
        cos, sin = np.cos(yaw), np.sin(yaw)
        axes = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        axes = axes if tilt is None else axes @ tilt
        self._solids.append(
            (kind, np.asarray(centre, float), axes, np.maximum(np.asarray(size, float) / 2, 1e-3))
        )

    def box(self, centre, size, yaw: float = 0.0) -> None:
        self.add(BOX, centre, size, yaw)

    def pole(self, x: float, y: float, z: float, height: float, diameter: float) -> None:
        """Upright cylinder standing at height z."""
        self.add(CYLINDER, (x, y, z + height / 2), (diameter, diameter, height))

    def pipe(self, centre, length: float, diameter: float, yaw: float) -> None:
        """Lying cylinder along the direction of the yaw."""
        along_x = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        self.add(CYLINDER, centre, (diameter, diameter, length), yaw, along_x)

    def blob(self, centre, size, yaw: float = 0.0) -> None:
        self.add(ELLIPSOID, centre, size, yaw)

    def build(self, sensor_region) -> Scene:
        kinds, centres, axes, half_sizes = (np.array(column) for column in zip(*self._solids, strict=True))
        return Scene(Solids(kinds, centres, axes, half_sizes), np.asarray(sensor_region, float))


def random_scene(rng: np.random.Generator) -> Scene:
    """A building's floor, a hall, a street or a park."""
    makers = (building_floor, hall, street, park)
    return makers[rng.choice(len(makers), p=(0.35, 0.4, 0.15, 0.1))](rng)


def building_floor(rng: np.random.Generator) -> Scene:
    """A grid of rooms with doors, missing walls and furniture."""
    scene = SceneBuilder(rng)
    columns, rows = rng.integers(1, 4), rng.integers(1, 3)
    xs = np.concatenate([[0.0], np.cumsum(rng.uniform(2.2, 9.0, columns))])
    ys = np.concatenate([[0.0], np.cumsum(rng.uniform(2.2, 9.0, rows))])
    height = rng.uniform(2.3, 4.5)
    _slab(scene, xs[-1], ys[-1], 0.0)
    if rng.random() < 0.85:
        _slab(scene, xs[-1], ys[-1], height + 0.2)
        if rng.random() < 0.5:
            for y in np.arange(rng.uniform(0.5, 2.0), ys[-1], rng.uniform(1.5, 4.0)):
                scene.box((xs[-1] / 2, y, height - 0.15), (xs[-1], 0.3, 0.3))
    for i, x in enumerate(xs):
        for start, stop in pairwise(ys):
            _wall(scene, (x, start), (x, stop), height, outer=i in (0, columns))
    for i, y in enumerate(ys):
        for start, stop in pairwise(xs):
            _wall(scene, (start, y), (stop, y), height, outer=i in (0, rows))
    for _ in range(int(rng.uniform(0.1, 0.45) * xs[-1] * ys[-1]) + 2):
        _furniture(scene, rng.uniform(0.2, xs[-1] - 0.2), rng.uniform(0.2, ys[-1] - 0.2), height)
    return scene.build([[0.5, 0.5, 0.4], [xs[-1] - 0.5, ys[-1] - 0.5, min(2.0, height - 0.4)]])


def hall(rng: np.random.Generator) -> Scene:
    """A large space, often open on some sides: pillars, beams, stacks, machines, part of another storey."""
    scene = SceneBuilder(rng)
    width, depth, height = rng.uniform(9.0, 45.0), rng.uniform(9.0, 30.0), rng.uniform(3.0, 9.0)
    _slab(scene, width + 4.0, depth + 4.0, 0.0, offset=-2.0)
    if rng.random() < 0.7:
        _slab(scene, width, depth * rng.choice([0.4, 0.7, 1.0]), height + 0.2)
    corners = [(0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)]
    for start, stop in zip(corners, corners[1:] + corners[:1], strict=True):
        if rng.random() < 0.75:
            _wall(scene, start, stop, height, outer=rng.random() < 0.6)
    spacing_x, spacing_y, thickness = rng.uniform(3.0, 9.0), rng.uniform(3.0, 9.0), rng.uniform(0.25, 0.8)
    round_pillars = rng.random() < 0.3
    for x in np.arange(rng.uniform(1.0, spacing_x), width, spacing_x):
        for y in np.arange(rng.uniform(1.0, spacing_y), depth, spacing_y):
            if rng.random() < 0.8:
                if round_pillars:
                    scene.pole(x, y, 0.0, height, thickness)
                else:
                    scene.box((x, y, height / 2), (thickness, thickness * rng.uniform(0.7, 1.5), height))
        if rng.random() < 0.6:
            scene.box((x, depth / 2, height - 0.25), (0.3, depth, 0.5))
    for _ in range(rng.integers(3, 25)):
        x, y = rng.uniform(1.0, width - 1.0), rng.uniform(1.0, depth - 1.0)
        if rng.random() < 0.5:
            size = rng.uniform((0.5, 0.5, 0.4), (4.0, 2.5, 0.8 * height))
            scene.box((x, y, size[2] / 2), size, _right_angle(rng))
        else:
            _furniture(scene, x, y, height)
    for _ in range(rng.integers(0, 5)):
        scene.pipe(
            (width / 2, rng.uniform(0, depth), height - rng.uniform(0.3, 1.0)),
            width,
            rng.uniform(0.1, 0.6),
            0.0,
        )
    if rng.random() < 0.4:
        _stairs(scene, rng.uniform(2.0, width - 2.0), rng.uniform(2.0, depth - 2.0), height)
    return scene.build([[1.5, 1.5, 0.5], [width - 1.5, depth - 1.5, 2.2]])


def street(rng: np.random.Generator) -> Scene:
    """House fronts on both sides with gaps and bays, parked cars, poles and trees."""
    scene = SceneBuilder(rng)
    length, half_width = rng.uniform(40.0, 120.0), rng.uniform(5.0, 16.0)
    _ground(scene, length)
    for side in (-1.0, 1.0):
        x = -length / 2
        while x < length / 2:
            front, gap = rng.uniform(5.0, 25.0), rng.choice([0.0, 0.0, rng.uniform(1.0, 10.0)])
            depth, tall = rng.uniform(5.0, 15.0), rng.uniform(3.0, 16.0)
            y = side * (half_width + rng.uniform(0.0, 3.0) + depth / 2)
            scene.box((x + front / 2, y, tall / 2), (front, depth, tall))
            if rng.random() < 0.5:
                scene.box(
                    (x + front * rng.uniform(0.2, 0.8), y - side * depth / 2, 2.0),
                    (rng.uniform(1, 4), 1.5, 4.0),
                )
            x += front + gap
        for x in np.arange(-length / 2, length / 2, rng.uniform(5.0, 14.0)):
            if rng.random() < 0.6:
                _car(
                    scene,
                    x + rng.normal(),
                    side * (half_width - rng.uniform(1.5, 3.0)),
                    rng.normal(0.0, 0.05),
                )
            if rng.random() < 0.5:
                _tree_or_pole(scene, x + rng.normal(), side * (half_width - 0.8))
    if rng.random() < 0.4:
        scene.box(
            (rng.choice([-1, 1]) * length * 0.4, 0.0, 4.0), (8.0, half_width * rng.uniform(0.5, 2.0), 8.0)
        )
    return scene.build([[-12.0, -half_width * 0.5, 1.0], [12.0, half_width * 0.5, 2.5]])


def park(rng: np.random.Generator) -> Scene:
    """Trees, bushes, boulders and a few sheds on slightly sloping ground."""
    scene = SceneBuilder(rng)
    extent = rng.uniform(20.0, 50.0)
    _ground(scene, 2 * extent)
    for _ in range(rng.integers(15, 60)):
        x, y = rng.uniform(-extent, extent, 2)
        kind = rng.random()
        if kind < 0.55:
            _tree_or_pole(scene, x, y)
        elif kind < 0.85:
            scene.blob((x, y, 0.2), rng.uniform((0.5, 0.5, 0.5), (4.0, 4.0, 3.0)), rng.uniform(0, np.pi))
        else:
            size = rng.uniform((1.0, 1.0, 1.0), (8.0, 6.0, 4.0))
            scene.box((x, y, size[2] / 2), size, rng.uniform(0, np.pi))
    return scene.build([[-10.0, -10.0, 1.0], [10.0, 10.0, 2.5]])


def _right_angle(rng: np.random.Generator) -> float:
    """Furniture mostly stands along the walls' directions."""
    yaw = rng.integers(4) * np.pi / 2
    return yaw + (rng.uniform(0, np.pi) if rng.random() < 0.25 else rng.normal(0.0, 0.03))


def _slab(scene: SceneBuilder, width: float, depth: float, top: float, offset: float = 0.0) -> None:
    scene.box((offset + width / 2, offset + depth / 2, top - 0.1), (width, depth, 0.2))


def _ground(scene: SceneBuilder, extent: float) -> None:
    tilt = np.eye(3)
    tilt[2, 0] = scene.rng.normal(0.0, 0.02)
    tilt[:, 0] /= np.linalg.norm(tilt[:, 0])
    tilt[:, 2] = np.cross(tilt[:, 0], tilt[:, 1])
    scene.add(BOX, (0.0, 0.0, -0.5), (3 * extent, 3 * extent, 1.0), tilt=tilt)


def _wall(scene: SceneBuilder, start, stop, height: float, outer: bool) -> None:
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


def _furniture(scene: SceneBuilder, x: float, y: float, height: float) -> None:
    rng = scene.rng
    yaw = _right_angle(rng)
    kind = rng.integers(7)
    if kind == 0:  # table
        size = rng.uniform((0.6, 0.5, 0.65), (2.4, 1.2, 0.9))
        scene.box((x, y, size[2]), (size[0], size[1], 0.05), yaw)
        along = np.array([np.cos(yaw), np.sin(yaw)]) * (size[0] / 2 - 0.05)
        for sign in (-1, 1):
            scene.box(
                (x + sign * along[0], y + sign * along[1], size[2] / 2), (0.08, size[1] * 0.9, size[2]), yaw
            )
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
        low, high = (
            rng.uniform((0.3, 0.3, 0.2), (1.3, 1.0, 1.0)),
            rng.uniform((0.2, 0.2, 0.2), (0.9, 0.8, 0.8)),
        )
        scene.box((x, y, low[2] / 2), low, yaw)
        scene.box((x + rng.normal(0, 0.1), y, low[2] + high[2] / 2), high, yaw + rng.normal(0, 0.3))
    else:  # hanging duct or lamp
        scene.pipe((x, y, height - rng.uniform(0.2, 0.6)), rng.uniform(0.5, 4.0), rng.uniform(0.1, 0.5), yaw)


def _stairs(scene: SceneBuilder, x: float, y: float, height: float) -> None:
    width, direction = scene.rng.uniform(0.9, 2.0), scene.rng.choice([-1.0, 1.0])
    for step in range(min(int(height / 0.36), 10)):
        top = 0.36 * (step + 1)
        scene.box((x + direction * 0.56 * step, y, top / 2), (0.56, width, top))


def _car(scene: SceneBuilder, x: float, y: float, yaw: float) -> None:
    length, width, height = scene.rng.uniform((3.5, 1.6, 1.3), (6.0, 2.1, 2.2))
    scene.box((x, y, 0.25 + height * 0.25), (length, width, height * 0.5), yaw)
    scene.box((x - 0.1 * length, y, height * 0.75), (length * 0.55, width * 0.9, height * 0.5), yaw)


def _tree_or_pole(scene: SceneBuilder, x: float, y: float) -> None:
    rng = scene.rng
    height = rng.uniform(2.5, 9.0)
    scene.pole(x, y, -0.2, height, rng.uniform(0.08, 0.6))
    if rng.random() < 0.75:
        for _ in range(rng.integers(1, 4)):
            offset, size = rng.normal(0.0, 0.8, 3), rng.uniform(1.0, 4.5, 3)
            scene.blob((x + offset[0], y + offset[1], height + offset[2] * 0.7), size, rng.uniform(0, np.pi))
