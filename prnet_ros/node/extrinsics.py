"""The pose of the sensor on the robot, from TF."""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer, TransformException

from prnet_ros.node.frames import transform_matrix

_PATIENCE = 1.0  # s that a transform may be missing on /tf_static before /tf is listened to as well
_QUEUE = 100


class Extrinsics:
    """Looks up T_base_sensor. base_frame: empty when the motion of the sensor itself is published.

    The transform is rigid, so /tf_static has it: /tf, which carries this node's own transforms too, is subscribed
    to only where /tf_static has not had it for a second, and nothing is once it is known.
    """

    def __init__(self, node: Node, base_frame: str) -> None:
        self._node = node
        self._base_frame = base_frame
        self._sensor_frame, self._T_base_sensor = "", np.eye(4)
        self._missing_since: float | None = None
        self._subscriptions: list = []
        self.missing = ""  # in words, what the last lookup lacked
        if base_frame:
            self._buffer = Buffer(node=node)
            kept = QoSProfile(depth=_QUEUE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self._listen("/tf_static", self._buffer.set_transform_static, kept)

    def lookup(self, sensor_frame: str) -> np.ndarray | None:
        """T_base_sensor (4, 4), or None, with `missing` set, until TF knows it. Never waits.

        Once known it stays the same, so that a bag whose /tf_static is not repeated takes nothing away.
        """
        if not self._base_frame or sensor_frame == self._base_frame:
            return np.eye(4)
        if sensor_frame != self._sensor_frame:
            try:
                found = self._buffer.lookup_transform(self._base_frame, sensor_frame, Time())
                self._T_base_sensor = transform_matrix(found.transform)
            except (TransformException, ValueError) as error:
                self.missing = f"TF has no transform from '{sensor_frame}' to '{self._base_frame}': {error}"
                self._listen_to_moving_ones_too()
                return None
            self._sensor_frame = sensor_frame
            self.close()
        self.missing = ""
        return self._T_base_sensor

    def close(self) -> None:
        """Stop listening."""
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())

    def _listen_to_moving_ones_too(self) -> None:
        now = time.monotonic()
        if self._missing_since is None:
            self._missing_since = now
        if len(self._subscriptions) == 1 and now - self._missing_since >= _PATIENCE:
            self._listen("/tf", self._buffer.set_transform, QoSProfile(depth=_QUEUE))

    def _listen(self, topic: str, take_in, qos: QoSProfile) -> None:
        def on_message(message: TFMessage) -> None:
            for transform in message.transforms:
                take_in(transform, "prnet")

        self._subscriptions.append(self._node.create_subscription(TFMessage, topic, on_message, qos))
