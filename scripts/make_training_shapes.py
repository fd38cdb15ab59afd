"""Sample the shapes of configs/small.yaml from the meshes of open collections.

    python scripts/make_training_shapes.py COLLECTIONS --out train.npz

COLLECTIONS holds a folder for each collection (docs/data.md), with its meshes at any depth, in the formats
that trimesh reads (OBJ, STL, PLY, GLB, OFF, ...). The file has `points` int16 (n, 2048, 3) times `scale` in the unit
sphere, and `source`, `name`, `label` (n,): collection, path in it, and the folder of the mesh. Meshes that cannot be
read or have no surface are counted and named.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import trimesh
from tqdm import tqdm

from prnet_core.geometry.farthest_points import farthest_points
from prnet_core.io.safe_write import replacing
from prnet_core.shapes.meshes import sample_surface
from prnet_core.shapes.shape_sets import ShapeError, to_unit_sphere

POINTS, CANDIDATES = 2048, 8192  # kept by farthest point sampling of uniform samples
SCALE = 1.0 / 32767
SUFFIXES = tuple(f".{name}" for name in trimesh.available_formats())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=2000, help="shapes of one collection, evenly spread over its files")
    arguments = parser.parse_args()
    rows, unusable = [], []
    for collection in sorted(path for path in arguments.collections.iterdir() if path.is_dir()):
        files = sorted(path for path in collection.rglob("*") if path.suffix.lower() in SUFFIXES)
        for index in tqdm(np.unique(np.linspace(0, len(files) - 1, min(len(files), arguments.most)).astype(int))):
            file = files[index]
            try:
                points = sample_mesh(file, np.random.default_rng(len(rows)))
            except Exception as error:  # a damaged mesh raises whatever trimesh's reader raises
                unusable.append(f"{file}: {error}")
                continue
            name = file.relative_to(collection).with_suffix("").as_posix()
            rows.append((np.round(points / SCALE).astype(np.int16), collection.name, name, file.parent.name))
    if not rows:
        parser.error(f"no mesh below {arguments.collections}; {len(unusable)} could not be used")
    points, sources, names, labels = zip(*rows, strict=True)
    with replacing(arguments.out) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file, points=np.stack(points), scale=np.float32(SCALE), source=sources, name=names, label=labels
        )
    print(f"{len(rows)} shapes; SHA-256 {hashlib.sha256(arguments.out.read_bytes()).hexdigest()}")
    print("\n".join([f"{len(unusable)} files could not be used", *unusable]))


def sample_mesh(file: Path, rng: np.random.Generator) -> np.ndarray:
    """Points (POINTS, 3), evenly spread over the surface of the mesh in `file`, in the unit sphere."""
    mesh = trimesh.load(file, force="mesh", process=False)
    if len(mesh.faces) == 0:
        raise ShapeError("no triangles")
    points = to_unit_sphere(sample_surface(np.asarray(mesh.vertices), np.asarray(mesh.faces), CANDIDATES, rng))
    return points[farthest_points(points, POINTS)]


if __name__ == "__main__":
    main()
