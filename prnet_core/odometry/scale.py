"""The scale of the scene around the sensor, and the voxel size that suits it."""

from collections import deque

import numpy as np

from prnet_core.odometry.sweep import Sweep
from prnet_core.registration import Registration
from prnet_core.registration.range_noise import precise_range
from prnet_core.registration.ring_gaps import surface_voxel_size

MOST_LEFT = 0.4  # of a scan's points after the voxel filter: a sparse scan shows surfaces in larger voxels only
MIN_POINTS = 700  # that it leaves of a scan whose few rings need larger voxels
SCALE_CHANGE = 1.5  # factor of the median range from which the voxel size is chosen again
VOXEL_CHANGE = 1.3  # factor of the voxel size below which it stays
LOST_CHANGE = 1.15  # the same since the last choice while lost
SUDDEN_CHANGE = 3.0  # factor of a sudden shrinkage, for example by a person in front of the sensor
SUDDEN_SCANS = 5  # that it must last
NUM_LIMITS, PRECISION_SCANS = 3, 20  # estimates of the precise range; scans between them
REACH = 1.2  # of the range of nearly all points: the part of the local map that a scan can see


class PreciseRange:
    """Range up to which the sensor is precise: the largest recent estimate, since one scan may show too little."""

    def __init__(self) -> None:
        self._num_scans = 0
        self._limits: deque[float] = deque(maxlen=NUM_LIMITS)

    def limit(self, sweep: Sweep) -> float:
        """Range beyond which points are left out; inf for most sensors. Estimated at first, then at every n-th scan."""
        if self._num_scans < NUM_LIMITS or self._num_scans % PRECISION_SCANS == 0:
            self._limits.append(precise_range(sweep.points))
        self._num_scans += 1
        return max(self._limits)


class SceneScale:
    """Chooses the voxel size by the first scan, and again when the scene's scale changes (a closet, then a hall)."""

    def __init__(self, registration: Registration):
        self._registration = registration
        self._median_range, self._lost_range = 0.0, 0.0  # of the last choice, and of the last one while lost
        self._num_sudden = 0
        self.voxel_size = 0.0
        self.reach = 0.0

    def update(self, sweep: Sweep, is_lost: bool = False) -> float:
        """The voxel size for a sweep; 0.0 without extent. is_lost: that of the map may not suit the scans."""
        median = sweep.scale
        if len(sweep) < self._registration.config.min_points:
            return self.voxel_size
        self._lost_range = self._lost_range if is_lost else 0.0
        last, change = (self._lost_range, LOST_CHANGE) if is_lost else (self._median_range, SCALE_CHANGE)
        is_same = last / change < median < last * change
        self._num_sudden = self._num_sudden + 1 if SUDDEN_CHANGE * median < self._median_range else 0
        if self.voxel_size > 0.0 and (is_same or 0 < self._num_sudden < SUDDEN_SCANS):
            return self.voxel_size
        self._median_range, self._lost_range = median, median if is_lost else 0.0
        ranges = np.linalg.norm(sweep.points[:: max(1, len(sweep) // 10_000)], axis=1)
        self.reach = REACH * (float(np.quantile(ranges, 0.99)) + median)
        voxel_size = self._voxel_size_for(sweep.points)
        if not self.voxel_size / VOXEL_CHANGE < voxel_size < self.voxel_size * VOXEL_CHANGE:
            self.voxel_size = voxel_size
        return self.voxel_size

    def _voxel_size_for(self, points: np.ndarray) -> float:
        """The configured voxel size, or one for these points (N, 3) that is larger than the gaps between rings."""
        registration = self._registration
        voxel_size = registration.voxel_size_for(points, MOST_LEFT)
        if registration.config.voxel_size is not None:
            return voxel_size
        return surface_voxel_size(points, voxel_size, registration.config.num_neighbors, MIN_POINTS)
