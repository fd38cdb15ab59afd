"""Folders of scans in order, with stamps and ground truth poses where they are given."""

import logging
from pathlib import Path

import numpy as np

from prnet_core.io.ascii_rows import read_numbers
from prnet_core.io.cloud_files import READ_SUFFIXES, CloudFileError, read_cloud_file
from prnet_core.io.natural_order import in_natural_order
from prnet_core.io.trajectories import read_kitti

CLOUD_SUFFIXES = tuple(suffix for suffix in READ_SUFFIXES if suffix != ".txt")  # stamps, poses and lists
KINECT_RATE = 30.0
DEFAULT_RATE = 10.0
_UNIX_TIME = (3e8, 4e9)  # s: from 1979 to 2096

_log = logging.getLogger(__name__)


class ScanFolder:
    """`folder/scans/NAME.*` (or the files in the folder itself, or `depth/NAME.png`).

    The order is that of `scans.txt`, else the natural order of the names: scan_2 comes before scan_10.
    stamps: (N,) seconds from `times.txt`, else at the sensor's usual rate.
    poses: (N, 4, 4) sensor -> world from `poses.txt` (12 numbers per row), or None where there are none or they cannot
    be used (a warning in the log says why).
    Depth images are uint16 millimetres, 0 = no return, with a pinhole camera in `intrinsics.txt` (3x3).
    columns: as in `read_cloud_file`.
    Raises CloudFileError when the folder holds no scans, or scans.txt, times.txt or intrinsics.txt does not fit them.
    """

    def __init__(self, folder: Path | str, columns: str | None = None):
        self.folder = Path(folder)
        self._columns = columns
        self.files = self._list_files()
        self._intrinsics = self._read_intrinsics() if self.files[0].suffix == ".png" else None
        self.stamps = self._read_stamps()
        self.poses = self._read_poses()

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> np.ndarray:
        """Points (N, 3) float64 in the sensor's frame, metres. Raises as `read_cloud_file` does."""
        file = self.files[index]
        if self._intrinsics is not None:
            return depth_to_points(_read_png(file), self._intrinsics)
        return read_cloud_file(file, self._columns)

    def _list_files(self) -> list[Path]:
        if not self.folder.is_dir():
            raise CloudFileError(f"{self.folder}: no such folder")
        place = next((self.folder / name for name in ("scans", "depth") if (self.folder / name).is_dir()), self.folder)
        suffixes = (".png",) if place.name == "depth" else CLOUD_SUFFIXES
        found = [
            file for file in sorted(place.iterdir(), reverse=True)
            if file.suffix.lower() in suffixes and not file.name.startswith(".") and file.is_file()
        ]  # fmt: skip
        if not found:
            raise CloudFileError(f"{place}: no scans in it, known are {' '.join(suffixes)}")
        place_of = {stem: index for index, stem in enumerate(in_natural_order({file.stem for file in found}))}
        # The dictionary keeps the last of the files that differ only in the suffix: the first one by `suffixes`.
        in_order = sorted(found, key=lambda file: (place_of[file.stem], -suffixes.index(file.suffix.lower())))
        chosen = {file.stem: file for file in in_order}
        if len(chosen) < len(found):
            _log.warning("%s: %d files are left out: a scan of the same name with another suffix is used",
                         place, len(found) - len(chosen))  # fmt: skip
        order = self.folder / "scans.txt"
        if not order.is_file():
            return list(chosen.values())
        named = {**chosen, **{file.name: file for file in found}}
        lines = order.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        names = [line.strip() for line in lines if line.strip()]
        if not all(name in named for name in names):  # several names in a line
            names = [name for line in lines for name in line.split()]
        missing = [name for name in names if name not in named]
        if missing or not names:
            problem = f"no scan {missing[0]}, which {order.name} names" if missing else f"{order.name} is empty"
            raise CloudFileError(f"{place}: {problem}")
        return [named[name] for name in names]

    def _read_stamps(self) -> np.ndarray:
        file = self.folder / "times.txt"
        if file.is_file():
            try:
                stamps = read_numbers(file, ndmin=1)
            except ValueError as error:
                raise CloudFileError(str(error)) from error
            self._check_length(stamps, file)
            return self._in_seconds(stamps, file)
        rate = KINECT_RATE if self.files[0].suffix == ".png" else DEFAULT_RATE
        return np.arange(len(self.files)) / rate

    def _in_seconds(self, stamps: np.ndarray, file: Path) -> np.ndarray:
        """Stamps that are Unix times in milliseconds, microseconds or nanoseconds are converted, with a warning."""
        if stamps.ndim != 1:
            raise CloudFileError(f"{file}: a line has {stamps.shape[1]} numbers, not one stamp in seconds")
        for unit, name in ((1e-9, "nanoseconds"), (1e-6, "microseconds"), (1e-3, "milliseconds")):
            if np.isfinite(stamps).any() and _UNIX_TIME[0] <= np.nanmedian(stamps) * unit <= _UNIX_TIME[1]:
                _log.warning("%s: taken as Unix times in %s", file, name)
                return stamps * unit
        return stamps

    def _read_poses(self) -> np.ndarray | None:
        file = self.folder / "poses.txt"
        if not file.is_file():
            return None
        try:
            poses = read_kitti(file)
            self._check_length(poses, file)
        except (ValueError, OSError) as error:
            _log.warning("%s; no ground truth is used", error)
            return None
        return poses

    def _read_intrinsics(self) -> np.ndarray:
        file = self.folder / "intrinsics.txt"
        try:
            intrinsics = read_numbers(file)
        except (ValueError, OSError) as error:
            raise CloudFileError(f"{file}: no camera matrix of 3x3 numbers: {error}") from error
        if intrinsics.shape != (3, 3) or not (np.isfinite(intrinsics).all() and intrinsics[0, 0] * intrinsics[1, 1]):
            raise CloudFileError(f"{file}: not a camera matrix of 3x3 numbers")
        return intrinsics

    def _check_length(self, rows: np.ndarray, file: Path) -> None:
        if len(rows) != len(self.files):
            raise CloudFileError(f"{file}: {len(rows)} rows for {len(self.files)} scans")


def depth_to_points(depth: np.ndarray, intrinsics: np.ndarray) -> np.ndarray:
    """Points (N, 3) in metres (x right, y down, z forward) of a depth image (H, W) in millimetres, 0 = no return."""
    row, column = np.nonzero(depth)
    z = depth[row, column] * 1e-3
    x = (column - intrinsics[0, 2]) * z / intrinsics[0, 0]
    y = (row - intrinsics[1, 2]) * z / intrinsics[1, 1]
    return np.stack([x, y, z], axis=1)


def _read_png(path: Path) -> np.ndarray:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            depth = np.asarray(image)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise CloudFileError(f"{path}: not a readable image: {error}") from error
    if depth.ndim != 2:
        raise CloudFileError(f"{path}: not a depth image: its shape is {depth.shape}")
    if not depth.any():
        raise CloudFileError(f"{path}: no points in it")
    return depth.astype(np.int64)
