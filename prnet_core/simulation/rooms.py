"""Closed rooms, corridors and tables, built of solids. Metres, z up; the origin is the middle of the floor."""

import numpy as np

from prnet_core.simulation.places import Place
from prnet_core.simulation.scene_builder import SceneBuilder
from prnet_core.simulation.solids import Solids

WALL = 0.15
DOOR = (1.0, 2.05)
ROOM_SIZES = ((4.0, 3.0), (5.0, 4.0), (7.0, 5.0), (9.0, 6.0))
"""Length and width of the benchmark's rectangular rooms."""


def furnished_room(rng: np.random.Generator, size: tuple[float, float] = (5.0, 4.0)) -> Solids:
    """A closed rectangular room with a door and a window niche, and furniture along its walls; the middle is free."""
    scene = SceneBuilder(rng)
    length, width = size
    height = rng.uniform(2.4, 3.0)
    shell(scene, size, height)
    scene.box((rng.uniform(-0.3, 0.3) * length, -width / 2, DOOR[1] / 2), (DOOR[0], 0.08, DOOR[1]))
    scene.box((rng.uniform(-0.3, 0.3) * length, width / 2, 1.5), (1.4, 0.16, 1.1))
    furnish(scene, size, height)
    return scene.solids()


def corridor(rng: np.random.Generator, length: float = 24.0, width: float = 2.0) -> Solids:
    """A closed corridor along x with equal doors every 3 m on both sides, and few distinctive objects."""
    scene = SceneBuilder(rng)
    height = 2.5
    shell(scene, (length, width), height)
    for x in np.arange(-length / 2 + 1.5, length / 2 - 1.0, 3.0):
        for side in (-1.0, 1.0):
            scene.box((x, side * width / 2, DOOR[1] / 2), (DOOR[0], 0.1, DOOR[1]))
    for x in np.arange(-length / 2 + 3.0, length / 2 - 1.0, 6.0):
        scene.box((x, 0.0, height), (1.2, 0.3, 0.12))
    for _ in range(rng.integers(1, 4)):
        x, side = rng.uniform(-length / 2 + 1.0, length / 2 - 1.0), rng.choice([-1.0, 1.0])
        size = rng.uniform((0.3, 0.25, 0.4), (1.0, 0.4, 1.2))
        scene.box((x, side * (width / 2 - size[1] / 2), size[2] / 2), size)
    return scene.solids()


def table_top(rng: np.random.Generator) -> Solids:
    """A table with 8 to 14 small objects on it, in a room of 6 x 5 m. The table's top is at z = 0.74."""
    scene = SceneBuilder(rng)
    shell(scene, (6.0, 5.0), 2.6)
    furnish(scene, (6.0, 5.0), 2.6)
    scene.box((0.0, 0.0, 0.72), (1.6, 0.9, 0.04))
    for x in (-0.72, 0.72):
        for y in (-0.38, 0.38):
            scene.pole(x, y, 0.0, 0.7, 0.06)
    for _ in range(rng.integers(8, 15)):
        x, y = rng.uniform((-0.65, -0.35), (0.65, 0.35))
        size = rng.uniform((0.06, 0.06, 0.05), (0.28, 0.2, 0.3))
        kind = rng.integers(3)
        if kind == 0:
            scene.box((x, y, 0.74 + size[2] / 2), size, rng.uniform(0, np.pi))
        elif kind == 1:
            scene.pole(x, y, 0.74, size[2], 0.6 * size[0] + 0.03)
        else:
            scene.blob((x, y, 0.74 + size[2] / 2), size, rng.uniform(0, np.pi))
    return scene.solids()


def table_place(seed: int = 0) -> Place:
    """A camera moves around a table at 0.5 m/s and looks at it from about 1 m."""
    angles = np.arange(24) * 2 * np.pi / 24
    path = np.stack([1.15 * np.cos(angles), 1.0 * np.sin(angles), 0.1 * np.sin(2 * angles)], axis=1)
    solids = table_top(np.random.default_rng([seed, 26]))
    return Place(f"table {seed}", solids, path, 0.5, sensor_height=1.25, camera_deg=(90.0, 25.0))


def crowded_room(seed: int = 0, size: tuple[float, float] = (10.0, 7.5)) -> Place:
    """A furnished room in which six people walk around the sensor, 1.7 to 2.7 m away."""
    rng = np.random.default_rng([seed, 28])
    angles = np.arange(16) * 2 * np.pi / 16
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    walks = [np.roll(circle, rng.integers(16), axis=0) * rng.uniform(1.7, 2.7) for _ in range(6)]
    people = [walk if number % 2 else walk[::-1] for number, walk in enumerate(walks)]
    path = np.pad(circle * (1.0, 0.6), ((0, 0), (0, 1)))
    return Place(f"crowd {seed}", furnished_room(rng, size), path, 0.5, people, sensor_height=1.1)


def shell(scene: SceneBuilder, size: tuple[float, float], height: float) -> None:
    """Four walls without openings, floor and ceiling of a room with inner `size`."""
    length, width = size
    for z in (-WALL / 2, height + WALL / 2):
        scene.box((0.0, 0.0, z), (length + 2 * WALL, width + 2 * WALL, WALL))
    for side in (-1.0, 1.0):
        scene.box((side * (length + WALL) / 2, 0.0, height / 2), (WALL, width + 2 * WALL, height))
        scene.box((0.0, side * (width + WALL) / 2, height / 2), (length + 2 * WALL, WALL, height))


def furnish(
    scene: SceneBuilder, size: tuple[float, float], height: float, door: tuple[float, float] | None = None
) -> None:
    """Furniture along the walls of a room with inner `size`, within 0.7 m of a wall and 0.9 m off `door` (x, y)."""
    rng = scene.rng
    length, width = size
    count = int(round(2 * (length + width) / 2.2))
    for _ in range(count):
        extent = rng.uniform((0.4, 0.3, 0.4), (1.4, 0.65, min(2.2, height - 0.2)))
        along_x = rng.random() < length / (length + width)
        room_length, room_width = (length, width) if along_x else (width, length)
        along = rng.uniform(-1, 1) * max(room_length - extent[0], 0.0) / 2
        across = rng.choice([-1.0, 1.0]) * (room_width - extent[1]) / 2
        x, y = (along, across) if along_x else (across, along)
        if door is not None and np.hypot(x - door[0], y - door[1]) < 0.9 + extent[0] / 2:
            continue
        yaw = 0.0 if along_x else np.pi / 2
        _piece(scene, np.array([x, y, 0.0]), extent, yaw)


def _piece(scene: SceneBuilder, foot: np.ndarray, extent: np.ndarray, yaw: float) -> None:
    """A cupboard, a shelf, a desk with things on it, a seat or a round bin of this extent."""
    rng = scene.rng
    length, depth, height = extent
    x, y, z = foot
    kind = rng.integers(5)
    if kind == 0:
        scene.box((x, y, z + height / 2), extent, yaw)
    elif kind == 1:
        for level in np.arange(0.05, height, 0.4):
            scene.box((x, y, z + level), (length, depth, 0.03), yaw)
            if rng.random() < 0.7:
                scene.box((x, y, z + level + 0.14), (length * rng.uniform(0.3, 0.8), depth * 0.7, 0.25), yaw)
    elif kind == 2:
        scene.box((x, y, z + 0.73), (length, depth, 0.04), yaw)
        scene.box((x, y, z + 0.35), (0.1, depth * 0.8, 0.7), yaw)
        scene.box((x, y, z + 0.95), (0.5, 0.06, 0.35), yaw + rng.normal(0.0, 0.3))
    elif kind == 3:
        scene.box((x, y, z + 0.22), (length, depth, 0.44), yaw)
        scene.box((x, y, z + 0.6), (length, 0.12, 0.5), yaw)
    else:
        scene.pole(x, y, z, min(height, 1.2), depth * 0.8)
        scene.blob((x, y, z + min(height, 1.2)), (depth, depth, depth))
