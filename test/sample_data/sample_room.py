"""The furnished room, built of Open3D primitives. Metres; z up; the floor is z = 0."""

from __future__ import annotations

import numpy as np
from open3d.geometry import TriangleMesh
from scipy.spatial.transform import Rotation

from prnet_core.simulation.ray_scene import RayScene

WALL = 0.15
HEIGHT = 2.8
TABLE_HEIGHT = 0.74


def sample_room() -> RayScene:
    """A hall of 10 x 7 m with an alcove, columns and furniture; its middle is about the origin."""
    vertices, triangles, count = [], [], 0
    for mesh in _shell() + _furniture():
        vertices.append(np.asarray(mesh.vertices))
        triangles.append(np.asarray(mesh.triangles) + count)
        count += len(vertices[-1])
    return RayScene(np.concatenate(vertices), np.concatenate(triangles))


def _shell() -> list[TriangleMesh]:
    walls = [
        _box((-5.0, -3.5, -WALL), (10.0, 7.0, WALL)),
        _box((-5.0, -3.5, HEIGHT), (10.0, 7.0, WALL)),
        _box((-5.0 - WALL, -3.5, 0.0), (WALL, 7.0, HEIGHT)),
        _box((5.0, -3.5, 0.0), (WALL, 4.6, HEIGHT)),
        _box((-5.0, -3.5 - WALL, 0.0), (10.0, WALL, HEIGHT)),
        _box((-5.0, 3.5, 0.0), (10.0, WALL, HEIGHT)),
    ]
    alcove = [
        _box((5.0, 1.1 - WALL, 0.0), (2.2, WALL, HEIGHT)),
        _box((5.0, 3.5, 0.0), (2.2, WALL, HEIGHT)),
        _box((7.2, 1.1, 0.0), (WALL, 2.4, HEIGHT)),
        _box((5.0, 1.1, -WALL), (2.2, 2.4, WALL)),
        _box((5.0, 1.1, 2.4), (2.2, 2.4, WALL)),
    ]
    relief = [
        _box((-1.8, -3.5, 0.0), (0.35, 0.25, HEIGHT)),
        _box((2.2, -3.5, 0.0), (0.35, 0.25, HEIGHT)),
        _box((-5.0, -0.6, 2.45), (10.0, 0.3, 0.35)),
        _box((-5.0, 2.0, 0.0), (0.06, 1.0, 2.1)),
        _box((-0.8, 3.38, 0.9), (2.4, 0.12, 1.2)),
        _cylinder((3.3, -0.9, 0.0), 0.22, HEIGHT),
    ]
    return walls + alcove + relief


def _furniture() -> list[TriangleMesh]:
    return [
        *_table((-2.2, 0.5), (1.8, 0.9), yaw=0.35),
        *_chair((-2.7, -0.5), yaw=1.8),
        *_chair((-1.3, 1.35), yaw=-1.1),
        *_table((1.6, 2.5), (1.4, 0.7), yaw=0.0),
        *_chair((1.5, 1.75), yaw=1.45),
        _box((1.3, 2.55, TABLE_HEIGHT), (0.55, 0.18, 0.4)),
        *_bookcase((-4.95, -2.6), depth=0.35, width=1.6),
        *_sofa((0.2, -2.95), yaw=0.0),
        *_bookcase((6.8, 1.4), depth=0.35, width=1.2),
        _box((3.9, -3.45, 0.0), (1.0, 0.6, 0.85)),
        _box((4.2, -3.35, 0.85), (0.45, 0.4, 0.3)),
        _box((-4.6, 0.2, 0.0), (0.55, 0.55, 0.5), yaw=0.6),
        _box((-4.3, 3.0, 0.0), (0.7, 0.45, 1.3), yaw=0.2),
        _cylinder((-1.2, -2.9, 0.0), 0.18, 0.45),
        _sphere((-1.2, -2.9, 0.9), 0.45),
        _cylinder((4.4, 0.4, 0.0), 0.03, 1.5),
        _sphere((4.4, 0.4, 1.65), 0.22),
        _sphere((2.0, 0.1, 0.32), 0.32),
        _cylinder((-2.4, 0.6, TABLE_HEIGHT), 0.12, 0.3),
        _sphere((-1.6, 0.9, TABLE_HEIGHT + 0.14), 0.14),
    ]


def _table(centre: tuple[float, float], size: tuple[float, float], yaw: float) -> list[TriangleMesh]:
    length, depth = size
    top = _box((-length / 2, -depth / 2, TABLE_HEIGHT - 0.04), (length, depth, 0.04))
    legs = [
        _cylinder((x * (length / 2 - 0.06), y * (depth / 2 - 0.06), 0.0), 0.03, TABLE_HEIGHT - 0.04)
        for x in (-1, 1)
        for y in (-1, 1)
    ]
    return _placed([top, *legs], centre, yaw)


def _chair(centre: tuple[float, float], yaw: float) -> list[TriangleMesh]:
    seat = _box((-0.22, -0.22, 0.43), (0.44, 0.44, 0.04))
    back = _box((-0.22, -0.22, 0.47), (0.04, 0.44, 0.45))
    legs = [_cylinder((x * 0.19, y * 0.19, 0.0), 0.02, 0.43) for x in (-1, 1) for y in (-1, 1)]
    return _placed([seat, back, *legs], centre, yaw)


def _bookcase(corner: tuple[float, float], depth: float, width: float) -> list[TriangleMesh]:
    """Along y, with shelves every 0.4 m, some of them with books."""
    sides = [_box((0.0, y, 0.0), (depth, 0.03, 2.0)) for y in (0.0, width - 0.03)]
    shelves = [_box((0.0, 0.0, z), (depth, width, 0.03)) for z in np.arange(0.0, 2.01, 0.4)]
    books = [
        _box((0.05, 0.1 + 0.13 * i, 0.4 * shelf + 0.03), (0.2, 0.45, 0.26)) for i, shelf in enumerate((0, 1, 3, 4))
    ]
    return _placed([*sides, *shelves, *books], corner, 0.0)


def _sofa(corner: tuple[float, float], yaw: float) -> list[TriangleMesh]:
    parts = [
        _box((0.0, 0.0, 0.1), (1.9, 0.85, 0.32)),
        _box((0.0, -0.3, 0.1), (1.9, 0.3, 0.75)),
        _box((-0.2, -0.3, 0.1), (0.2, 1.15, 0.55)),
        _box((1.9, -0.3, 0.1), (0.2, 1.15, 0.55)),
    ]
    return _placed(parts, corner, yaw)


def _placed(meshes: list[TriangleMesh], xy: tuple[float, float], yaw: float) -> list[TriangleMesh]:
    transform = np.eye(4)
    transform[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    transform[:2, 3] = xy
    return [mesh.transform(transform) for mesh in meshes]


def _box(corner: tuple[float, float, float], size: tuple[float, float, float], yaw: float = 0.0) -> TriangleMesh:
    mesh = TriangleMesh.create_box(*size)
    mesh.rotate(Rotation.from_euler("z", yaw).as_matrix(), center=(0.0, 0.0, 0.0))
    return mesh.translate(corner)


def _cylinder(foot: tuple[float, float, float], radius: float, height: float) -> TriangleMesh:
    mesh = TriangleMesh.create_cylinder(radius, height, resolution=32)
    return mesh.translate((foot[0], foot[1], foot[2] + height / 2))


def _sphere(centre: tuple[float, float, float], radius: float) -> TriangleMesh:
    return TriangleMesh.create_sphere(radius, resolution=24).translate(centre)
