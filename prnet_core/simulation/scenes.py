"""Procedural places to scan: furnished floors of buildings, halls with pillars, streets and parks.

Metres, z up. For training, scans of these places need the walls, clutter, occlusions and open ends of real scans, not a
realistic look.
"""

from itertools import pairwise

import numpy as np

from prnet_core.simulation.scene_builder import Scene, SceneBuilder
from prnet_core.simulation.scene_parts import (
    car,
    furniture,
    ground,
    roughly_square_yaw,
    slab,
    stairs,
    tree_or_pole,
    wall,
)


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
    slab(scene, xs[-1], ys[-1], 0.0)
    if rng.random() < 0.85:
        slab(scene, xs[-1], ys[-1], height + 0.2)
        if rng.random() < 0.5:
            for y in np.arange(rng.uniform(0.5, 2.0), ys[-1], rng.uniform(1.5, 4.0)):
                scene.box((xs[-1] / 2, y, height - 0.15), (xs[-1], 0.3, 0.3))
    for i, x in enumerate(xs):
        for start, stop in pairwise(ys):
            wall(scene, (x, start), (x, stop), height, outer=i in (0, columns))
    for i, y in enumerate(ys):
        for start, stop in pairwise(xs):
            wall(scene, (start, y), (stop, y), height, outer=i in (0, rows))
    for _ in range(int(rng.uniform(0.1, 0.45) * xs[-1] * ys[-1]) + 2):
        furniture(scene, rng.uniform(0.2, xs[-1] - 0.2), rng.uniform(0.2, ys[-1] - 0.2), height)
    return scene.build([[0.5, 0.5, 0.4], [xs[-1] - 0.5, ys[-1] - 0.5, min(2.0, height - 0.4)]])


def hall(rng: np.random.Generator) -> Scene:
    """A large space, often open on some sides: pillars, beams, stacks, machines, part of another storey."""
    scene = SceneBuilder(rng)
    width, depth, height = rng.uniform(9.0, 45.0), rng.uniform(9.0, 30.0), rng.uniform(3.0, 9.0)
    slab(scene, width + 4.0, depth + 4.0, 0.0, offset=-2.0)
    if rng.random() < 0.7:
        slab(scene, width, depth * rng.choice([0.4, 0.7, 1.0]), height + 0.2)
    corners = [(0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth)]
    for start, stop in zip(corners, corners[1:] + corners[:1], strict=True):
        if rng.random() < 0.75:
            wall(scene, start, stop, height, outer=rng.random() < 0.6)
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
            scene.box((x, y, size[2] / 2), size, roughly_square_yaw(rng))
        else:
            furniture(scene, x, y, height)
    for _ in range(rng.integers(0, 5)):
        scene.pipe(
            (width / 2, rng.uniform(0, depth), height - rng.uniform(0.3, 1.0)), width, rng.uniform(0.1, 0.6), 0.0
        )
    if rng.random() < 0.4:
        stairs(scene, rng.uniform(2.0, width - 2.0), rng.uniform(2.0, depth - 2.0), height)
    return scene.build([[1.5, 1.5, 0.5], [width - 1.5, depth - 1.5, 2.2]])


def street(rng: np.random.Generator) -> Scene:
    """House fronts on both sides with gaps and bays, parked cars, poles and trees."""
    scene = SceneBuilder(rng)
    length, half_width = rng.uniform(40.0, 120.0), rng.uniform(5.0, 16.0)
    ground(scene, length)
    for side in (-1.0, 1.0):
        x = -length / 2
        while x < length / 2:
            front, gap = rng.uniform(5.0, 25.0), rng.choice([0.0, 0.0, rng.uniform(1.0, 10.0)])
            depth, tall = rng.uniform(5.0, 15.0), rng.uniform(3.0, 16.0)
            y = side * (half_width + rng.uniform(0.0, 3.0) + depth / 2)
            scene.box((x + front / 2, y, tall / 2), (front, depth, tall))
            if rng.random() < 0.5:
                scene.box((x + front * rng.uniform(0.2, 0.8), y - side * depth / 2, 2.0), (rng.uniform(1, 4), 1.5, 4.0))
            x += front + gap
        for x in np.arange(-length / 2, length / 2, rng.uniform(5.0, 14.0)):
            if rng.random() < 0.6:
                car(scene, x + rng.normal(), side * (half_width - rng.uniform(1.5, 3.0)), rng.normal(0.0, 0.05))
            if rng.random() < 0.5:
                tree_or_pole(scene, x + rng.normal(), side * (half_width - 0.8))
    if rng.random() < 0.4:
        scene.box((rng.choice([-1, 1]) * length * 0.4, 0.0, 4.0), (8.0, half_width * rng.uniform(0.5, 2.0), 8.0))
    return scene.build([[-12.0, -half_width * 0.5, 1.0], [12.0, half_width * 0.5, 2.5]])


def park(rng: np.random.Generator) -> Scene:
    """Trees, bushes, boulders and a few sheds on slightly sloping ground."""
    scene = SceneBuilder(rng)
    extent = rng.uniform(20.0, 50.0)
    ground(scene, 2 * extent)
    for _ in range(rng.integers(15, 60)):
        x, y = rng.uniform(-extent, extent, 2)
        kind = rng.random()
        if kind < 0.55:
            tree_or_pole(scene, x, y)
        elif kind < 0.85:
            scene.blob((x, y, 0.2), rng.uniform((0.5, 0.5, 0.5), (4.0, 4.0, 3.0)), rng.uniform(0, np.pi))
        else:
            size = rng.uniform((1.0, 1.0, 1.0), (8.0, 6.0, 4.0))
            scene.box((x, y, size[2] / 2), size, rng.uniform(0, np.pi))
    return scene.build([[-10.0, -10.0, 1.0], [10.0, 10.0, 2.5]])
