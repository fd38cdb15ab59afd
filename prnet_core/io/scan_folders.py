"""Folders of scans in order, with times and true poses where they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from prnet_core.io.cloud_files import CloudFileError, read_cloud_file

CLOUD_SUFFIXES = (".npy", ".ply", ".pcd", ".bin", ".las", ".laz", ".xyz", ".csv")
KINECT_RATE = 30.0
DEFAULT_RATE = 10.0


class ScanFolder:
    """`folder/scans/NAME.*` (or the files in the folder itself, or `depth/NAME.png`), in the order of `scans.txt`.

    stamps: (N,) seconds from `times.txt`, else steady at the sensor's usual rate.
    poses: (N, 4, 4) sensor -> world from `poses.txt` (12 numbers a row), or None.
    Depth images are uint16 millimetres, 0 = nothing, with a pinhole camera in `intrinsics.txt` (3x3).
    Raises CloudFileError when the folder holds no scans or the files disagree in number.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.files = self._list_files()
        self.stamps = self._read_stamps()
        self.poses = self._read_poses()

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> np.ndarray:
        """Points (N, 3) float64 in the sensor's frame, metres."""
        file = self.files[index]
        if file.suffix == ".png":
            return depth_to_points(_read_png(file), np.loadtxt(self.folder / "intrinsics.txt"))
        return read_cloud_file(file)

    def _list_files(self) -> list[Path]:
        if not self.folder.is_dir():
            raise CloudFileError(f"{self.folder}: no such folder")
        place = next(
            (self.folder / name for name in ("scans", "depth") if (self.folder / name).is_dir()), self.folder
        )
        suffixes = (".png",) if place.name == "depth" else CLOUD_SUFFIXES
        found = {file.stem: file for file in sorted(place.iterdir()) if file.suffix.lower() in suffixes}
        order = self.folder / "scans.txt"
        names = order.read_text(encoding="utf-8").split() if order.is_file() else list(found)
        missing = [name for name in names if name not in found]
        if missing:
            raise CloudFileError(f"{place}: no scan {missing[0]}, which {order.name} names")
        if not names:
            raise CloudFileError(f"{place}: no scans in it, known are {' '.join(suffixes)}")
        return [found[name] for name in names]

    def _read_stamps(self) -> np.ndarray:
        file = self.folder / "times.txt"
        if file.is_file():
            return self._checked(np.loadtxt(file, ndmin=1), file)
        rate = KINECT_RATE if self.files[0].suffix == ".png" else DEFAULT_RATE
        return np.arange(len(self.files)) / rate

    def _read_poses(self) -> np.ndarray | None:
        file = self.folder / "poses.txt"
        if not file.is_file():
            return None
        rows = self._checked(np.loadtxt(file, ndmin=2), file)
        if rows.shape[1] != 12:
            raise CloudFileError(f"{file}: a row has 12 numbers (upper 3x4 of the pose), not {rows.shape[1]}")
        poses = np.tile(np.eye(4), (len(rows), 1, 1))
        poses[:, :3] = rows.reshape(-1, 3, 4)
        return poses

    def _checked(self, rows: np.ndarray, file: Path) -> np.ndarray:
        if len(rows) != len(self.files):
            raise CloudFileError(f"{file}: {len(rows)} rows for {len(self.files)} scans")
        return rows


def depth_to_points(depth: np.ndarray, intrinsics: np.ndarray) -> np.ndarray:
    """Points (N, 3) in metres (x right, y down, z forward) of a depth image (H, W) in millimetres, 0 = nothing."""
    row, column = np.nonzero(depth)
    z = depth[row, column] * 1e-3
    x = (column - intrinsics[0, 2]) * z / intrinsics[0, 0]
    y = (row - intrinsics[1, 2]) * z / intrinsics[1, 1]
    return np.stack([x, y, z], axis=1)


def _read_png(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image).astype(np.int64)
