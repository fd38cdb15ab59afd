"""Sets of shapes, each one point cloud in the unit sphere, from the forms they are published in.

    train.npz, modelnet40.npz         points (n, P, 3), int16 with a scale or float, and what is known of each
    modelnet40_ply_hdf5_2048/         ply_data_{train,test}*.h5 (modelnet.py)
    ModelNet40/CLASS/{train,test}/    OFF meshes, sampled from the surface (modelnet.py)
    ShapeNetCore.v2/SYNSET/MODEL/     OBJ meshes, or point files (shape_folders.py)
    a folder of scans                 NPY, NPZ, PLY... files (shape_folders.py)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


class ShapeError(ValueError):
    """A file or folder that holds no usable shapes; the text says which and why."""


@dataclass(frozen=True)
class Shape:
    """One shape: points (P, 3) float32, zero mean, inside the unit sphere."""

    points: np.ndarray
    name: str
    class_name: str


@dataclass(frozen=True)
class ShapeSet:
    """Shapes of one size, in memory.

    points   (n, P, 3) float32; every shape has zero mean and lies in the unit sphere
    names    (n,) str
    classes  (n,) str, the class label ("" where the source has none)
    groups   (n,) int, shapes that are near-duplicates of each other share one: split by group, never inside one
    sources  (n,) str, the collection a shape comes from ("" where the source has none)

    Raises ShapeError when the lengths differ, or when a point is not finite.
    """

    points: np.ndarray
    names: np.ndarray
    classes: np.ndarray
    groups: np.ndarray
    sources: np.ndarray

    def __post_init__(self) -> None:
        if self.points.ndim != 3 or self.points.shape[2] != 3:
            raise ShapeError(f"points must be (n, P, 3), got {self.points.shape}")
        for field in fields(self)[1:]:
            if len(getattr(self, field.name)) != len(self.points):
                raise ShapeError(f"{len(getattr(self, field.name))} {field.name} for {len(self.points)} shapes")
        finite = np.isfinite(self.points).all(axis=(1, 2))
        if not finite.all():
            raise ShapeError(f"shape {self.names[np.argmin(finite)]} has points that are not finite")

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> Shape:
        return Shape(self.points[index], str(self.names[index]), str(self.classes[index]))

    def tensor(self) -> torch.Tensor:
        """All points, (n, P, 3) float32, sharing memory with `points`."""
        import torch

        return torch.from_numpy(self.points)

    def select(self, mask_or_indices: np.ndarray) -> ShapeSet:
        """The shapes that a boolean mask (n,) or an index array picks, in that order."""
        return ShapeSet(*(getattr(self, field.name)[mask_or_indices] for field in fields(self)))


def make_shape_set(points, names, classes=None, groups=None, sources=None) -> ShapeSet:
    """A ShapeSet of what is known; without groups every shape is a group of its own."""
    count = len(points)
    return ShapeSet(
        points=np.ascontiguousarray(points, dtype=np.float32),
        names=np.asarray(names, dtype=np.str_),
        classes=np.asarray([""] * count if classes is None else classes, dtype=np.str_),
        groups=np.arange(count) if groups is None else np.asarray(groups, dtype=np.int64),
        sources=np.asarray([""] * count if sources is None else sources, dtype=np.str_),
    )


def to_unit_sphere(points: np.ndarray) -> np.ndarray:
    """(..., P, 3) float32: mean moved to the origin, then the farthest point scaled to distance 1."""
    points = np.asarray(points, dtype=np.float64)
    centred = points - points.mean(axis=-2, keepdims=True)
    radius = np.linalg.norm(centred, axis=-1).max(axis=-1)[..., None, None]
    return (centred / np.maximum(radius, 1e-12)).astype(np.float32)


def load_shapes(path: str | Path, split: str | None = None, num_points: int = 2048, seed: int = 0) -> ShapeSet:
    """Load the shapes at `path`, whichever of the forms above it has.

    split        keep only this split ("train", "test"); None keeps all
    num_points   points a shape where they are sampled here, from meshes or scans: two disjoint halves are
                 then two independent samples of the surface. Files that hold sampled points keep theirs.
    seed         of that sampling

    Raises ShapeError when there is nothing to load, or when `split` is asked of a source that has no splits.
    """
    path = Path(path)
    if path.is_file():
        if path.suffix == ".npz":
            return _load_npz(path, split)
        if path.suffix in (".h5", ".hdf5"):
            from prnet_core.shapes.modelnet import load_hdf5

            return load_hdf5([path])
        raise ShapeError(f"{path}: expected an .npz or .h5 file, or a folder")
    if not path.is_dir():
        raise ShapeError(f"{path} does not exist")

    from prnet_core.shapes import modelnet, shape_folders

    if modelnet.hdf5_files(path):
        return modelnet.load_hdf5(modelnet.hdf5_files(path, split))
    if modelnet.off_files(path):
        return modelnet.load_off(path, split, num_points, seed)
    if split is not None:
        raise ShapeError(f"{path} has no splits, but {split!r} was asked for")
    if shape_folders.shapenet_files(path):
        return shape_folders.load_shapenet(path, num_points, seed)
    return shape_folders.load_scans(path, num_points, seed)


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
            raise ShapeError(f"{path} has no splits, but {split!r} was asked for")
        chosen = data["split"] == split
        if not chosen.any():
            raise ShapeError(f"{path} has no split {split!r}, only {sorted(set(data['split'].tolist()))}")
        return shapes.select(chosen)
