"""Folders as shape sets: ShapeNetCore, and folders of scan files."""

import logging
from pathlib import Path

import numpy as np

from prnet_core.io.cloud_files import READ_SUFFIXES, read_cloud_file
from prnet_core.shapes.meshes import sample_mesh_file
from prnet_core.shapes.shape_sets import ShapeError, ShapeSet, make_shape_set, to_unit_sphere

_LOG = logging.getLogger(__name__)


def shapenet_files(folder: Path) -> list[Path]:
    """One file for each model under SYNSET/MODEL (an eight-digit synset number), sorted.

    ShapeNetCore.v2 has SYNSET/MODEL/models/model_normalized.obj, v1 SYNSET/MODEL/model.obj, and the point
    releases SYNSET/MODEL.npz, .npy or .txt, or SYNSET/points/MODEL.pts.
    """
    files: dict[tuple[str, str], Path] = {}
    for synset in sorted(p for p in folder.glob("[0-9]*") if p.is_dir() and len(p.name) == 8 and p.name.isdigit()):
        for pattern in ("*/models/model_normalized.obj", "*/model.obj"):
            for file in sorted(synset.glob(pattern)):
                files.setdefault((synset.name, file.relative_to(synset).parts[0]), file)
        for file in sorted([*synset.glob("*"), *synset.glob("points/*")]):
            if file.suffix in (".npz", ".npy", ".txt", ".pts"):
                files.setdefault((synset.name, file.stem), file)
    return list(files.values())


def load_shapenet(folder: Path, num_points: int) -> ShapeSet:
    """Meshes are sampled on the surface. Point files are resampled to `num_points`."""
    points, names, classes = [], [], []
    for index, file in enumerate(shapenet_files(folder)):
        parts = file.relative_to(folder).parts
        classes.append(parts[0])
        if file.suffix == ".obj":
            names.append(parts[1])
            points.append(sample_mesh_file(file, num_points, index))
        else:
            names.append(file.stem)
            points.append(to_unit_sphere(_pick(_read_points(file), num_points, index)))
    return make_shape_set(np.stack(points), names, classes)


def load_scans(folder: Path, num_points: int) -> ShapeSet:
    """Every scan file of `folder`, or of `folder/scans` if it exists, as a shape in the unit sphere.

    `scans.txt`, if present, gives the order. The class is the name of the folder. Files that cannot be read are left
    out and named in the log. Raises ShapeError when none is left.
    """
    scan_folder = folder / "scans" if (folder / "scans").is_dir() else folder
    files = {file.stem: file for file in sorted(scan_folder.iterdir()) if file.suffix.lower() in READ_SUFFIXES}
    files.pop("scans", None), files.pop("poses", None)
    order = folder / "scans.txt"
    if order.is_file():
        listed = [line.split()[0] for line in order.read_text().splitlines() if line.strip()]
        files = {Path(name).stem: files[Path(name).stem] for name in listed if Path(name).stem in files}
    if not files:
        raise ShapeError(f"{folder}: no scans ({', '.join(READ_SUFFIXES)}), meshes or HDF5 files")
    points = {}
    for index, (name, file) in enumerate(files.items()):
        try:
            points[name] = to_unit_sphere(_pick(_read_points(file), num_points, index))
        except ShapeError as error:
            _LOG.warning("%s: left out", error)
    if not points:
        raise ShapeError(f"{folder}: none of {len(files)} files can be read")
    return make_shape_set(np.stack(list(points.values())), list(points), [folder.name] * len(points))


def _read_points(file: Path) -> np.ndarray:
    """(N, 3) finite float64 points of a file. Raises ShapeError naming the file."""
    try:
        points = read_cloud_file(file)
    except ValueError as error:
        raise ShapeError(str(error)) from error
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) == 0:
        raise ShapeError(f"{file}: no finite points")
    return points


def _pick(points: np.ndarray, num_points: int, index: int) -> np.ndarray:
    rng = np.random.default_rng([0, index])
    if len(points) >= num_points:
        return points[rng.choice(len(points), num_points, replace=False)]
    return points[np.concatenate([np.arange(len(points)), rng.integers(len(points), size=num_points - len(points))])]
