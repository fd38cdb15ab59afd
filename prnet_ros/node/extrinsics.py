"""The pose of the sensor on the robot, from TF."""

import time

import numpy as np
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import TransformException

from prnet_ros.node.frames import transform_matrix
from prnet_ros.node.tf_buffer import TfBuffer

_STATIC_TIMEOUT = 1.0  # s without the transform on /tf_static before /tf is subscribed to as well


class Extrinsics:
    """Looks up T_base_sensor. base_frame: empty when the motion of the sensor itself is published.

    The transform is rigid, so /tf_static usually has it. /tf, which also carries this node's own transforms, is
    subscribed to only when /tf_static has not had it for a second. Both subscriptions end once it is known.
    """

    def __init__(self, node: Node, base_frame: str) -> None:
        self._base_frame = base_frame
        self._sensor_frame, self._T_base_sensor = "", np.eye(4)
        self._missing_since: float | None = None
        self._listens_to_tf = False
        self.missing = ""  # the transform that was missing in the last lookup, as text
        if base_frame:
            self._tf = TfBuffer(node)
            self._tf.listen(is_static=True)

    def lookup(self, sensor_frame: str) -> np.ndarray | None:
        """T_base_sensor (4, 4), or None, with `missing` set, until TF knows it. Never waits.

        Once known it stays the same: a bag that is played again may not repeat /tf_static.
        """
        if not self._base_frame or sensor_frame == self._base_frame:
            return np.eye(4)
        if sensor_frame != self._sensor_frame:
            try:
                found = self._tf.buffer.lookup_transform(self._base_frame, sensor_frame, Time())
                self._T_base_sensor = transform_matrix(found.transform)
            except (TransformException, ValueError) as error:
                self.missing = f"TF has no transform from '{sensor_frame}' to '{self._base_frame}': {error}"
                self._listen_to_tf_after_a_while()
                return None
            self._sensor_frame = sensor_frame
            self.close()
        self.missing = ""
        return self._T_base_sensor

    def close(self) -> None:
        if self._base_frame:
            self._tf.close()

    def _listen_to_tf_after_a_while(self) -> None:
        now = time.monotonic()
        if self._missing_since is None:
            self._missing_since = now
        if not self._listens_to_tf and now - self._missing_since >= _STATIC_TIMEOUT:
            self._tf.listen(is_static=False)
            self._listens_to_tf = True
