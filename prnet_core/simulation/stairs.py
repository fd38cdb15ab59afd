"""Stairwells of two flights a storey, and a tower of them to walk up and down. Metres, z up."""

import numpy as np

from prnet_core.simulation.places import Place, rounded_path, there_and_back
from prnet_core.simulation.rooms import WALL
from prnet_core.simulation.scene_builder import SceneBuilder

TREAD, STEPS = 0.28, 10
LOBBY, LANDING = 1.2, 1.4
STAIRWELL_LENGTH = LOBBY + STEPS * TREAD + LANDING


def add_stairwell(scene: SceneBuilder, x: float, width: float, storey: float, floors: int) -> None:
    """A stairwell from x on, about the axis y = 0, for `floors` floors: the first flight of a storey on the right,
    the second on the left."""
    top = floors * storey
    flight_width = width / 2 - 0.1
    for side in (-1.0, 1.0):
        scene.box((x + STAIRWELL_LENGTH / 2, side * (width + WALL) / 2, top / 2), (STAIRWELL_LENGTH, WALL, top))
    scene.box((x + STAIRWELL_LENGTH + WALL / 2, 0.0, top / 2), (WALL, width + 2 * WALL, top))
    scene.box((x + STAIRWELL_LENGTH / 2, 0.0, -0.1), (STAIRWELL_LENGTH, width, 0.2))
    scene.box((x + STAIRWELL_LENGTH / 2, 0.0, top), (STAIRWELL_LENGTH, width, 0.2))
    rise = storey / 2 / STEPS
    for floor in range(floors):
        z = floor * storey
        scene.box((x + LOBBY / 2, 0.0, z - 0.1), (LOBBY, width, 0.2))
        if floor == floors - 1:
            break
        landing = x + LOBBY + STEPS * TREAD + LANDING / 2
        scene.box((landing, 0.0, z + storey / 2 - 0.1), (LANDING, width, 0.2))
        for step in range(STEPS):
            along = x + LOBBY + (step + 0.5) * TREAD
            up, down = z + (step + 0.5) * rise, z + storey - (step + 0.5) * rise
            scene.box((along, -width / 4 - 0.05, up), (TREAD, flight_width, rise + 0.1))
            scene.box((along, width / 4 + 0.05, down), (TREAD, flight_width, rise + 0.1))
        for post in range(0, STEPS, 3):
            along = x + LOBBY + (post + 0.5) * TREAD
            scene.pole(along, 0.0, z + post * rise, 1.0, 0.05)
            scene.pole(along, 0.1, z + storey - post * rise, 1.0, 0.05)


def stairs_up(x: float, width: float, storey: float, floor: int) -> list[tuple[float, float, float]]:
    """Waypoints from the lobby of `floor` to the lobby of the next."""
    z, right, left = floor * storey, -width / 4 - 0.05, width / 4 + 0.05
    foot, head = x + LOBBY, x + LOBBY + STEPS * TREAD
    return [
        (x + 0.3, right, z), (foot - 0.2, right, z), (head, right, z + storey / 2),
        (head + 0.7, right, z + storey / 2), (head + 0.7, left, z + storey / 2), (head, left, z + storey / 2),
        (foot - 0.2, left, z + storey), (x + 0.3, left, z + storey),
    ]  # fmt: skip


def stairs(seed: int = 0, floors: int = 4, width: float = 2.6) -> Place:
    """A tower of stairs `width` metres wide with lobbies; people walk in the lobbies and on the stairs."""
    rng = np.random.default_rng([seed, 25])
    scene = SceneBuilder(rng)
    storey, lobby = rng.uniform(2.9, 3.3), 7.0
    add_stairwell(scene, 0.0, width, storey, floors)
    for floor in range(floors):
        z, wide = floor * storey, rng.uniform(4.0, 6.0)
        scene.box((-lobby / 2, 0.0, z - 0.1), (lobby, wide + 0.3, 0.2))
        scene.box((-lobby - WALL / 2, 0.0, z + storey / 2), (WALL, wide + 0.3, storey))
        for side in (-1.0, 1.0):
            scene.box((-lobby / 2, side * (wide + WALL) / 2, z + storey / 2), (lobby, WALL, storey))
            piece = (wide - width) / 2
            scene.box((-WALL / 2, side * (width + piece) / 2, z + storey / 2), (WALL, piece + WALL, storey))
            for _ in range(rng.integers(1, 3)):
                size = rng.uniform((0.4, 0.3, 0.4), (1.2, 0.5, 1.8))
                spot = rng.uniform(-lobby + 1.0, -1.0)
                scene.box((spot, side * (wide - size[1]) / 2, z + size[2] / 2), size)
    scene.box((-lobby / 2, 0.0, floors * storey), (lobby, 6.3, 0.2))
    route: list[tuple[float, float, float]] = []
    for floor in range(floors - 1):
        z = floor * storey
        route += [(-0.5, 0.6, z), (-3.2, 0.6, z), (-3.2, -0.6, z), (-0.5, -0.6, z)]
        route += stairs_up(0.0, width, storey, floor)
    z = (floors - 1) * storey
    route += [(-0.5, 0.6, z), (-3.2, 0.6, z), (-3.2, -0.6, z), (-0.5, -0.6, z)]
    for floor in range(floors - 2, -1, -1):
        z = floor * storey
        route += stairs_up(0.0, width, storey, floor)[::-1]
        if floor:
            route += [(-0.5, -0.6, z), (-1.4, -0.6, z), (-1.4, 0.6, z), (-0.5, 0.6, z)]
    people = []
    for floor in range(floors):
        walk = there_and_back((-5.6, -0.9), (-4.4, 0.9))
        people.append(np.pad(walk, ((0, 0), (0, 1)), constant_values=floor * storey))
    for floor in range(floors - 1):
        flight = np.array(stairs_up(0.0, width, storey, floor)[4:7])
        people.append(np.concatenate([flight, flight[::-1] + (0.0, 0.3, 0.0)]))
    return Place(f"stairs {seed}", scene.solids(), rounded_path(route, 0.4), 0.7, people)
