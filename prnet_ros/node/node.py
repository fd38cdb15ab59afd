"""The node: which callback hands what to whom."""

from __future__ import annotations

import platform
import sys
import threading
import time
import traceback

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Trigger

from prnet_core.fine_tuning.recent_scans import RecentScans
from prnet_core.io.pointcloud2 import CloudError, read_cloud
from prnet_core.odometry import OdometryUpdate, ScanOdometry
from prnet_core.registration import Registration
from prnet_ros.node import network
from prnet_ros.node.counters import Counters, GapDetector
from prnet_ros.node.diagnostics import BAD_CLOUD, CORE_ERROR, Situation, status_of
from prnet_ros.node.extrinsics import Mounts
from prnet_ros.node.fine_tune_service import FineTuneService
from prnet_ros.node.outputs import Outputs
from prnet_ros.node.parameters import (
    NodeParameters,
    declare_parameters,
    on_change,
    read_parameters,
    unknown_parameters,
)
from prnet_ros.node.scan_slot import Scan, ScanSlot, seconds
from prnet_ros.node.worker import Worker

IMPLAUSIBLE_SPEED = 100.0  # m/s


class PRNetNode(Node):
    """Registers each scan of `points` and publishes the motion.

    Callbacks only convert and count. The worker's thread registers and publishes. Raises ParameterError when a
    parameter has a value that it cannot have.
    """

    def __init__(self) -> None:
        super().__init__("prnet")
        declare_parameters(self)
        parameters = read_parameters(self)
        self._no_data_timeout = parameters.no_data_timeout
        self._counters = Counters()
        self._reported = self._counters.copy()
        self._gaps = GapDetector()
        self._last_data = time.monotonic()
        self._sensor_frame, self._last_stamp = "", float("-inf")  # of the present trajectory
        self._restarted_at, self._newer_than = float("-inf"), float("inf")
        self._publishing = threading.Lock()  # no restart between the last look whether a scan is outdated and its TF

        self._loaded = network.load(parameters.weights, parameters.device, parameters.num_threads)
        self.recent_scans = RecentScans(parameters.fine_tune.num_scans)
        self._mounts = Mounts(self, parameters.base_frame)
        self._outputs = Outputs(
            self, parameters.odom_frame, parameters.base_frame, parameters.publish_tf, parameters.invert_tf
        )
        registration = Registration(self._loaded.network, parameters.registration)
        self._slot = ScanSlot()
        self.worker = Worker(
            ScanOdometry(registration, parameters.odometry), self._slot, self._process, self._on_error
        )
        self._weights = self._loaded.weights
        self._fine_tuning = FineTuneService(
            self, self.worker, self.recent_scans, self._loaded, parameters, self._on_weights
        )
        on_change(self, self._apply)

        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self.create_service(Trigger, "~/reset", self._on_reset)
        backwards = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump_handler = self.get_clock().create_jump_callback(backwards, post_callback=self._on_clock_jump)
        self._subscription = self._subscribe(parameters.reliability)
        self._say_hello(parameters)
        self.worker.start()

    def close(self, timeout: float) -> bool:
        """Stop fine-tuning now and the worker after the scan in work; False when it takes over `timeout` seconds."""
        deadline = time.monotonic() + timeout
        self._fine_tuning.close(timeout)
        return self.worker.stop(max(deadline - time.monotonic(), 0.0))

    def _subscribe(self, reliability: str):
        # Deep, though the newest wins: the callback empties the queue within milliseconds when it gets its turn, and
        # on a busy machine that can take a second.
        qos = QoSProfile(depth=20, reliability=ReliabilityPolicy[reliability.upper()])
        return self.create_subscription(
            PointCloud2, "points", self._on_cloud, qos,
            callback_group=MutuallyExclusiveCallbackGroup(),
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._on_incompatible_qos),
        )

    # --- executor threads ---

    def _on_cloud(self, message: PointCloud2) -> None:
        received = self._last_data = time.monotonic()
        self._counters.count("received")
        stamp = message.header.stamp
        missing = self._gaps.missing_before(seconds(stamp))
        if missing:
            self._counters.count("missing_by_stamps", number=missing)
        try:
            cloud = read_cloud(message)
        except CloudError as error:
            self._count_bad_cloud(error.kind, str(error))
            return
        except Exception as error:  # noqa: BLE001  whatever a driver sends, the node lives
            self._on_error(error)
            return
        frame_id = message.header.frame_id.lstrip("/")  # tf2 has no leading slashes any more
        if self._slot.put(Scan(cloud, stamp, frame_id, received)):
            self._counters.count("dropped")

    def _on_incompatible_qos(self, event) -> None:
        reason = f"a publisher's QoS does not fit the subscription's ({event.last_policy_kind})"
        if self._counters.count("incompatible_qos", reason):
            self.get_logger().warning(f"{self._subscription.topic_name}: {reason}")

    def _on_clock_jump(self, jump: TimeJump) -> None:
        """Scans from before the jump have stamps about where the clock was; those from after it are kept."""
        gap = -jump.delta.nanoseconds * 1e-9
        middle = self.get_clock().now().nanoseconds * 1e-9 + gap / 2
        self._restart(f"the clock went back by {gap:.3f} s", newer_than=middle)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._restart("asked for by ~/reset")
        response.success, response.message = True, "the next scan starts a new trajectory"
        return response

    def _restart(self, reason: str, newer_than: float = float("-inf")) -> None:
        """Forget the trajectory, and a scan that waits or is in work, unless their stamp (s) is older than that."""
        self.get_logger().info(f"starting anew: {reason}")
        with self._publishing:
            self._restarted_at, self._newer_than = time.monotonic(), newer_than
        if self._slot.discard(self._is_outdated):
            self._counters.count("outdated")
        self.worker.between_scans(lambda odometry: self._reset(odometry, reason, newer_than))

    def _apply(self, parameters: NodeParameters) -> None:
        self._no_data_timeout = parameters.no_data_timeout
        self._outputs.publish_tf = parameters.publish_tf
        self._outputs.invert_tf = parameters.invert_tf
        self._fine_tuning.apply(parameters.fine_tune)

    def _report(self) -> None:
        counts = self._counters.copy()
        situation = Situation(
            topic=self._subscription.topic_name,
            num_publishers=self._subscription.get_publisher_count(),
            seconds_without_data=time.monotonic() - self._last_data,
            no_data_timeout=self._no_data_timeout,
            missing_mount=self._mounts.missing,
            setup_problem=self._loaded.problem,
            details={"device": self._loaded.device, "weights": self._weights, "frame": self._sensor_frame},
        )
        report = DiagnosticArray(status=[status_of(counts, self._reported, situation), self._fine_tuning.status()])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)
        self._reported = counts
        self._outputs.publish_trajectory()

    # --- the worker's thread ---

    def _reset(self, odometry: ScanOdometry, reason: str, newer_than: float) -> None:
        if self._last_stamp > newer_than:
            odometry.reset()
            self._sensor_frame, self._last_stamp = "", float("-inf")
            self._counters.count("reset", reason)

    def _process(self, odometry: ScanOdometry, scan: Scan) -> None:
        if self._is_outdated(scan):
            self._counters.count("outdated")
            return
        if not scan.frame_id or self._outputs.base_frame_of(scan) == self._outputs.odom_frame:
            self._count_bad_cloud("frame_id", f"'{scan.frame_id}' cannot be a child of '{self._outputs.odom_frame}'")
            return
        T_base_sensor = self._mounts.lookup(scan.frame_id)
        if T_base_sensor is None:
            if self._counters.count("waiting_for_mount"):
                self.get_logger().warning(f"waiting: {self._mounts.missing}")
            return
        if self._sensor_frame != scan.frame_id:
            if self._sensor_frame:
                self._count_bad_cloud("other_frame", f"'{scan.frame_id}' among scans of '{self._sensor_frame}'")
                return
            self._sensor_frame = scan.frame_id

        stamp = seconds(scan.stamp)
        update = odometry.register_scan(scan.cloud.points, stamp, scan.cloud.times)
        if self._counters.count(update.status, update.reason) and update.status not in ("first", "accepted"):
            self.get_logger().warning(f"a scan was {update.status}, told once, /diagnostics counts: {update.reason}")
        if update.status == "ignored":
            return
        self._last_stamp = stamp
        if update.status == "rejected":
            self.recent_scans.add(scan.cloud.points, None, stamp)
            return
        self._check_speed(update)
        if update.status in ("first", "reset"):
            self.recent_scans.start_trajectory()
        with self._publishing:
            if self._is_outdated(scan):
                self._counters.count("outdated")
                return
            self._outputs.publish(scan, update, T_base_sensor)
        self._counters.count("registered")
        self._counters.add_latency(time.monotonic() - scan.received)
        self.recent_scans.add(scan.cloud.points, update.T_odom_sensor, stamp)

    def _check_speed(self, update: OdometryUpdate) -> None:
        speed = float(np.linalg.norm(update.twist[:3]))
        if speed > IMPLAUSIBLE_SPEED:
            reason = f"{speed:.0f} m/s: are the clouds in metres, in the sensor's frame, and the stamps in seconds?"
            if self._counters.count("too_fast", reason):
                self.get_logger().warning(f"the sensor moves at {reason}")

    def _on_weights(self, name: str) -> None:
        self._weights = name

    # --- any thread ---

    def _is_outdated(self, scan: Scan) -> bool:
        """Received before the last restart, and of the time that it put an end to."""
        return scan.received < self._restarted_at and seconds(scan.stamp) > self._newer_than

    def _count_bad_cloud(self, kind: str, reason: str) -> None:
        if self._counters.count(BAD_CLOUD + kind, reason):
            self.get_logger().warning(f"unusable cloud ({kind}), told once: {reason}")

    def _on_error(self, error: Exception) -> None:
        if not self.context.ok():  # publishing fails once the context is shut down
            return
        kind = type(error).__name__
        if self._counters.count(CORE_ERROR + kind, str(error)):
            text = "".join(traceback.format_exception(error))
            self.get_logger().error(f"a scan failed ({kind}), told once:\n{text}")

    def _say_hello(self, parameters: NodeParameters) -> None:
        logger = self.get_logger()
        logger.info(f"{sys.executable} (Python {platform.python_version()})")
        logger.info(
            f"weights {self._loaded.weights}, device {self._loaded.device}, {parameters.num_threads} threads; "
            f"{parameters.reliability} on {self._subscription.topic_name}; "
            f"{parameters.odom_frame} -> {parameters.base_frame or 'the frame of the clouds'}"
        )
        if self._loaded.problem:
            logger.error(self._loaded.problem)
        unknown = unknown_parameters(self)
        if unknown:
            logger.warning(f"no parameters of this node, without effect: {', '.join(unknown)}")
