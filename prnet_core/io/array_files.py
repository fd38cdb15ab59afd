"""NumPy files: .npy with an array of points, .npz with an array that is called points."""

import warnings
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from prnet_core.io.column_names import xyz_columns

_ARRAY_NAMES = ("points", "xyz", "pcd", "cloud", "arr_0")
_COLUMNS_IF_TRANSPOSED = 7  # with three or four rows: most points have fewer values
_DEFLATE_LARGEST_RATIO = 1032


def read_npy(path: Path) -> np.ndarray:
    """Points (N, >= 3) of a .npy file; raises ValueError when it holds none."""
    size = path.stat().st_size
    if size == 0:
        raise ValueError("the file is empty")
    with open(path, "rb") as file:
        return as_points(_read_array(file, size))


def read_npz(path: Path) -> np.ndarray:
    """Points (N, >= 3) of a .npz file: the array named points, xyz or arr_0, the columns x, y, z, or the only array."""
    with open(path, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except Exception as error:  # zipfile, struct and seek raise different errors
            raise ValueError(f"not a readable npz file: {error}") from error
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if {"x", "y", "z"} <= set(members):
            columns = [np.ravel(_read_member(archive, members[axis])) for axis in "xyz"]
            if len({len(column) for column in columns}) > 1:
                raise ValueError("x, y and z differ in length")
            return as_points(np.stack(columns, axis=1))
        named = [name for name in _ARRAY_NAMES if name in members]
        if not named and len(members) != 1:
            raise ValueError(f"no array is called points; the arrays are: {', '.join(members) or 'none'}")
        return as_points(_read_member(archive, members[named[0] if named else next(iter(members))]))


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    if info.file_size > _DEFLATE_LARGEST_RATIO * (info.compress_size + 1):
        raise ValueError(f"not a readable npz file: {info.compress_size} bytes cannot hold {info.file_size}")
    try:
        with archive.open(info) as file:
            return _read_array(file, info.file_size)
    except ValueError:
        raise
    except Exception as error:  # zipfile, zlib and seek raise different errors
        raise ValueError(f"not a readable npz file: {error}") from error


def _read_array(file: IO[bytes], size: int) -> np.ndarray:
    """The array in a .npy file of `size` bytes. (numpy.load allocates any shape that the header states.)"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = np.lib.format.read_magic(file)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
                (3, 0): np.lib.format.read_array_header_2_0,  # the same, with names of columns in UTF-8
            }[version]
            shape, is_fortran, dtype = read_header(file)
    except Exception as error:  # the header is Python source: the tokenizer and the parser raise different errors
        raise ValueError("not an npy file") from error
    check_numbers(dtype)
    num_values = int(np.prod([int(side) for side in shape], dtype=object))
    if any(side < 0 for side in shape) or num_values * dtype.itemsize > size:
        raise ValueError(f"cut short: shape {shape} needs {num_values * dtype.itemsize} bytes, not {size}")
    data = bytearray(file.read(num_values * dtype.itemsize))  # bytes would make an array that cannot be written to
    if len(data) < num_values * dtype.itemsize:
        raise ValueError(f"cut short: shape {shape} needs {num_values * dtype.itemsize} bytes, not {len(data)}")
    return np.frombuffer(data, dtype, num_values).reshape(shape, order="F" if is_fortran else "C")


def check_numbers(dtype: np.dtype) -> None:
    """Raise ValueError when the values are text, objects or complex."""
    if dtype.hasobject or (dtype.names is None and (dtype.kind not in "fiu" or dtype.itemsize == 0)):
        raise ValueError(f"the values are {dtype}, not numbers")


def as_points(array: np.ndarray) -> np.ndarray:
    """(N, >= 3) of an array of rows, or of named columns; raises ValueError on anything else."""
    if array.dtype.names:
        columns = [array.dtype.names[column] for column in xyz_columns(array.dtype.names)]
        for name in columns:
            check_numbers(array.dtype[name])
        array = np.stack([np.ravel(array[name]) for name in columns], axis=1)
    check_numbers(array.dtype)
    if array.ndim != 2 or array.shape[1] < 3:
        raise ValueError(f"holds an array of shape {array.shape}, not points (N, 3)")
    if array.shape[0] in (3, 4) and array.shape[1] >= _COLUMNS_IF_TRANSPOSED:
        raise ValueError(f"holds an array of shape {array.shape}: transposed? Points are rows (N, 3)")
    return array
