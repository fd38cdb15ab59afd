"""Where the sensor sits on the robot, from TF."""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformException, TransformListener

from prnet_ros.node.frames import transform_matrix


class Mounts:
    """Looks up T_base_sensor. base_frame: empty when the sensor's own motion is wanted."""

    def __init__(self, node: Node, base_frame: str) -> None:
        self._base_frame = base_frame
        self._known: dict[str, np.ndarray] = {}
        self.missing = ""  # in words, what the last lookup lacked
        if base_frame:
            self._buffer = Buffer(node=node)
            self._listener = TransformListener(self._buffer, node)

    def lookup(self, sensor_frame: str) -> np.ndarray | None:
        """T_base_sensor (4, 4), or None, with `missing` set, until TF knows it. Never waits.

        The mount is rigid: once known it stays the same, so that a bag whose /tf_static is not repeated, or a
        buffer that a clock jump has cleared, takes nothing away.
        """
        if not self._base_frame or sensor_frame == self._base_frame:
            return np.eye(4)
        if sensor_frame not in self._known:
            try:
                found = self._buffer.lookup_transform(self._base_frame, sensor_frame, Time())
                self._known[sensor_frame] = transform_matrix(found.transform)
            except (TransformException, ValueError) as error:
                self.missing = f"TF knows no way from '{sensor_frame}' to '{self._base_frame}': {error}"
                return None
        self.missing = ""
        return self._known[sensor_frame]
