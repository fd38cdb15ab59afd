"""tf2_ros.Buffer: the frame graph with waiting, and with a clock whose jumps back clear it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.time import Time

from tf2_ros.buffer_core import DEFAULT_CACHE_TIME, BufferCore
from tf2_ros.exceptions import TransformException


class Buffer(BufferCore):
    """Transforms of the last `cache_time` (10 s by default); `node` gives the clock."""

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        super().__init__(DEFAULT_CACHE_TIME if cache_time is None else cache_time)
        self._new_data = threading.Condition()
        self.clock = Clock() if node is None else node.get_clock()
        threshold = JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1), on_clock_change=True)
        self.jump_handle = self.clock.create_jump_callback(threshold, post_callback=self.time_jump_callback)

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Discard the moving transforms: their stamps belong to another time line."""
        get_logger("tf2_buffer").warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Take in `T_frame_id_child_frame_id` and wake who waits for it."""
        super().set_transform(transform, authority)
        self._notify()

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """Take in a transform that holds at every time and wake who waits for it."""
        super().set_transform_static(transform, authority)
        self._notify()

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """`T_target_source` at `time` (0: the latest), interpolated; waits up to `timeout` for it.

        Raises LookupException, ConnectivityException, ExtrapolationException, InvalidArgumentException.
        """
        return self._wait(lambda: self.lookup_transform_core(target_frame, source_frame, time), timeout)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Time,
        source_frame: str,
        source_time: Time,
        fixed_frame: str,
        timeout: Duration = Duration(),
    ) -> TransformStamped:
        """The source at `source_time` seen from the target at `target_time`; `fixed_frame` did not move between."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame)
        return self._wait(lambda: self.lookup_transform_full_core(*arguments), timeout)

    def _wait(self, look_up: Callable[[], TransformStamped], timeout: Duration) -> TransformStamped:
        """The transform as soon as it can be looked up, or the exception after `timeout` of the steady clock."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        end = steady.now() + timeout
        with self._new_data:
            while True:
                try:
                    return look_up()
                except TransformException:
                    left = (end - steady.now()).nanoseconds
                    if left <= 0:
                        raise
                self._new_data.wait(left / 1e9)

    def _notify(self) -> None:
        with self._new_data:
            self._new_data.notify_all()
