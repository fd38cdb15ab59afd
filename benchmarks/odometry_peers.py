"""Other LiDAR odometry packages, set as their authors advise for the rate and the scale of a sequence.

KISS-ICP and GenZ-ICP (pip install kiss-icp genz-icp). RKO-LIO needs an IMU and is left out.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np
from odometry_data import Sequence

FULL_RATE = 0.15  # seconds between scans above which the first threshold must be wide
FULL_RATE_THRESHOLD, LOW_RATE_THRESHOLD = 2.0, 6.0


def first_threshold(sequence: Sequence) -> float:
    """KISS-ICP's and GenZ-ICP's `initial_threshold`: their default at 10 Hz and more, three times that below."""
    return FULL_RATE_THRESHOLD if sequence.interval < FULL_RATE else LOW_RATE_THRESHOLD


def peers() -> list[str]:
    """Those that are installed."""
    return [
        name for name, module in (("KISS-ICP", "kiss_icp"), ("GenZ-ICP", "genz_icp")) if find_spec(module)
    ]


def run_peer(name: str, sequence: Sequence, voxel: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses (N, 4, 4) and CPU seconds (N,) of each scan."""
    odometry = _kiss_icp(sequence, voxel) if name == "KISS-ICP" else _genz_icp(sequence, voxel)
    poses, seconds = [], []
    for i, points in enumerate(sequence.scans):
        points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
        times = np.zeros(0)
        if sequence.times is not None:
            given = sequence.times[i][np.isfinite(sequence.scans[i]).all(axis=1)]
            times = (given - given.min()) / max(float(np.ptp(given)), 1e-9)
        began = time.process_time()
        odometry.register_frame(points, times)
        seconds.append(time.process_time() - began)
        poses.append(np.array(odometry.last_pose))
    return np.array(poses), np.array(seconds)


def _kiss_icp(sequence: Sequence, voxel: float):
    from kiss_icp.config import KISSConfig
    from kiss_icp.kiss_icp import KissICP

    config = KISSConfig()
    config.data.deskew = sequence.times is not None
    config.registration.max_num_threads = 1
    config.mapping.voxel_size = voxel
    config.adaptive_threshold.initial_threshold = first_threshold(sequence)
    return KissICP(config)


def _genz_icp(sequence: Sequence, voxel: float):
    from genz_icp.config import GenZConfig
    from genz_icp.genz_icp import GenZICP

    config = GenZConfig()
    config.data.deskew = sequence.times is not None
    config.data.min_range = 0.0
    config.registration.max_num_threads = 1
    config.mapping.voxel_size = (
        0.6 * voxel
    )  # its default is a third of KISS-ICP's; for its planes a little coarser
    config.adaptive_threshold.initial_threshold = first_threshold(sequence)
    return GenZICP(config)
