"""The three consecutive organised Kinect frames that the source package `pcl` carries among its tests (BSD-3)."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

import numpy as np
import open3d as o3d

FOLDER = "test/grabber_sequences/pcd"
LICENSE = "LICENSE.txt"
SIZE = (480, 640)


def kinect_frames(tarball: Path) -> Iterator[tuple[int, np.ndarray]]:
    """Stamp in nanoseconds (from the file's name, taken as UTC) and points (480, 640, 3) float32 with NaN, metres."""
    with tarfile.open(tarball) as archive, tempfile.TemporaryDirectory() as folder:
        members = [m for m in archive.getmembers() if m.name.endswith(".pcd") and FOLDER in m.name]
        for member in sorted(members, key=lambda m: m.name):
            path = Path(folder, PurePosixPath(member.name).name)
            path.write_bytes(archive.extractfile(member).read())
            cloud = o3d.io.read_point_cloud(str(path), remove_nan_points=False, remove_infinite_points=False)
            yield _stamp_ns(path.stem), np.asarray(cloud.points, np.float32).reshape(*SIZE, 3)


def license_text(tarball: Path) -> bytes:
    """The licence that the frames come under, byte for byte."""
    with tarfile.open(tarball) as archive:
        name = next(m for m in archive.getmembers() if m.name.count("/") == 1 and m.name.endswith(LICENSE))
        return archive.extractfile(name).read()


def _stamp_ns(stem: str) -> int:
    """frame_20121214T142255.814212 -> nanoseconds since 1970."""
    whole, fraction = stem.removeprefix("frame_").split(".")
    moment = datetime.strptime(whole, "%Y%m%dT%H%M%S").replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) * 10**9 + int(fraction.ljust(9, "0"))
