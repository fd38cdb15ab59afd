"""The map that is built or used during odometry: its process, and what is published of it."""

from __future__ import annotations

import threading
import time
import traceback
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseWithCovarianceStamped
from tf2_ros import TransformBroadcaster

from prnet_core.geometry import se3
from prnet_core.io.pointcloud2 import seconds
from prnet_core.odometry import OdometryUpdate
from prnet_core.odometry.offline import USED
from prnet_ros.node.map_process import LoadedMap, MapAnswer, MapScan, MapSetup
from prnet_ros.node.messages import localization_message, tf_message
from prnet_ros.node.parameters import NodeParameters
from prnet_ros.node.registration_process import RegistrationProcess, RemoteError
from prnet_ros.node.scan_queue import ScanQueue
from prnet_ros.node.worker import Worker

if TYPE_CHECKING:
    from rclpy.node import Node

_PROCESS_STRIDE = 1_000_000  # trajectories of one registration process, at most
_WAITING_SCANS = 40  # when a map is built; localisation is latest-only


@dataclass(frozen=True)
class QueuedScan:
    """A scan for the map process. T_keyframes_odom: (4, 4), the odometry's own correction after relocations."""

    scan: MapScan
    stamp: Time
    T_keyframes_odom: np.ndarray


class MapSession:
    """Localises scans in a saved map, or adds them to a map, and publishes map -> odom and ~/localization_pose.

    `add` is for the thread of the registration worker, the other methods for any thread. `publish_tf` may change at
    any time.
    """

    def __init__(self, node: Node, parameters: NodeParameters) -> None:
        self._node, self._parameters = node, parameters
        self.publish_tf = parameters.publish_map_tf
        self.loaded: LoadedMap | None = None
        self.answer: MapAnswer | None = None
        self.num_dropped = 0
        self.process_restarts = 0
        self.error = ""  # the last exception of the map process, as text
        self.verified_at: float | None = None  # s, steady clock
        self._scan_at = -np.inf  # s, steady clock: the last scan with a pose
        self._lock = threading.Lock()
        self._T_map_keyframes: np.ndarray | None = None
        self._trajectory = -1  # that _T_map_keyframes is for
        self._epoch = 0
        self._last_tf = -np.inf  # stamp, s
        self._initial_pose: np.ndarray | None = None
        self._tf = TransformBroadcaster(node)
        self._pose = node.create_publisher(PoseWithCovarianceStamped, "~/localization_pose", 10)
        self._kept = None if parameters.map else TemporaryDirectory(prefix="prnet_map_")
        setup = MapSetup(
            parameters.map, parameters.weights, parameters.device, parameters.num_threads,
            parameters.registration, parameters.mapping, checkpoint="" if self._kept is None else self._kept.name,
        )  # fmt: skip
        self._queue: ScanQueue[QueuedScan] = ScanQueue(1 if parameters.map else _WAITING_SCANS)
        self.worker = Worker(
            lambda: RegistrationProcess(setup), self._queue, self._process,
            self._on_ready, self._on_died, self._on_error,
        )  # fmt: skip

    @property
    def is_localizing(self) -> bool:
        """True where a saved map is used, False where a map is built."""
        return bool(self._parameters.map)

    def close(self, timeout: float) -> bool:
        """End the process; False when its thread takes over `timeout` seconds."""
        is_over = self.worker.stop(timeout)
        if is_over:
            for publisher in (self._pose, self._tf.pub_tf):
                self._node.destroy_publisher(publisher)
            if self._kept is not None:
                self._kept.cleanup()
        return is_over

    def add(
        self,
        update: OdometryUpdate,
        points: np.ndarray | None,
        stamp: Time,
        T_odom_first: np.ndarray,
        T_base_sensor: np.ndarray,
    ) -> None:
        """Add a registered scan; publish map -> odom where it is known.

        points: (N, 3) float32 in the sensor's frame. T_odom_first: (4, 4), from the frame of the first scan, in which
        the update is expressed, to the published odometry frame.
        """
        if update.status not in USED or points is None:
            return
        trajectory = self._epoch * _PROCESS_STRIDE + update.map_id
        T_first_odom = se3.invert(T_odom_first)
        scan = MapScan(
            points=points,
            stamp=seconds(stamp),
            T_odom_sensor=T_odom_first @ update.T_map_odom @ update.T_odom_sensor,
            trajectory=trajectory,
            covariance=None if update.registration is None else update.registration.covariance,
            T_base_sensor=T_base_sensor,
        )
        queued = QueuedScan(scan, stamp, T_odom_first @ update.T_map_odom @ T_first_odom)
        self._scan_at = time.monotonic()
        if self._queue.put(queued) and not self.is_localizing:
            self.num_dropped += 1
        self._publish_map_tf(queued)

    def on_odometry_died(self) -> None:
        """The registration process was lost: the numbers of its trajectories start again."""
        self._epoch += 1

    def set_initial_pose(self, T_map_base: np.ndarray) -> None:
        """Verify the next scan at this pose (4, 4) of the base."""
        with self._lock:
            self._initial_pose = T_map_base

    def forget(self) -> None:
        """Discard the pose in the map: the next scan starts a search."""
        with self._lock:
            self._T_map_keyframes = None
        self.worker.between_scans(lambda process: process.call("forget"))

    def search(self) -> MapAnswer:
        """Search the map with the last scans now; blocks. Raises RemoteError, ProcessDied, CancelledError."""

        def run(process: RegistrationProcess) -> MapAnswer:
            answer = process.call("search")
            self._take(answer)
            return answer

        return self.worker.between_scans(run).result()

    def save(self, folder: str, timeout: float) -> str:
        """Write the map; returns what was written, as text. Raises RemoteError, ProcessDied, CancelledError."""
        return self.worker.between_scans(lambda process: process.call("save", folder, timeout=timeout)).result()

    def seconds_since_scan(self) -> float:
        """Seconds since the odometry had a pose."""
        return time.monotonic() - self._scan_at

    # --- the worker's thread ---

    def _process(self, process: RegistrationProcess, queued: QueuedScan) -> None:
        if self.loaded is None or self.loaded.problem:
            return
        scan = queued.scan
        with self._lock:
            guess, self._initial_pose = self._initial_pose, None
        answer: MapAnswer = process.call("add_scan", replace(scan, T_map_base_guess=guess))
        self._take(answer)
        if answer.pose.found is not None:
            T_map_base = answer.pose.found.T_map_sensor @ se3.invert(scan.T_base_sensor)
            covariance = answer.pose.found.covariance
            self._pose.publish(localization_message(T_map_base, covariance, queued.stamp, self._parameters.map_frame))
            self._publish_map_tf(queued)

    def _take(self, answer: MapAnswer) -> None:
        pose, logger = answer.pose, self._node.get_logger()
        before = None if self.answer is None else self.answer.pose.state
        with self._lock:
            self.answer = answer
            self._T_map_keyframes, self._trajectory = pose.T_map_odom, pose.trajectory
        if pose.found is not None:
            self.verified_at = time.monotonic()
        if pose.note:
            logger.warning(pose.note)
        if self.is_localizing and pose.state != before:
            logger.info(f"in the map: {pose.state}: {pose.reason}")

    def _publish_map_tf(self, queued: QueuedScan) -> None:
        """map -> odom at the stamp of a scan, once for each stamp."""
        with self._lock:
            correction = self._T_map_keyframes
            if correction is None or self._trajectory != queued.scan.trajectory or not self.publish_tf:
                return
            if queued.scan.stamp <= self._last_tf and self._last_tf - queued.scan.stamp < 10.0:  # else a looped bag
                return
            self._last_tf = queued.scan.stamp
        frames = self._parameters.map_frame, self._parameters.odom_frame
        self._tf.sendTransform(tf_message(correction @ queued.T_keyframes_odom, queued.stamp, *frames, invert=False))

    def _on_ready(self, process: RegistrationProcess, loaded: LoadedMap) -> None:
        self.loaded = loaded
        logger = self._node.get_logger()
        if loaded.problem:
            logger.error(loaded.problem)
        elif loaded.note:
            logger.warning(loaded.note)
        elif self.is_localizing:
            logger.info(f"map {self._parameters.map}: {loaded.num_keyframes} keyframes, {loaded.megabytes:.0f} MB")

    def _on_died(self, reason: str) -> None:
        then = "the search starts again" if self.is_localizing else "another one continues with the map that was kept"
        self._node.get_logger().error(f"{reason}: {then}")
        self.process_restarts += 1
        with self._lock:
            self.loaded, self.answer, self._T_map_keyframes = None, None, None

    def _on_error(self, error: Exception) -> None:
        if isinstance(error, RemoteError) and error.kind in ("MapError", "ValueError"):
            return  # the caller receives it
        is_first, self.error = not self.error, f"{type(error).__name__}: {error}"
        if is_first and self._node.context.ok():
            text = error.traceback if isinstance(error, RemoteError) else "".join(traceback.format_exception(error))
            self._node.get_logger().error(f"the map failed (logged once):\n{text}")
