"""A closet of 1.6 x 1.4 m with a door to a hall: the scale of the scene changes within a few metres."""

import numpy as np

from prnet_core.simulation.places import Place, rounded_path
from prnet_core.simulation.rooms import DOOR, WALL, furnish, shell
from prnet_core.simulation.scene_builder import SceneBuilder

HEIGHT = 6.0
CLOSET = (1.6, 1.4)


def closet_and_hall(seed: int = 0, hall: tuple[float, float] = (34.0, 22.0)) -> Place:
    """The path starts in the closet, in a corner of the hall, leads around the hall and ends in the closet again."""
    rng = np.random.default_rng([seed, 27])
    scene = SceneBuilder(rng)
    shell(scene, hall, HEIGHT)
    furnish(scene, (hall[0] - 4.0, hall[1] - 4.0), 2.5)
    for x in (-8.0, 0.0, 8.0):
        for y in (-3.5, 3.5):
            scene.box((x, y, HEIGHT / 2), (0.6, 0.6, HEIGHT))
    left, low = -hall[0] / 2, -hall[1] / 2
    right, high, closet_height = left + CLOSET[0], low + CLOSET[1], 2.4
    middle = low + CLOSET[1] / 2
    scene.box(((left + right) / 2, high + WALL / 2, closet_height / 2), (CLOSET[0] + WALL, WALL, closet_height))
    scene.box(((left + right) / 2, middle, closet_height + 0.05), (CLOSET[0], CLOSET[1], 0.1))
    jamb = (CLOSET[1] - DOOR[0]) / 2
    for side in (-1.0, 1.0):
        y = middle + side * (DOOR[0] + jamb) / 2
        scene.box((right + WALL / 2, y, closet_height / 2), (WALL, jamb, closet_height))
    lintel = closet_height - DOOR[1]
    scene.box((right + WALL / 2, middle, DOOR[1] + lintel / 2), (WALL, CLOSET[1], lintel))
    scene.box((left + 0.15, middle, 1.0), (0.3, 0.9, 0.05))
    scene.box((left + 0.15, middle, 1.5), (0.3, 0.9, 0.05))
    inside = left + 0.75
    corners = [
        (inside, middle), (right + 0.6, middle), (-10.0, -6.5), (11.0, -6.5), (11.0, 6.5), (-11.0, 6.5),
        (-11.0, middle + 3.0), (right + 0.9, middle + 0.1), (inside, middle + 0.1),
    ]  # fmt: skip
    return Place(f"closet {seed}", scene.solids(), rounded_path(corners, 0.5), 0.8)
