"""The motion between two scans as another odometry on TF has it (wheels, an IMU filter)."""

from __future__ import annotations

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer, TransformException

from prnet_ros.node.frames import transform_matrix

_TIMEOUT = Duration(nanoseconds=50_000_000)  # TF of a scan's stamp may come after the scan
_QUEUE = 100


class GuessFrame:
    """Looks up how the sensor moved in `guess_frame`, a frame that is continuous and in which TF has the sensor."""

    def __init__(self, node: Node, guess_frame: str) -> None:
        self._guess_frame = guess_frame
        self._node = node
        self._subscriptions: list = []
        self._last: tuple[str, Time] | None = None
        self.problem = ""  # in words, what the last lookup lacked
        if not guess_frame:
            return
        self._buffer = Buffer(node=node)
        kept = QoSProfile(depth=_QUEUE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic, take_in, qos in (
            ("/tf", self._buffer.set_transform, QoSProfile(depth=_QUEUE)),
            ("/tf_static", self._buffer.set_transform_static, kept),
        ):
            self._listen(topic, take_in, qos)

    def motion_to(self, sensor_frame: str, stamp) -> np.ndarray | None:
        """T_last_now (4, 4): the sensor at this stamp, in the sensor at the last one; None where TF does not have it.

        Waits for TF up to 50 ms. stamp: builtin_interfaces/Time.
        """
        if not self._guess_frame:
            return None
        last, now = self._last, Time.from_msg(stamp)
        self._last = sensor_frame, now
        if last is None or last[0] != sensor_frame or last[1] >= now:
            return None
        try:
            found = self._buffer.lookup_transform_full(
                sensor_frame, last[1], sensor_frame, now, self._guess_frame, _TIMEOUT
            )
            self.problem = ""
            return transform_matrix(found.transform)
        except (TransformException, ValueError) as error:
            self.problem = f"no motion of '{sensor_frame}' in '{self._guess_frame}': {error}"
            return None

    def restart(self) -> None:
        """Forget the last stamp and, where time went back, the transforms from before."""
        self._last = None
        if self._guess_frame:
            self._buffer.clear()

    def close(self) -> None:
        """Stop listening."""
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())

    def _listen(self, topic: str, take_in, qos: QoSProfile) -> None:
        def on_message(message: TFMessage) -> None:
            for transform in message.transforms:
                take_in(transform, "prnet")

        self._subscriptions.append(self._node.create_subscription(TFMessage, topic, on_message, qos))
