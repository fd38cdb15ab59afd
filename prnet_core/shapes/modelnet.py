"""ModelNet40 in the two forms it is published in: HDF5 files of sampled points, and OFF meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from prnet_core.shapes.meshes import read_mesh, sample_surface
from prnet_core.shapes.shape_sets import ShapeError, ShapeSet, make_shape_set, to_unit_sphere

SPLITS = ("train", "test")


def hdf5_files(folder: Path, split: str | None = None) -> list[Path]:
    """`ply_data_train0.h5` and the like, in order; only those of `split` when one is named."""
    found = sorted(folder.glob(f"ply_data_{split or ''}*.h5"))
    if split is not None and not found and any(folder.glob("ply_data_*.h5")):
        raise ShapeError(f"{folder} has no files ply_data_{split}*.h5")
    return found


def load_hdf5(files: list[Path]) -> ShapeSet:
    """Read the files' `data` (n, 2048, 3) and `label` (n, 1); class names from `shape_names.txt` beside them."""
    import h5py

    points, labels, names = [], [], []
    for file in files:
        try:
            with h5py.File(file, "r") as content:
                points.append(to_unit_sphere(content["data"][:]))
                labels.append(content["label"][:].reshape(-1))
        except (OSError, KeyError) as error:
            raise ShapeError(f"{file}: not a ModelNet40 HDF5 file ({error})") from error
        names += [f"{file.stem}_{i:04d}" for i in range(len(labels[-1]))]
    class_list = files[0].parent / "shape_names.txt"
    numbers = np.concatenate(labels)
    if class_list.is_file():
        classes = np.array(class_list.read_text().split())[numbers]
    else:
        classes = numbers.astype(np.str_)
    return make_shape_set(np.concatenate(points), names, classes)


def off_files(folder: Path, split: str | None = None) -> list[Path]:
    """CLASS/{train,test}/*.off under `folder`, in order; only those of `split` when one is named."""
    return [file for name in SPLITS if split in (None, name) for file in sorted(folder.glob(f"*/{name}/*.off"))]


def load_off(folder: Path, split: str | None, num_points: int, seed: int) -> ShapeSet:
    """Sample every mesh's surface (meshes.sample_surface), seeded by the shape's place in the list."""
    files = off_files(folder, split)
    if not files:
        raise ShapeError(f"{folder} has no split {split!r}: no CLASS/{split}/*.off")
    points = [sample_mesh_file(file, num_points, seed, i) for i, file in enumerate(files)]
    return make_shape_set(np.stack(points), [f.stem for f in files], [f.parent.parent.name for f in files])


def sample_mesh_file(file: Path, num_points: int, seed: int, index: int) -> np.ndarray:
    """Points (num_points, 3) float32 of the file's surface, in the unit sphere."""
    vertices, triangles = read_mesh(file)
    try:
        points = sample_surface(vertices, triangles, num_points, np.random.default_rng([seed, index]))
    except ShapeError as error:
        raise ShapeError(f"{file}: {error}") from error
    return to_unit_sphere(points)


def split_categories(shapes: ShapeSet, num_seen: int = 20) -> tuple[ShapeSet, ShapeSet]:
    """The paper's unseen-category split: the first `num_seen` classes by name, and the rest."""
    seen = np.isin(shapes.classes, np.unique(shapes.classes)[:num_seen])
    return shapes.select(seen), shapes.select(~seen)
