"""Receives what the node publishes: poses on /tf, messages on odometry, the last diagnostics."""

import contextlib
import threading
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from prnet_core.io.bag_poses import rigid_matrix
from prnet_core.io.pointcloud2 import seconds
from prnet_core.io.trajectories import Trajectory
from prnet_ros.demo.report import unregistered_scans
from prnet_ros.node.frames import transform_matrix
from prnet_ros.player import NODE


class Listener:
    """Subscribes in a thread of its own, from its creation to `close`."""

    def __init__(self, context: Context, odom_frame: str, base_frame: str, in_map: bool = False) -> None:
        """Subscribe; only the transforms `odom_frame` -> `base_frame` are kept. in_map: also to the pose in a map."""
        self._frames = (odom_frame, base_frame)
        self._lock = threading.Lock()
        self._poses: dict[float, np.ndarray] = {}
        self._status: DiagnosticStatus | None = None
        self.num_odometry = 0
        self.in_map = in_map
        self.map_message = ""
        self.located: list[tuple[float, float, np.ndarray]] = []  # (arrival, stamp in s, T_map_base)
        self.node = Node("prnet_demo", context=context)
        self._subscriptions = [
            self.node.create_subscription(TFMessage, "/tf", self._on_tf, QoSProfile(depth=100)),
            self.node.create_subscription(Odometry, "odometry", self._on_odometry, QoSProfile(depth=100)),
            self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, QoSProfile(depth=10)),
        ]
        if in_map:
            self._subscriptions.append(
                self.node.create_subscription(
                    PoseWithCovarianceStamped, f"{NODE}/localization_pose", self._on_located, QoSProfile(depth=10)
                )
            )
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name="prnet_demo_listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join(5.0)

    def trajectory(self) -> Trajectory:
        """Poses of the base in the odometry frame, in the order of their stamps."""
        with self._lock:
            poses = dict(sorted(self._poses.items()))
        return Trajectory(np.array(list(poses)), np.array(list(poses.values())).reshape(-1, 4, 4))

    def diagnostics(self) -> tuple[str, dict[str, str]]:
        """Message and values of the node's last status; empty before the first."""
        status = self._status
        return (status.message, {entry.key: entry.value for entry in status.values}) if status else ("", {})

    def is_ready(self) -> bool:
        """Whether the node registers scans and all its publishers are matched, so that none of its output is missed."""
        _, values = self.diagnostics()
        are_matched = all(subscription.get_publisher_count() > 0 for subscription in self._subscriptions)
        has_map = not self.in_map or self.map_message not in ("", "loading")
        return are_matched and has_map and bool(values) and values.get("activity", "active") == "active"

    def num_answered(self) -> int:
        """Number of scans that the node has answered: with odometry, or with a counter of its diagnostics."""
        _, values = self.diagnostics()
        return self.num_odometry + sum(unregistered_scans(values).values())

    def is_settled(self, num_published: int) -> bool:
        """Whether the node's diagnostics account for all scans that were published."""
        _, values = self.diagnostics()
        num_registered = int(values.get("registered", 0))
        num_accounted = num_registered + sum(unregistered_scans(values).values())
        num_received = int(values.get("received", 0))
        return num_received == num_accounted >= num_published and self.num_odometry == num_registered

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()

    def _on_tf(self, message: TFMessage) -> None:
        for transform in message.transforms:
            if (transform.header.frame_id, transform.child_frame_id) == self._frames:
                pose = transform_matrix(transform.transform)
                with self._lock:
                    self._poses[seconds(transform.header.stamp)] = pose

    def _on_located(self, message: PoseWithCovarianceStamped) -> None:
        pose = rigid_matrix(message.pose.pose.position, message.pose.pose.orientation)
        self.located.append((time.monotonic(), seconds(message.header.stamp), pose))

    def _on_odometry(self, _: Odometry) -> None:
        self.num_odometry += 1

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith(": odometry"):
                self._status = status
            elif status.name.endswith(": map"):
                self.map_message = status.message
