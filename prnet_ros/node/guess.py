"""The relative pose of two scans by another odometry on TF (wheels, an IMU filter)."""

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import TransformException

from prnet_ros.node.frames import transform_matrix
from prnet_ros.node.tf_buffer import TfBuffer

_TIMEOUT = Duration(nanoseconds=50_000_000)  # TF of a scan's stamp may come after the scan


class GuessFrame:
    """Looks up the relative pose of the sensor in `guess_frame`, a continuous frame in which TF has the sensor."""

    def __init__(self, node: Node, guess_frame: str) -> None:
        self._guess_frame = guess_frame
        self._last: tuple[str, Time] | None = None
        self.problem = ""  # why the last lookup failed, as text
        if guess_frame:
            self._tf = TfBuffer(node)
            self._tf.listen(is_static=False)
            self._tf.listen(is_static=True)

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
            found = self._tf.buffer.lookup_transform_full(
                sensor_frame, last[1], sensor_frame, now, self._guess_frame, _TIMEOUT
            )
            self.problem = ""
            return transform_matrix(found.transform)
        except (TransformException, ValueError) as error:
            self.problem = f"no motion of '{sensor_frame}' in '{self._guess_frame}': {error}"
            return None

    def restart(self) -> None:
        """Discard the last stamp and, where time went back, the older transforms."""
        self._last = None
        if self._guess_frame:
            self._tf.buffer.clear()

    def close(self) -> None:
        if self._guess_frame:
            self._tf.close()
