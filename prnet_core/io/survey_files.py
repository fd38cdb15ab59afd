"""LAS and LAZ by `laspy`, E57 by `pye57`: both in the extra `files`."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

_CHUNK = 200_000  # points


def read_las(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 in the file's unit, scale and offset applied.

    Raises:
        ValueError: not a LAS file, or one that ends before its last point.
        ImportError: laspy is not installed.
    """
    try:
        import laspy
    except ImportError as error:
        raise ImportError(f"{path}: LAS files need the package laspy: pip install 'laspy[lazrs]'") from error
    logging.getLogger("laspy").setLevel(logging.CRITICAL)
    chunks = []
    try:
        with laspy.open(path) as file:
            promised = file.header.point_count
            for chunk in file.chunk_iterator(_CHUNK):
                chunks.append(np.stack([np.asarray(chunk.x), np.asarray(chunk.y), np.asarray(chunk.z)], axis=1))
    except OSError:
        raise
    except Exception as error:  # laspy, lazrs, struct and numpy each raise their own
        raise ValueError(f"not a readable LAS file, or cut short: {error}") from error
    points = np.concatenate(chunks) if chunks else np.empty((0, 3))
    if len(points) < promised:
        raise ValueError(f"cut short: {len(points)} points, fewer than the {promised} of its header")
    return points


def read_e57(path: Path) -> np.ndarray:
    """xyz (N, 3) float64 of all scans of the file, in the file's common frame, metres.

    Raises:
        ValueError: not an E57 file, or a damaged one.
        ImportError: pye57 is not installed.
    """
    try:
        import pye57
    except ImportError as error:
        raise ImportError(f"{path}: E57 files need the package pye57: pip install pye57") from error
    try:
        with pye57.E57(str(path)) as file:
            scans = [file.read_scan(index, ignore_missing_fields=True) for index in range(file.scan_count)]
    except Exception as error:  # the C++ library has no exception type of its own in Python
        raise ValueError(f"not a readable E57 file: {error}") from error
    clouds = [np.stack([scan[f"cartesian{axis}"] for axis in "XYZ"], axis=1) for scan in scans]
    return np.concatenate(clouds) if clouds else np.empty((0, 3))
