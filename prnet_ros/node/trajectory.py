"""The trajectory so far as a nav_msgs/Path of bounded size."""

import threading

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Path
from std_msgs.msg import Header

from prnet_ros.node.frames import pose_message

_CAPACITY = 2000


class Trajectory:
    """Poses of the base in the odometry frame. When it is full, every second pose is removed and the rate is halved."""

    def __init__(self, odom_frame: str) -> None:
        self._odom_frame = odom_frame
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        with self._lock:
            self._poses: list[PoseStamped] = []
            self._every, self._count = 1, 0

    def add(self, T_odom_base: np.ndarray, stamp: Time) -> None:
        """Append a pose (4, 4)."""
        with self._lock:
            self._count += 1
            if self._count % self._every:
                return
            header = Header(stamp=stamp, frame_id=self._odom_frame)
            self._poses.append(PoseStamped(header=header, pose=pose_message(T_odom_base)))
            if len(self._poses) >= _CAPACITY:
                self._poses = self._poses[::2]
                self._every *= 2

    def message(self) -> Path | None:
        """The path, stamped with its newest pose; None without poses."""
        with self._lock:
            poses = list(self._poses)
        if not poses:
            return None
        return Path(header=poses[-1].header, poses=poses)
