"""A parking garage: a low hall with pillars, parked cars and a loop of aisles. Metres, z up, the floor at z = 0."""

import numpy as np

from prnet_core.simulation.places import Place, rounded_path, there_and_back
from prnet_core.simulation.rooms import shell
from prnet_core.simulation.scene_builder import SceneBuilder
from prnet_core.simulation.scene_parts import car as parked_car


def garage(seed: int = 0, size: tuple[float, float] = (62.0, 38.0), height: float = 2.7) -> Place:
    """Pillars every 8 m, beams, pipes, about two thirds of the parking places taken; one car and people move."""
    rng = np.random.default_rng([seed, 22])
    scene = SceneBuilder(rng)
    length, width = size
    shell(scene, size, height)
    for x in np.arange(-length / 2 + 7.0, length / 2 - 5.0, 8.0):
        scene.box((x, 0.0, height - 0.2), (0.35, width, 0.4))
        for y in (-width / 2 + 5.6, -2.6, 2.6, width / 2 - 5.6):
            scene.box((x, y, height / 2), (0.45, 0.45, height))
    rows = (-width / 2 + 2.9, -2.9, 2.9, width / 2 - 2.9)
    for y in rows:
        for x in np.arange(-length / 2 + 10.0, length / 2 - 10.0, 2.7):
            if rng.random() < 0.65:
                parked_car(scene, x, y + rng.normal(0.0, 0.1), np.pi / 2 + rng.normal(0.0, 0.03))
    for y in rng.uniform(-width / 2 + 1.0, width / 2 - 1.0, 4):
        scene.pipe((0.0, y, height - 0.25), length - 1.0, rng.uniform(0.1, 0.3), 0.0)
    for x in (-length / 2 + 0.4, length / 2 - 1.6):
        scene.box((x, rng.uniform(-6, 6), height / 2), rng.uniform((0.6, 1.0, 2.0), (0.8, 3.5, height)))
    lane, end = (rows[0] + rows[1]) / 2, length / 2 - 6.0
    corners = [(-end, lane), (end, lane), (end, -lane), (-end, -lane)]
    people = [there_and_back((x, -lane - 1.0), (x + 12.0, -lane - 1.0)) for x in (-20.0, -4.0, 9.0)]
    x, y = end + 2.2, lane - 2.0
    other_lane = [(-x, y), (-x, -y), (x, -y), (x, y)]
    return Place(f"garage {seed}", scene.solids(), rounded_path(corners, 3.0), 3.0, people, [np.array(other_lane)])
