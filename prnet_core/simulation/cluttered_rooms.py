"""Single rooms full of furniture and small things, as a hand-held depth camera sees them. Metres, z up."""

import numpy as np

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.scene_builder import Scene, SceneBuilder
from prnet_core.simulation.scene_parts import furniture, roughly_square_yaw
from prnet_core.simulation.solids import BOX, CYLINDER, ELLIPSOID


def cluttered_room(rng: np.random.Generator) -> Scene:
    """A closed room of 2.5 to 7 m with relief on its walls, furniture, and small objects on all of it."""
    scene = SceneBuilder(rng)
    width, depth, height = rng.uniform(2.5, 7.0), rng.uniform(2.5, 6.0), rng.uniform(2.3, 3.2)
    _shell(scene, width, depth, height)
    surfaces = [(width / 2, depth / 2, 0.0, width - 0.4, depth - 0.4)]
    for _ in range(rng.integers(3, 4 + int(width * depth / 2.5))):
        x, y = rng.uniform(0.3, width - 0.3), rng.uniform(0.3, depth - 0.3)
        if rng.random() < 0.6:
            x, y = _towards_wall(rng, x, y, width, depth)
        if rng.random() < 0.45:
            surfaces.append(_table(scene, x, y))
        elif rng.random() < 0.4:
            surfaces += _shelf(scene, x, y, height)
        else:
            furniture(scene, x, y, height)
    for _ in range(rng.integers(20, 110)):
        _small_object(scene, *surfaces[rng.integers(len(surfaces))])
    return scene.build([[0.4, 0.4, 0.9], [width - 0.4, depth - 0.4, min(1.9, height - 0.3)]])


def _shell(scene: SceneBuilder, width: float, depth: float, height: float) -> None:
    rng = scene.rng
    scene.box((width / 2, depth / 2, -0.1), (width + 0.4, depth + 0.4, 0.2))
    scene.box((width / 2, depth / 2, height + 0.1), (width + 0.4, depth + 0.4, 0.2))
    for axis, length, across in ((0, width, depth), (1, depth, width)):
        for side in (-0.1, across + 0.1):
            centre, size = [length / 2, side, height / 2], [length + 0.4, 0.2, height]
            inward = 0.1 if side < 0 else -0.1
            if axis:
                centre[:2], size[:2] = centre[1::-1], size[1::-1]
            scene.box(centre, size)
            for _ in range(rng.integers(0, 6)):  # frames, radiators, boards, columns, half-open doors
                along, thick = rng.uniform(0.2, length - 0.2), rng.uniform(0.02, 0.25)
                wide, tall = rng.uniform(0.1, 1.6), rng.uniform(0.15, height)
                low = rng.uniform(0.0, height - tall)
                relief = [along, side + inward * 1.0, low + tall / 2], [wide, 2 * thick, tall]
                if axis:
                    relief[0][:2], relief[1][:2] = relief[0][1::-1], relief[1][1::-1]
                scene.box(*relief, yaw=rng.normal(0.0, 0.02) if rng.random() < 0.8 else rng.uniform(-0.6, 0.6))


def _towards_wall(rng, x: float, y: float, width: float, depth: float) -> tuple[float, float]:
    side = rng.integers(4)
    gap = rng.uniform(0.2, 0.45)
    return ((gap, y), (width - gap, y), (x, gap), (x, depth - gap))[side]


def _table(scene: SceneBuilder, x: float, y: float) -> tuple[float, float, float, float, float]:
    """Also desks, cupboards and beds: a plate, on legs or solid. Its top: centre x, y, z and extents."""
    rng = scene.rng
    size = rng.uniform((0.5, 0.4, 0.35), (2.0, 1.2, 1.1))
    if rng.random() < 0.5:
        size[:2] = size[1::-1]
    yaw = 0.0 if rng.random() < 0.7 else rng.uniform(0, np.pi)
    if rng.random() < 0.5:
        scene.box((x, y, size[2] / 2), size, yaw)
    else:
        scene.box((x, y, size[2] - 0.02), (size[0], size[1], 0.04), yaw)
        for sign_x in (-1, 1):
            for sign_y in (-1, 1):
                leg = np.array([sign_x * (size[0] / 2 - 0.05), sign_y * (size[1] / 2 - 0.05)])
                rotated = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]) @ leg
                scene.box((x + rotated[0], y + rotated[1], size[2] / 2), (0.05, 0.05, size[2]), yaw)
    inner = 0.9 if yaw == 0.0 else 0.6
    return x, y, size[2], inner * size[0], inner * size[1]


def _shelf(scene: SceneBuilder, x: float, y: float, height: float) -> list[tuple[float, float, float, float, float]]:
    rng = scene.rng
    width, depth, tall = rng.uniform(0.5, 1.6), rng.uniform(0.25, 0.5), rng.uniform(0.8, height - 0.1)
    if rng.random() < 0.5:
        width, depth = depth, width
    boards = np.arange(rng.uniform(0.05, 0.3), tall, rng.uniform(0.25, 0.45))
    for z in boards:
        scene.box((x, y, z), (width, depth, 0.03))
    along = (width, 0.0) if width > depth else (0.0, depth)
    side = (0.03, depth, tall) if width > depth else (width, 0.03, tall)
    for sign in (-0.5, 0.5):
        scene.box((x + sign * along[0], y + sign * along[1], tall / 2), side)
    return [(x, y, z + 0.015, 0.8 * width, 0.8 * depth) for z in boards]


def _small_object(scene: SceneBuilder, x: float, y: float, z: float, width: float, depth: float) -> None:
    rng = scene.rng
    size = np.exp(rng.uniform(np.log((0.04, 0.04, 0.04)), np.log((0.45, 0.35, 0.4))))
    centre = (x + width * rng.uniform(-0.5, 0.5), y + depth * rng.uniform(-0.5, 0.5), z + size[2] / 2)
    kind = rng.choice([BOX, BOX, BOX, CYLINDER, ELLIPSOID])
    tilt = any_rotation(rng) if rng.random() < 0.2 else None
    scene.add(int(kind), centre, size, roughly_square_yaw(rng), tilt)
    if rng.random() < 0.3:  # a second part: a handle, a screen on its foot, a cushion
        other = size * rng.uniform(0.3, 1.2, 3)
        scene.add(
            int(rng.choice([BOX, CYLINDER, ELLIPSOID])),
            np.array(centre) + (0.0, 0.0, 0.5 * (size[2] + other[2])) + rng.normal(0.0, 0.03, 3) * (1, 1, 0),
            other,
            rng.uniform(0, np.pi),
        )
