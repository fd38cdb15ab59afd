"""Triangle meshes of solids (numpy): vertices (V, 3) and triangles (T, 3) of vertex indices."""

from functools import cache

import numpy as np

from prnet_core.simulation.solids import BOX, CYLINDER, ELLIPSOID, Solids

CYLINDER_SIDES = 48
"""The polygon's sides lie at most 0.2 % of the radius inside the circle."""

SPHERE_SUBDIVISIONS = 3
"""1,280 triangles, at most 0.4 % of the radius inside the sphere."""


def solids_mesh(solids: Solids) -> tuple[np.ndarray, np.ndarray]:
    """One mesh of all solids: vertices (V, 3) float64 in the world, triangles (T, 3)."""
    vertices, triangles, count = [], [], 0
    for kind, unit_mesh in ((BOX, _unit_box), (CYLINDER, _unit_cylinder), (ELLIPSOID, _unit_sphere)):
        chosen = solids.kinds == kind
        if not chosen.any():
            continue
        unit_vertices, unit_triangles = unit_mesh()
        local = unit_vertices * solids.half_sizes[chosen][:, None]  # (P, v, 3)
        world = local @ solids.axes[chosen].transpose(0, 2, 1) + solids.centres[chosen][:, None]
        first = count + np.arange(len(world)) * len(unit_vertices)
        vertices.append(world.reshape(-1, 3))
        triangles.append((unit_triangles + first[:, None, None]).reshape(-1, 3))
        count += world.shape[0] * world.shape[1]
    return np.concatenate(vertices), np.concatenate(triangles)


@cache
def _unit_box() -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))])


@cache
def _unit_cylinder() -> tuple[np.ndarray, np.ndarray]:
    angles = np.arange(CYLINDER_SIDES) * 2 * np.pi / CYLINDER_SIDES
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = [np.column_stack([circle, np.full(CYLINDER_SIDES, z)]) for z in (-1.0, 1.0)]
    vertices = np.concatenate([*rings, [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]])
    low, top = np.arange(CYLINDER_SIDES), np.arange(CYLINDER_SIDES) + CYLINDER_SIDES
    low_next, top_next = np.roll(low, -1), np.roll(top, -1)
    bottom, lid = np.full_like(low, 2 * CYLINDER_SIDES), np.full_like(low, 2 * CYLINDER_SIDES + 1)
    faces = [(low, low_next, top_next), (low, top_next, top), (bottom, low_next, low), (lid, top, top_next)]
    return vertices, np.concatenate([np.stack(face, axis=1) for face in faces])


@cache
def _unit_sphere() -> tuple[np.ndarray, np.ndarray]:
    """An octahedron's faces split into four, SPHERE_SUBDIVISIONS + 1 times, on the sphere."""
    vertices = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], float)
    signs = [(a, b, c) for a in (0, 3) for b in (1, 4) for c in (2, 5)]
    corners = vertices[np.array(signs)]
    for _ in range(SPHERE_SUBDIVISIONS + 1):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = a + b, b + c, c + a
        ab, bc, ca = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (ab, bc, ca))
        corners = np.concatenate([np.stack(f, axis=1) for f in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    unique, inverse = np.unique(np.round(corners.reshape(-1, 3), 9), axis=0, return_inverse=True)
    return unique, inverse.reshape(-1, 3)
