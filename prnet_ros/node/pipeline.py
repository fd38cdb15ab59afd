"""The processing of a scan from the queue to the messages, in the worker's thread."""

from __future__ import annotations

import threading
import time
import traceback
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.io.pointcloud2 import seconds
from prnet_core.odometry import OdometryUpdate
from prnet_ros.node.counters import Counters
from prnet_ros.node.diagnostics import BAD_CLOUD, CORE_ERROR
from prnet_ros.node.extrinsics import Extrinsics
from prnet_ros.node.guess import GuessFrame
from prnet_ros.node.map_session import MapSession
from prnet_ros.node.outputs import Outputs
from prnet_ros.node.registration_process import RegisteredScan, RegistrationProcess, RemoteError
from prnet_ros.node.scan_queue import Scan, ScanQueue

if TYPE_CHECKING:
    from rclpy.impl.rcutils_logger import RcutilsLogger

IMPLAUSIBLE_SPEED = 100.0  # m/s
MAP_PERIOD = 1.0  # s, minimum time between two local maps that are published
START_SCANS = 3  # that may wait while a trajectory starts: its first pair takes as long as three others
START_SECONDS = 1.0  # by the stamps, after the first scan; then the queue is latest-only
_WITH_POSE = ("first", "reset", "accepted")
_NEVER = float("-inf")


class ScanPipeline:
    """Sends scans to the registration process and publishes the results.

    `publish_weak` and `publish_lost` may change at any time. `process`, `reset` and `on_died` are for the worker's
    thread, the other methods for any.
    """

    def __init__(
        self,
        counters: Counters,
        queue: ScanQueue,
        extrinsics: Extrinsics,
        guess: GuessFrame,
        outputs: Outputs,
        map_session: MapSession | None,
        logger: RcutilsLogger,
    ) -> None:
        self._counters, self._queue, self._logger = counters, queue, logger
        self._extrinsics, self._guess, self._outputs = extrinsics, guess, outputs
        self._map = map_session
        self.publish_weak = self.publish_lost = False
        self.sensor_frame = ""  # of the present trajectory
        self.num_recent_scans = 0
        self._first_stamp = self._last_stamp = _NEVER
        self._map_published_at = _NEVER
        self._restarted_at, self._newer_than = _NEVER, float("inf")
        self._publishing = threading.Lock()  # prevents a restart between the check `_is_outdated` and the TF of a scan
        queue.resize(START_SCANS)

    def restart(self, reason: str, newer_than: float) -> None:
        """Drop the results of scans received so far, except older ones (stamp, s). `reset` has to follow."""
        self._logger.info(f"starting a new trajectory: {reason}")
        with self._publishing:
            self._restarted_at, self._newer_than = time.monotonic(), newer_than
        if number := self._queue.discard(self._is_outdated):
            self._counters.count("outdated", number=number)

    def reset(self, registration: RegistrationProcess, reason: str, newer_than: float) -> None:
        """Start a new trajectory if the last stamp (s) of this one is newer than that."""
        if self._last_stamp > newer_than:
            registration.call("reset")
            self._forget()
            self._counters.count("reset", reason)

    def on_died(self, reason: str) -> None:
        """The registration process and its odometry are lost."""
        self._logger.error(f"{reason}: it is started again, and the next scan starts a new trajectory")
        self._counters.count("process_restarts", reason)
        if self._map is not None:
            self._map.on_odometry_died()
        self._forget()

    def process(self, registration: RegistrationProcess, scan: Scan) -> None:
        """Register a scan and publish. Raises ProcessDied, RemoteError."""
        T_base_sensor = self._admit(scan)
        if T_base_sensor is None:
            return
        stamp = seconds(scan.stamp)
        prior = self._guess.motion_to(scan.frame_id, scan.stamp)
        are_points_wanted = self._outputs.are_points_wanted()
        registered: RegisteredScan = registration.call(
            "register", scan.cloud.points, stamp, scan.cloud.times, prior, are_points_wanted or self._map is not None
        )
        update, self.num_recent_scans = registered.update, registered.num_recent_scans
        if self._counters.count(update.status, update.reason) and update.status not in ("first", "accepted"):
            self._logger.warning(f"scan {update.status} (logged once, counted in /diagnostics): {update.reason}")
        for note in update.notes:
            if self._counters.count("notes", note):
                self._logger.warning(f"scan note (logged once, counted in /diagnostics): {note}")
        if update.status == "ignored":
            return
        self._last_stamp = stamp
        self._limit_queue(update.status, stamp)
        is_published = update.status in _WITH_POSE or (update.status == "weak" and self.publish_weak)
        if is_published:
            self._check_speed(update)
        with self._publishing:
            if self._is_outdated(scan):
                self._counters.count("outdated")
                return
            if is_published:
                points, rows = (registered.points, registered.rows) if are_points_wanted else (None, None)
                self._outputs.publish(scan, update, points, rows, T_base_sensor)
            elif self.publish_lost:
                self._outputs.publish_lost(scan, update, T_base_sensor)
            if self._map is not None:
                T_odom_first = self._outputs.T_odom_first(T_base_sensor)
                self._map.add(update, registered.points, scan.stamp, T_odom_first, T_base_sensor)
        if is_published:
            self._counters.count("registered")
            self._counters.add_latency(time.monotonic() - scan.received)
            self._publish_local_map(registration, scan, T_base_sensor)

    def _limit_queue(self, status: str, stamp: float) -> None:
        """Latest-only, except that a few scans wait for the first pair of a trajectory until the node has caught up."""
        if status in ("first", "reset"):
            self._first_stamp = stamp
            self._queue.resize(START_SCANS)
        elif self._queue.is_empty() or stamp - self._first_stamp > START_SECONDS:
            if dropped := self._queue.resize(1):
                self._counters.count("dropped", number=dropped)

    def _publish_local_map(self, registration: RegistrationProcess, scan: Scan, T_base_sensor: np.ndarray) -> None:
        now = time.monotonic()
        if not self._outputs.is_local_map_wanted() or now - self._map_published_at < MAP_PERIOD:
            return
        self._map_published_at = now
        points = registration.call("local_map")
        if points is not None:
            self._outputs.publish_local_map(scan, points, T_base_sensor)

    def on_error(self, error: Exception) -> None:
        """Count an exception and log it once."""
        kind = error.kind if isinstance(error, RemoteError) else type(error).__name__
        if self._counters.count(CORE_ERROR + kind, str(error)):
            text = error.traceback if isinstance(error, RemoteError) else "".join(traceback.format_exception(error))
            self._logger.error(f"scan failed with {kind} (logged once):\n{text}")

    def count_bad_cloud(self, kind: str, reason: str) -> None:
        """Count an unusable cloud and log it once."""
        if self._counters.count(BAD_CLOUD + kind, reason):
            self._logger.warning(f"unusable cloud ({kind}, logged once): {reason}")

    def _admit(self, scan: Scan) -> np.ndarray | None:
        """T_base_sensor (4, 4) of a scan that is to be registered, None for one that is not, which is counted."""
        if self._is_outdated(scan):
            self._counters.count("outdated")
            return None
        if not scan.frame_id or self._outputs.base_frame_of(scan) == self._outputs.odom_frame:
            self.count_bad_cloud("frame_id", f"'{scan.frame_id}' cannot be a child of '{self._outputs.odom_frame}'")
            return None
        T_base_sensor = self._extrinsics.lookup(scan.frame_id)
        if T_base_sensor is None:
            if self._counters.count("waiting_for_extrinsics"):
                self._logger.warning(f"waiting: {self._extrinsics.missing}")
            return None
        if self.sensor_frame != scan.frame_id:
            if self.sensor_frame:
                self.count_bad_cloud("other_frame", f"'{scan.frame_id}' among scans of '{self.sensor_frame}'")
                return None
            self.sensor_frame = scan.frame_id
        return T_base_sensor

    def _check_speed(self, update: OdometryUpdate) -> None:
        speed = float(np.linalg.norm(update.twist[:3]))
        if speed > IMPLAUSIBLE_SPEED:
            reason = f"{speed:.0f} m/s: are the clouds in metres, in the sensor's frame, and the stamps in seconds?"
            if self._counters.count("too_fast", reason):
                self._logger.warning(f"the sensor moves at {reason}")

    def _forget(self) -> None:
        self.sensor_frame, self._last_stamp = "", _NEVER
        self._queue.resize(START_SCANS)
        self._guess.restart()

    def _is_outdated(self, scan: Scan) -> bool:
        """Whether a scan was received before the last restart and belongs to the trajectory before it."""
        return scan.received < self._restarted_at and seconds(scan.stamp) > self._newer_than
