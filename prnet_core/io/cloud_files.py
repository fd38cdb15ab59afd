"""Clouds in files: PLY, PCD, text tables, npy and npz, float32 rows (.bin), LAS and LAZ (`laspy`), E57 (`pye57`)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from prnet_core.io.array_files import read_npy, read_npz
from prnet_core.io.float_rows import read_float_rows
from prnet_core.io.packed_files import packed_with
from prnet_core.io.pcd_files import read_pcd
from prnet_core.io.ply_files import read_ply, write_ply
from prnet_core.io.safe_write import replacing
from prnet_core.io.survey_files import read_e57, read_las
from prnet_core.io.text_tables import read_table


class CloudFileError(ValueError):
    """The file holds no readable cloud; the text names the file and the reason."""


def read_cloud_file(path: Path | str, columns: str | None = None) -> np.ndarray:
    """Points (N, 3) float64 of a file, N >= 1, in the file's unit; points that are not finite are kept.

    By suffix: .ply .pcd .npy .npz .bin (rows of float32) .las .laz .e57, and text tables .xyz .txt .csv .pts .asc.
    columns: what a .bin or text file holds where it does not state it: "5" values per row, or "t,x,y,z".

    Raises CloudFileError where the file holds no such cloud, or ends before it is complete; FileNotFoundError; OSError
    where it cannot be read; ImportError without the package for this kind of file.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file() and not path.is_dir():
        raise CloudFileError(f"{path}: not a regular file: reading a device or a pipe may never end")
    if reader is None:
        packed = packed_with(path)
        hint = f" (compressed with {packed}: unpack it first)" if packed else ""
        raise CloudFileError(f"{path}: unknown kind of file{hint}, known are {' '.join(sorted(_READERS))}")
    if columns is not None and reader not in (_read_bin, read_table):
        raise CloudFileError(f"{path}: columns can be named for .bin and text files only")
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, values beyond float64
            points = reader(path) if columns is None else reader(path, columns)
    except (ValueError, OverflowError, EOFError) as error:
        packed = packed_with(path)
        text = f"compressed with {packed}: unpack it first" if packed else error
        raise CloudFileError(f"{path}: {text}") from error
    except MemoryError as error:
        raise CloudFileError(f"{path}: more points than fit in memory") from error
    if len(points) == 0:
        raise CloudFileError(f"{path}: no points in it")
    return np.ascontiguousarray(points[:, :3], dtype=np.float64)


def write_cloud_file(path: Path | str, points: np.ndarray) -> None:
    """Write points (N, 3) as .ply, .npy, or .xyz / .txt, without loss of digits.

    Raises CloudFileError for another suffix, OSError when it cannot be written; an existing file is then unchanged.
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise CloudFileError(f"{path}: clouds are written as {' '.join(sorted(_WRITERS))}")
    writer(path, points)


def _read_bin(path: Path, columns: str | None = None) -> np.ndarray:
    return read_float_rows(path.read_bytes(), columns)


def _write_npy(path: Path, points: np.ndarray) -> None:
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.save(file, points)


def _write_text(path: Path, points: np.ndarray) -> None:
    """The shortest digits that give the same numbers again."""
    with replacing(path) as temporary:
        np.savetxt(temporary, np.asarray(points), fmt="%s")


# Of two files of a folder that differ only in the suffix, the one that is listed first here is read.
_READERS: dict[str, Callable[..., np.ndarray]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".ply": lambda path: read_ply(path.read_bytes()),
    ".pcd": lambda path: read_pcd(path.read_bytes()),
    ".bin": _read_bin,
    ".las": read_las,
    ".laz": read_las,
    ".e57": read_e57,
    ".xyz": read_table,
    ".csv": read_table,
    ".pts": read_table,
    ".asc": read_table,
    ".txt": read_table,
}
_WRITERS: dict[str, Callable[[Path, np.ndarray], None]] = {
    ".ply": write_ply,
    ".npy": _write_npy,
    ".xyz": _write_text,
    ".txt": _write_text,
}
READ_SUFFIXES, WRITTEN_SUFFIXES = tuple(_READERS), tuple(_WRITERS)
