"""Office buildings with rooms along corridors, equal twin rooms, and stairs. Metres, z up."""

from dataclasses import replace

import numpy as np

from prnet_core.simulation.places import Place, rounded_path, there_and_back
from prnet_core.simulation.rooms import DOOR, WALL, furnish
from prnet_core.simulation.scene_builder import SceneBuilder
from prnet_core.simulation.stairs import add_stairwell, stairs_up

CORRIDOR = 2.6
STOREY = 3.2
ROOM_DEPTH = 5.0


def building(seed: int = 0, rooms_a_side: int = 10, floors: int = 2, num_twins: int = 8) -> Place:
    """Floors with a corridor along x and rooms on both sides of it; several floors have a stairwell at its end.

    Rooms differ in width and furniture, except `num_twins` equal ones, spread over the building. The path enters every
    room. The default has 40 rooms on two floors.
    """
    rng = np.random.default_rng([seed, 23])
    scene = SceneBuilder(rng)
    num_rooms = 2 * rooms_a_side * floors
    twins = _spread(num_rooms, num_twins)
    rooms, corners = [], []
    ends: list[list[float]] = []
    for floor in range(floors):
        z = floor * STOREY
        sides = []
        for side in (-1.0, 1.0):
            first = len(rooms)
            indices = range(first, first + rooms_a_side)
            widths = np.array([4.4 if i in twins else rng.uniform(3.8, 6.2) for i in indices])
            sides.append(_row_of_rooms(scene, widths, side, z, [i in twins for i in indices], seed))
            rooms += [(x, side * (CORRIDOR + WALL + ROOM_DEPTH) / 2 + side * WALL / 2, z) for x in sides[-1][0]]
        ends.append([row[1] for row in sides])
        doors = sorted((x, side) for row, side in zip(sides, (-1.0, 1.0), strict=True) for x in row[0])
        visits = [_visit(x, side, z) for x, side in doors]
        corners.append([(0.8, 0.6, z), *(point for visit in visits for point in visit)])
    length = max(max(pair) for pair in ends)
    for floor in range(floors):
        _corridor_shell(scene, length, ends[floor], floor * STOREY, is_top=floor == floors - 1, is_only=floors == 1)
    path = _join_floors(scene, corners, length, floors)
    people = [
        there_and_back((x, side * 0.7), (x + 8.0, side * 0.7))
        for x, side in zip(np.arange(4.0, length - 9.0, 9.0), [1, -1] * 20, strict=False)
    ]
    return Place(f"building {seed}", scene.solids(), path, 1.0, people, rooms=np.array(rooms), twins=twins)


def office(seed: int = 0) -> Place:
    """One floor with twelve rooms, all different; people walk in the corridor."""
    return replace(building(1000 + seed, rooms_a_side=6, floors=1, num_twins=0), name=f"office {seed}")


def _spread(count: int, chosen: int) -> tuple[int, ...]:
    return tuple(int(i) for i in np.linspace(1, count - 2, chosen)) if chosen else ()


def _row_of_rooms(
    scene: SceneBuilder, widths: np.ndarray, side: float, z: float, are_twins: list[bool], seed: int
) -> tuple[np.ndarray, float]:
    """A row of rooms beside the corridor. Returns the x of their middles, where the doors are, and of the row's end."""
    inner = side * (CORRIDOR / 2 + WALL / 2)
    middle_y = side * (CORRIDOR / 2 + WALL + ROOM_DEPTH / 2)
    outer = side * (CORRIDOR / 2 + 1.5 * WALL + ROOM_DEPTH)
    height = STOREY - 0.2
    starts = np.concatenate([[0.0], np.cumsum(widths + WALL)])
    middles = starts[:-1] + WALL + widths / 2
    for x in starts:
        scene.box((x + WALL / 2, middle_y, z + height / 2), (WALL, ROOM_DEPTH + 2 * WALL, height))
    end = starts[-1] + WALL
    scene.box((end / 2, outer, z + height / 2), (end, WALL, height))
    for x, width, is_twin in zip(middles, widths, are_twins, strict=True):
        for sign in (-1.0, 1.0):
            piece = (width - DOOR[0]) / 2 + 0.5 * WALL
            scene.box((x + sign * (DOOR[0] + piece) / 2, inner, z + height / 2), (piece, WALL, height))
        scene.box((x, inner, z + (DOOR[1] + height) / 2), (DOOR[0], WALL, height - DOOR[1]))
        scene.box((x, outer - side * 0.05, z + 1.6), (1.6, 0.2, 1.1))
        fittings = SceneBuilder(np.random.default_rng([seed, 24]) if is_twin else scene.rng)
        furnish(fittings, (width, ROOM_DEPTH), height, door=(0.0, -ROOM_DEPTH / 2))
        turn = np.diag([side, side, 1.0, 1.0])
        turn[:3, 3] = (x, middle_y, z)
        scene.add_solids(fittings.solids(), turn)
    return middles, float(end)


def _visit(x: float, side: float, z: float) -> list[tuple[float, float, float]]:
    """Waypoints from the corridor into a room, round its middle, and out again."""
    door, middle = side * CORRIDOR / 2, side * (CORRIDOR / 2 + WALL + ROOM_DEPTH / 2)
    inside = door + side * 0.9
    return [
        (x, 0.0, z), (x, door, z), (x, inside, z), (x + 0.8, middle - side * 0.4, z), (x + 0.8, middle + side * 0.8, z),
        (x - 0.8, middle + side * 0.8, z), (x - 0.8, middle - side * 0.4, z), (x, inside, z), (x, door, z),
        (x, 0.0, z),
    ]  # fmt: skip


def _corridor_shell(
    scene: SceneBuilder, length: float, row_ends: list[float], z: float, is_top: bool, is_only: bool
) -> None:
    """Floor, ceiling and the ends of the corridor, and its walls beyond the rooms. A single floor has no stairwell."""
    height, depth = STOREY - 0.2, CORRIDOR + 2 * ROOM_DEPTH + 4 * WALL
    scene.box((length / 2, 0.0, z - 0.1), (length + 2 * WALL, depth, 0.2))
    if is_top:
        scene.box((length / 2, 0.0, z + height + 0.1), (length + 2 * WALL, depth, 0.2))
    scene.box((-WALL / 2, 0.0, z + height / 2), (WALL, CORRIDOR + 2 * WALL, height))
    if is_only:
        scene.box((length + WALL / 2, 0.0, z + height / 2), (WALL, CORRIDOR + 2 * WALL, height))
    for side, end in zip((-1.0, 1.0), row_ends, strict=True):
        if length > end:
            wall = ((length + end) / 2, side * (CORRIDOR + WALL) / 2, z + height / 2)
            scene.box(wall, (length - end, WALL, height))
    for x in np.arange(2.0, length, 4.5):
        scene.box((x, 0.0, z + height - 0.05), (1.3, 0.25, 0.1))


def _join_floors(scene: SceneBuilder, corners: list[list], length: float, floors: int) -> np.ndarray:
    """The closed path through all floors: up the stairs at the end, and down them again."""
    if floors == 1:
        back = [(length - 0.8, 0.6, 0.0), (length - 0.8, -0.6, 0.0), (0.8, -0.6, 0.0)]
        return rounded_path(corners[0] + back, 0.6)
    add_stairwell(scene, length, CORRIDOR, STOREY, floors)
    route = list(corners[0])
    for floor in range(1, floors):
        route += stairs_up(length, CORRIDOR, STOREY, floor - 1)
        route += [(length - 0.8, 0.6, floor * STOREY), *corners[floor][:0:-1], corners[floor][0]]
        route += [(0.8, -0.6, floor * STOREY), (length - 0.8, -0.6, floor * STOREY)]
    for floor in range(floors - 1, 0, -1):
        route += stairs_up(length, CORRIDOR, STOREY, floor - 1)[::-1]
    route += [(length - 0.8, -0.6, 0.0), (0.8, -0.6, 0.0)]
    return rounded_path(route, 0.6)
