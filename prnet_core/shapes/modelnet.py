"""ModelNet40 in its two published forms: HDF5 files of sampled points, and OFF meshes."""

from pathlib import Path

import numpy as np

from prnet_core.shapes.meshes import sample_mesh_file
from prnet_core.shapes.shape_sets import ShapeError, ShapeSet, make_shape_set, to_unit_sphere

SPLITS = ("train", "test")


def hdf5_files(folder: Path, split: str | None = None) -> list[Path]:
    """`ply_data_train0.h5` and so on, sorted. With `split`, only the files of that split."""
    found = sorted(folder.glob(f"ply_data_{split or ''}*.h5"))
    if split is not None and not found and any(folder.glob("ply_data_*.h5")):
        raise ShapeError(f"{folder} has no files ply_data_{split}*.h5")
    return found


def load_hdf5(files: list[Path]) -> ShapeSet:
    """Read `data` (n, 2048, 3) and `label` (n, 1) of the files. Class names come from `shape_names.txt` in the same
    folder."""
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
    """CLASS/{train,test}/*.off under `folder`, sorted. With `split`, only the files of that split."""
    return [file for name in SPLITS if split in (None, name) for file in sorted(folder.glob(f"*/{name}/*.off"))]


def load_off(folder: Path, split: str | None, num_points: int) -> ShapeSet:
    """Sample the surface of every mesh (meshes.sample_surface), seeded by the index of the shape."""
    files = off_files(folder, split)
    if not files:
        raise ShapeError(f"{folder} has no split {split!r}: no CLASS/{split}/*.off")
    points = [sample_mesh_file(file, num_points, i) for i, file in enumerate(files)]
    return make_shape_set(np.stack(points), [f.stem for f in files], [f.parent.parent.name for f in files])


def split_categories(shapes: ShapeSet, num_seen: int = 20) -> tuple[ShapeSet, ShapeSet]:
    """The paper's unseen-category split: the first `num_seen` classes by name, and the other classes."""
    seen = np.isin(shapes.classes, np.unique(shapes.classes)[:num_seen])
    return shapes.select(seen), shapes.select(~seen)
