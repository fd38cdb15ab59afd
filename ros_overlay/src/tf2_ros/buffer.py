"""tf2_ros.Buffer: transforms in; transforms between any two frames of one tree out, with waiting for those to come."""

import threading
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.time import Time

from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)
from tf2_ros.time_cache import LATEST, Sample, StaticCache, TimeCache
from tf2_ros.transforms import inverse, message_from_transform, transform_from_message

DEFAULT_CACHE_TIME = Duration(seconds=10)
MAX_GRAPH_DEPTH = 1000
_LOGGER = "tf2_buffer"


class Buffer:
    """Transforms of the last `cache_time`, by child frame. Every method may be called from any thread.

    `node` gives the clock; a jump back in time clears the buffer.
    """

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        self._cache_time = (DEFAULT_CACHE_TIME if cache_time is None else cache_time).nanoseconds
        self._frames: dict[str, TimeCache | StaticCache] = {}
        self._known: set[str] = set()
        self._new_data = threading.Condition()
        self.clock = Clock() if node is None else node.get_clock()
        threshold = JumpThreshold(min_forward=None, min_backward=Duration(seconds=-1), on_clock_change=True)
        self.jump_handle = self.clock.create_jump_callback(threshold, post_callback=self.time_jump_callback)

    def time_jump_callback(self, time_jump: TimeJump) -> None:
        """Discard the moving transforms: their stamps belong to another time line."""
        get_logger(_LOGGER).warning("Detected jump back in time. Clearing tf buffer.")
        self.clear()

    def clear(self) -> None:
        """Discard every moving transform; static ones are sent only once, so they are kept."""
        with self._new_data:
            self._frames = {child: c for child, c in self._frames.items() if isinstance(c, StaticCache)}

    def set_transform(self, transform: TransformStamped, authority: str) -> None:
        """Store `T_frame_id_child_frame_id` and notify who waits for it; what tf2 would not accept is logged."""
        self._insert(transform, authority, lambda: TimeCache(self._cache_time))

    def set_transform_static(self, transform: TransformStamped, authority: str) -> None:
        """As `set_transform`, for a transform that holds at every time."""
        self._insert(transform, authority, StaticCache)

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Time, timeout: Duration = Duration()
    ) -> TransformStamped:
        """`T_target_source` at `time`, interpolated; waits up to `timeout` for it.

        Time 0 is the latest that all frames between them have in common. Raises LookupException, ConnectivityException,
        ExtrapolationException, InvalidArgumentException.
        """

        def look_up() -> TransformStamped:
            self._check("lookupTransform", target_frame=target_frame, source_frame=source_frame)
            stamp = self._resolve(target_frame, source_frame, time.nanoseconds)
            transform = self._between(target_frame, source_frame, stamp)
            return message_from_transform(target_frame, source_frame, stamp, transform)

        return self._wait(look_up, timeout)

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

        def look_up() -> TransformStamped:
            self._check(
                "lookupTransform", target_frame=target_frame, source_frame=source_frame, fixed_frame=fixed_frame
            )
            target_stamp = self._resolve(target_frame, fixed_frame, target_time.nanoseconds)
            source_stamp = self._resolve(fixed_frame, source_frame, source_time.nanoseconds)
            T_target_fixed = self._between(target_frame, fixed_frame, target_stamp)
            T_fixed_source = self._between(fixed_frame, source_frame, source_stamp)
            return message_from_transform(target_frame, source_frame, target_stamp, T_target_fixed @ T_fixed_source)

        return self._wait(look_up, timeout)

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

    def _insert(
        self, message: TransformStamped, authority: str, new_cache: Callable[[], TimeCache | StaticCache]
    ) -> None:
        child, parent = message.child_frame_id.lstrip("/"), message.header.frame_id.lstrip("/")
        transform, problem = transform_from_message(message)
        if not child or not parent:
            problem = "TF_NO_FRAME_ID ignoring a transform with an empty frame id"
        elif child == parent:
            problem = "TF_SELF_TRANSFORM ignoring a transform from a frame to itself"
        if problem is None:
            sample = Sample(Time.from_msg(message.header.stamp).nanoseconds, parent, transform)
            with self._new_data:
                if child not in self._frames:
                    self._frames[child] = new_cache()
                problem = self._frames[child].insert(sample)
                self._known.update((child, parent))
                self._new_data.notify_all()
        if problem is not None:
            get_logger(_LOGGER).warning(
                f"{problem} (frame '{child}', parent '{parent}', authority '{authority}')",
                throttle_duration_sec=5.0,
            )

    def _check(self, caller: str, **frames: str) -> None:
        for argument, frame in frames.items():
            if not frame:
                raise InvalidArgumentException(
                    f"Invalid argument passed to {caller} argument {argument} in tf2 frame_ids cannot be empty"
                )
            if frame.startswith("/"):
                raise InvalidArgumentException(
                    f"Invalid argument '{frame}' passed to {caller} argument {argument} "
                    "in tf2 frame_ids cannot start with a '/'"
                )
        for argument, frame in frames.items():
            if frame not in self._known:
                raise LookupException(f'"{frame}" passed to {caller} argument {argument} does not exist. ')

    def _resolve(self, target: str, source: str, stamp: int) -> int:
        """The stamp itself, or for LATEST the newest one that the chain between the frames has in common."""
        if stamp != LATEST:
            return stamp
        if target == source:
            return self._frames[target].at(LATEST).stamp if target in self._frames else LATEST
        to_target, to_source = self._join(
            self._chain(target, LATEST)[0], self._chain(source, LATEST)[0], target, source
        )
        stamps = [sample.stamp for sample in to_target + to_source if sample.stamp != LATEST]
        return min(stamps, default=LATEST)

    def _between(self, target: str, source: str, stamp: int) -> np.ndarray:
        """T_target_source (4, 4)."""
        source_chain, source_problem = self._chain(source, stamp)
        target_chain, target_problem = self._chain(target, stamp)
        try:
            to_target, to_source = self._join(target_chain, source_chain, target, source)
        except ConnectivityException:
            if problem := source_problem or target_problem:
                raise ExtrapolationException(
                    f"{problem}, when looking up transform from frame [{source}] to frame [{target}]"
                ) from None
            raise
        return inverse(self._compose(to_target)) @ self._compose(to_source)

    def _chain(self, frame: str, stamp: int) -> tuple[list[tuple[str, Sample | None]], ExtrapolationException | None]:
        """The chain from the frame up to its root: (frame, its sample), the last one with None.

        Where a sample is missing at `stamp`, the chain ends there, and the exception says why.
        """
        chain: list[tuple[str, Sample | None]] = []
        for _ in range(MAX_GRAPH_DEPTH):
            cache = self._frames.get(frame)
            if cache is None:
                return [*chain, (frame, None)], None
            try:
                sample = cache.at(stamp)
            except ExtrapolationException as error:
                return [*chain, (frame, None)], error
            chain.append((frame, sample))
            frame = sample.parent
        raise LookupException("The tf tree is invalid because it contains a loop.")

    @staticmethod
    def _join(
        target_chain: list[tuple[str, Sample | None]],
        source_chain: list[tuple[str, Sample | None]],
        target: str,
        source: str,
    ) -> tuple[list[Sample], list[Sample]]:
        """Both chains of parents, cut at the first common frame."""
        depth_in_target = {frame: depth for depth, (frame, _) in enumerate(target_chain)}
        for depth, (frame, _) in enumerate(source_chain):
            if frame in depth_in_target:
                to_target = [sample for _, sample in target_chain[: depth_in_target[frame]]]
                return to_target, [sample for _, sample in source_chain[:depth]]
        raise ConnectivityException(
            f"Could not find a connection between '{target}' and '{source}' because they are not part of the same "
            "tree. Tf has two or more unconnected trees."
        )

    @staticmethod
    def _compose(samples: list[Sample]) -> np.ndarray:
        """T_ancestor_frame (4, 4) of a chain of parents."""
        T_ancestor_frame = np.eye(4)
        for sample in samples:
            T_ancestor_frame = sample.T_parent_child @ T_ancestor_frame
        return T_ancestor_frame
