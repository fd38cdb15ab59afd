"""Clouds in files: PLY, PCD, XYZ text, npy, KITTI's bin, and LAS where `laspy` is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from prnet_core.io.pcd_files import read_pcd
from prnet_core.io.ply_files import read_ply, write_ply


class CloudFileError(ValueError):
    """The file is no cloud that can be read; the text says which file and why."""


def read_cloud_file(path: Path | str) -> np.ndarray:
    """Points (N, 3) float64 of a file, in the file's unit; points that are not finite are kept.

    By suffix: .ply .pcd .npy .bin (float32 x y z intensity) .las .laz, and .xyz .txt .csv .pts (the first three
    columns). Raises CloudFileError when the file does not hold such a cloud, FileNotFoundError when it is not there.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if reader is None:
        raise CloudFileError(f"{path}: unknown kind of file, known are {' '.join(sorted(_READERS))}")
    try:
        points = reader(path)
    except OSError:
        raise
    except ValueError as error:
        text = str(error)
        raise CloudFileError(text if str(path) in text else f"{path}: {text}") from error
    if points.ndim != 2 or points.shape[1] < 3:
        raise CloudFileError(f"{path}: holds an array of shape {points.shape}, not points (N, 3)")
    return np.ascontiguousarray(points[:, :3], dtype=np.float64)


def write_cloud_file(path: Path | str, points: np.ndarray) -> None:
    """Write points (N, 3) as .ply, .npy, or .xyz / .txt; raises CloudFileError on another suffix."""
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise CloudFileError(f"{path}: clouds are written as {' '.join(sorted(_WRITERS))}")
    writer(path, points)


def _read_text(path: Path) -> np.ndarray:
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.replace(",", " ").replace(";", " ") for line in file]
    while lines and not _is_row(lines[0]):
        lines.pop(0)
    if not lines:
        raise ValueError("no line with three numbers")
    return np.loadtxt(lines, usecols=(0, 1, 2), ndmin=2)


def _is_row(line: str) -> bool:
    try:
        return len([float(word) for word in line.split()[:3]]) == 3
    except ValueError:
        return False


def _read_bin(path: Path) -> np.ndarray:
    data = path.read_bytes()
    if len(data) % 16:
        raise ValueError(f"{len(data)} bytes are not rows of four float32 (x y z intensity)")
    return np.frombuffer(data, "<f4").reshape(-1, 4)


def _read_las(path: Path) -> np.ndarray:
    try:
        import laspy
    except ImportError as error:
        raise CloudFileError(f"{path}: LAS files need the package laspy: pip install laspy[lazrs]") from error
    return np.asarray(laspy.read(path).xyz)


_READERS: dict[str, Callable[[Path], np.ndarray]] = {
    ".ply": lambda path: read_ply(path.read_bytes(), path),
    ".pcd": lambda path: read_pcd(path.read_bytes(), path),
    ".npy": lambda path: np.load(path, allow_pickle=False),
    ".bin": _read_bin,
    ".las": _read_las,
    ".laz": _read_las,
    ".xyz": _read_text,
    ".txt": _read_text,
    ".csv": _read_text,
    ".pts": _read_text,
}
_WRITERS: dict[str, Callable[[Path, np.ndarray], None]] = {
    ".ply": write_ply,
    ".npy": lambda path, points: np.save(path, points),
    ".xyz": lambda path, points: np.savetxt(path, points, fmt="%.9g"),
    ".txt": lambda path, points: np.savetxt(path, points, fmt="%.9g"),
}
