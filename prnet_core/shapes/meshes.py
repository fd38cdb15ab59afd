"""Triangle meshes of shape collections (OFF and OBJ), and points sampled from their surface."""

import io
import re
from pathlib import Path

import numpy as np

from prnet_core.shapes.shape_sets import ShapeError, to_unit_sphere

OFF_HEADER = re.compile(rb"^OFF[ \t]*(?=\d)", re.MULTILINE)
"""Some ModelNet40 files have no line break after the magic word: "OFF123 456 0"."""
OFF_COUNTS = re.compile(rb"^OFF\s+(?:#.*\s+)*\d+\s+(\d+)", re.MULTILINE)


def read_mesh(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Read an OFF or OBJ file with trimesh -> vertices (V, 3) float64, triangles (F, 3) int64.

    Raises ShapeError, naming the file, for another format or a damaged file; ImportError without trimesh (the extra
    "train").
    """
    import trimesh

    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".off", ".obj"):
        raise ShapeError(f"{path}: expected an .off or .obj mesh")
    data, num_faces = path.read_bytes(), 1
    if kind == ".off":
        data = OFF_HEADER.sub(b"OFF\n", data, count=1)
        counts = OFF_COUNTS.search(data)
        if counts is None:
            raise ShapeError(f"{path}: does not begin with OFF and the numbers of vertices and faces")
        num_faces = max(1, int(counts[1]))
    options = {"skip_materials": True} if kind == ".obj" else {}
    try:
        mesh = trimesh.load(io.BytesIO(data), file_type=kind[1:], force="mesh", process=False, **options)
    except (ValueError, IndexError, KeyError, NameError) as error:
        raise ShapeError(f"{path}: not a readable mesh ({error})") from error
    if len(mesh.faces) < num_faces:
        raise ShapeError(f"{path}: has {len(mesh.faces)} triangles, expected at least {num_faces}")
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces, dtype=np.int64)


def sample_mesh_file(file: Path, num_points: int, index: int) -> np.ndarray:
    """Points (num_points, 3) float32 on the surface of the mesh in a file, in the unit sphere; `index` is the seed."""
    vertices, triangles = read_mesh(file)
    try:
        points = sample_surface(vertices, triangles, num_points, np.random.default_rng([0, index]))
    except ShapeError as error:
        raise ShapeError(f"{file}: {error}") from error
    return to_unit_sphere(points)


def sample_surface(
    vertices: np.ndarray, triangles: np.ndarray, num_points: int, rng: np.random.Generator
) -> np.ndarray:
    """Points (num_points, 3) float64, drawn independently and uniformly over the surface.

    Raises ShapeError for a surface without area.
    """
    corners = vertices[triangles]
    edges_1, edges_2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = np.linalg.norm(np.cross(edges_1, edges_2), axis=1)
    total = areas.sum()
    if not (np.isfinite(total) and total > 0):
        raise ShapeError("the mesh has no surface area")
    chosen = rng.choice(len(triangles), size=num_points, p=areas / total)
    u, v = rng.random((2, num_points))
    outside = u + v > 1
    u[outside], v[outside] = 1 - u[outside], 1 - v[outside]
    return corners[chosen, 0] + u[:, None] * edges_1[chosen] + v[:, None] * edges_2[chosen]
