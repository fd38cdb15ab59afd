"""Triangle meshes: the two text forms shape collections come in, and points sampled from their surface."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from prnet_core.shapes.shape_sets import ShapeError


def read_mesh(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Read an OFF or OBJ file -> vertices (V, 3) float64, triangles (F, 3) int64. Polygons become fans of triangles.

    Raises ShapeError, naming the file, when it is neither or is cut short.
    """
    path = Path(path)
    readers = {".off": _parse_off, ".obj": _parse_obj}
    if path.suffix.lower() not in readers:
        raise ShapeError(f"{path}: expected an .off or .obj mesh")
    try:
        vertices, triangles = readers[path.suffix.lower()](path.read_text(errors="replace"))
    except (ValueError, IndexError) as error:
        raise ShapeError(f"{path}: not a readable mesh ({error})") from error
    if len(triangles) == 0:
        raise ShapeError(f"{path}: no faces")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ShapeError(f"{path}: a face names a vertex that is not there")
    return vertices, triangles


def _parse_off(text: str) -> tuple[np.ndarray, np.ndarray]:
    """OFF, with or without the line break after the magic word: some ModelNet40 files begin "OFF123 456 0"."""
    lines = [line for line in (raw.split("#")[0].strip() for raw in text.splitlines()) if line]
    if not lines or not lines[0].startswith("OFF"):
        raise ValueError("does not begin with OFF")
    first = lines[0][3:].strip()
    lines = ([first] if first else []) + lines[1:]
    num_vertices, num_faces = (int(word) for word in lines[0].split()[:2])
    body = lines[1:]
    if len(body) < num_vertices + num_faces:
        raise ValueError(f"{num_vertices} vertices and {num_faces} faces promised, {len(body)} lines found")
    vertices = np.array([line.split()[:3] for line in body[:num_vertices]], dtype=np.float64)
    faces = [[int(word) for word in line.split()] for line in body[num_vertices : num_vertices + num_faces]]
    return vertices, _fan([face[1 : 1 + face[0]] for face in faces])


def _parse_obj(text: str) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = [], []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            corners = [int(word.split("/")[0]) for word in words[1:]]
            faces.append([corner - 1 if corner > 0 else len(vertices) + corner for corner in corners])
    return np.array(vertices, dtype=np.float64).reshape(-1, 3), _fan(faces)


def _fan(faces: list[list[int]]) -> np.ndarray:
    triangles = [(face[0], face[i], face[i + 1]) for face in faces for i in range(1, len(face) - 1)]
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)


def sample_surface(
    vertices: np.ndarray, triangles: np.ndarray, num_points: int, rng: np.random.Generator
) -> np.ndarray:
    """Points (num_points, 3) float64, independent and uniform over the surface.

    Raises ShapeError when the surface has no area.
    """
    corners = vertices[triangles]
    edges_1, edges_2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = np.linalg.norm(np.cross(edges_1, edges_2), axis=1)
    total = areas.sum()
    if not (np.isfinite(total) and total > 0):
        raise ShapeError("the mesh has no surface to sample")
    chosen = rng.choice(len(triangles), size=num_points, p=areas / total)
    u, v = rng.random((2, num_points))
    outside = u + v > 1
    u[outside], v[outside] = 1 - u[outside], 1 - v[outside]
    return corners[chosen, 0] + u[:, None] * edges_1[chosen] + v[:, None] * edges_2[chosen]
