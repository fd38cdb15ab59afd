"""Load a set of shapes from any of its published forms.

train.npz, modelnet40.npz         points (n, P, 3), int16 with a scale or float, and optional labels
modelnet40_ply_hdf5_2048/         ply_data_{train,test}*.h5 (modelnet.py)
ModelNet40/CLASS/{train,test}/    OFF meshes, sampled on the surface (modelnet.py)
ShapeNetCore.v2/SYNSET/MODEL/     OBJ meshes, or point files (shape_folders.py)
a folder of scans                 NPY, NPZ, PLY... files (shape_folders.py)
"""

from pathlib import Path

import numpy as np

from prnet_core.shapes import modelnet, shape_folders
from prnet_core.shapes.shape_sets import ShapeError, ShapeSet, make_shape_set


def load_shapes(path: str | Path, split: str | None = None, num_points: int = 2048) -> ShapeSet:
    """Load the shapes at `path`, in any of the forms above.

    split        keep only this split ("train", "test"); None keeps all
    num_points   points of each shape where they are sampled here, from meshes or scans. Two disjoint halves are
                 then two independent samples of the surface. Files of sampled points keep their number.

    Raises ShapeError if there is nothing to load, or if `split` is given for data without splits.
    """
    path = Path(path)
    if path.is_file():
        if path.suffix == ".npz":
            return _load_npz(path, split)
        if path.suffix in (".h5", ".hdf5"):
            return modelnet.load_hdf5([path])
        raise ShapeError(f"{path}: expected an .npz or .h5 file, or a folder")
    if not path.is_dir():
        raise ShapeError(f"{path} does not exist")

    if modelnet.hdf5_files(path):
        return modelnet.load_hdf5(modelnet.hdf5_files(path, split))
    if modelnet.off_files(path):
        return modelnet.load_off(path, split, num_points)
    if split is not None:
        raise ShapeError(f"{path} has no splits; got split {split!r}")
    if shape_folders.shapenet_files(path):
        return shape_folders.load_shapenet(path, num_points)
    return shape_folders.load_scans(path, num_points)


def _load_npz(path: Path, split: str | None) -> ShapeSet:
    with np.load(path, allow_pickle=False) as data:
        keys = set(data.files)

        def read(*options):
            return next((data[key] for key in options if key in keys), None)

        points = read("points")
        if points is None:
            raise ShapeError(f"{path} has no array 'points', only {sorted(keys)}")
        if np.issubdtype(points.dtype, np.integer) and "scale" not in keys:
            raise ShapeError(f"{path}: integer points need an array 'scale'")
        points = points.astype(np.float32)
        if "scale" in keys:
            points *= np.float32(data["scale"])
        names = read("names", "name")
        if names is None:
            names = [f"{path.stem}_{i:05d}" for i in range(len(points))]
        shapes = make_shape_set(
            points, names, read("classes", "label", "labels"), read("group", "groups"), read("source", "sources")
        )
        if split is None:
            return shapes
        if "split" not in keys:
            raise ShapeError(f"{path} has no splits; got split {split!r}")
        chosen = data["split"] == split
        if not chosen.any():
            raise ShapeError(f"{path} has no split {split!r}, only {sorted(set(data['split'].tolist()))}")
        return shapes.select(chosen)
