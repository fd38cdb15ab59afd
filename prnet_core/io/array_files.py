"""NumPy files: .npy with an array of points, .npz with one that is named so."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from prnet_core.io.column_names import xyz_columns

_ARRAY_NAMES = ("points", "xyz", "pcd", "cloud", "arr_0")
_MOST_COLUMNS = 64


def read_npy(path: Path) -> np.ndarray:
    """Points (N, >= 3) of a .npy file; raises ValueError when it holds none."""
    size = path.stat().st_size
    if size == 0:
        raise ValueError("the file is empty")
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, _, dtype = read_header(file)
        except (ValueError, KeyError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise ValueError("not an npy file") from error
        check_numbers(dtype)
        needed = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if any(side < 0 for side in shape) or needed > size - file.tell():
            raise ValueError(f"cut short: shape {shape} needs {needed} bytes, not {size - file.tell()}")
    return as_points(np.load(path, allow_pickle=False))


def read_npz(path: Path) -> np.ndarray:
    """Points (N, >= 3) of a .npz file: the array named points, xyz or arr_0, the columns x, y, z, or the only array."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if {"x", "y", "z"} <= set(arrays.files):
                columns = [np.ravel(arrays[axis]) for axis in "xyz"]
                if len({len(column) for column in columns}) > 1:
                    raise ValueError("x, y and z differ in length")
                return as_points(np.stack(columns, axis=1))
            names = [name for name in _ARRAY_NAMES if name in arrays.files] or arrays.files
            if len(names) != 1 and names[0] not in _ARRAY_NAMES:
                raise ValueError(f"no array is called points; the arrays are: {', '.join(arrays.files)}")
            return as_points(arrays[names[0]])
    except (zipfile.BadZipFile, EOFError, KeyError, NotImplementedError) as error:
        raise ValueError(f"not a readable npz file: {error}") from error


def check_numbers(dtype: np.dtype) -> None:
    """Raise ValueError when the values are text, objects or complex."""
    kinds = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    if any(kind.kind not in "fiub" for kind in kinds if dtype.names is None):
        raise ValueError(f"the values are {dtype}, not numbers")


def as_points(array: np.ndarray) -> np.ndarray:
    """(N, >= 3) of an array of rows, or of named columns; raises ValueError on anything else."""
    if array.dtype.names:
        columns = [array.dtype.names[column] for column in xyz_columns(array.dtype.names)]
        array = np.stack([np.ravel(array[name]) for name in columns], axis=1)
    check_numbers(array.dtype)
    if array.ndim != 2 or array.shape[1] < 3:
        raise ValueError(f"holds an array of shape {array.shape}, not points (N, 3)")
    if array.shape[0] in (3, 4) and array.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"holds an array of shape {array.shape}: transposed? Points are rows (N, 3)")
    return array
