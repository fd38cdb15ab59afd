"""A map of the scans of a drive at the poses that the node published."""

from collections.abc import Iterable

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.bags import Scan
from prnet_core.io.trajectories import Trajectory
from prnet_core.mapping import KeyframeMap, MapKeyframe
from prnet_core.odometry.deskew import deskew

KEYFRAME_EVERY = 4  # scans
VOXEL = 0.05  # m, of the map's map.ply


def pose_index(trajectory: Trajectory, stamp: float) -> int | None:
    """Index of the pose of the trajectory with this stamp, to a microsecond; None if there is none."""
    if len(trajectory) == 0:
        return None
    nearest = int(np.argmin(np.abs(trajectory.stamps - stamp)))
    return nearest if round(1e6 * trajectory.stamps[nearest]) == round(1e6 * stamp) else None


def deskewed(scan: Scan, trajectory: Trajectory, index: int, T_base_sensor: np.ndarray) -> np.ndarray:
    """The points (N, 3) as the sensor would have measured them at the stamp, by the velocity along the trajectory."""
    if scan.cloud.times is None or len(trajectory) < 2:
        return scan.cloud.points
    first = min(index, len(trajectory) - 2)
    before, after = (trajectory.poses[i] @ T_base_sensor for i in (first, first + 1))
    twist = se3.log(se3.invert(before) @ after) / (trajectory.stamps[first + 1] - trajectory.stamps[first])
    return deskew(scan.cloud.points, scan.cloud.times, twist)


def map_of_drive(scans: Iterable[Scan], trajectory: Trajectory, T_base_sensor: np.ndarray) -> KeyframeMap:
    """Every fourth scan, counted from the first, that has a pose; the others are left for queries."""
    keyframes = KeyframeMap()
    for number, scan in enumerate(scans):
        index = pose_index(trajectory, scan.stamp)
        if number % KEYFRAME_EVERY == 0 and index is not None:
            points = deskewed(scan, trajectory, index, T_base_sensor)
            keyframes.add(MapKeyframe(points.astype(np.float32), scan.stamp), trajectory.poses[index] @ T_base_sensor)
    return keyframes
