"""What the demo hears from the node: poses on /tf, messages on odometry, the last diagnostics."""

from __future__ import annotations

import threading

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from scipy.spatial.transform import Rotation
from tf2_msgs.msg import TFMessage

from prnet_core.geometry.se3 import make_transform
from prnet_core.io.bags import seconds
from prnet_core.io.trajectories import Trajectory

_WAYS_TO_BE_LOST = ("rejected", "dropped", "ignored", "waiting_for_mount", "bad_cloud.", "error.")
"""Counters of the node's diagnostics: a scan that gets no odometry ends up in one of them."""


class Listener:
    """Listens in a thread of its own, from its creation to `close`."""

    def __init__(self, context: Context, odom_frame: str, base_frame: str) -> None:
        """Subscribe; only transforms from `odom_frame` to `base_frame` are kept."""
        self._frames = (odom_frame, base_frame)
        self._lock = threading.Lock()
        self._poses: dict[float, np.ndarray] = {}
        self._status: DiagnosticStatus | None = None
        self.num_odometry = 0
        self.node = Node("prnet_demo", context=context)
        self._subscriptions = [
            self.node.create_subscription(TFMessage, "/tf", self._on_tf, QoSProfile(depth=100)),
            self.node.create_subscription(Odometry, "odometry", self._on_odometry, QoSProfile(depth=100)),
            self.node.create_subscription(
                DiagnosticArray, "/diagnostics", self._on_diagnostics, QoSProfile(depth=10)
            ),
        ]
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name="prnet_demo_listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._executor.shutdown()
        self._thread.join(5.0)

    @property
    def num_poses(self) -> int:
        """How many poses have come on /tf."""
        return len(self._poses)

    def trajectory(self) -> Trajectory:
        """Poses of the base in the odometry frame, in the order of their stamps."""
        with self._lock:
            poses = dict(sorted(self._poses.items()))
        return Trajectory(np.array(list(poses)), np.array(list(poses.values())).reshape(-1, 4, 4))

    def diagnostics(self) -> tuple[str, dict[str, str]]:
        """Message and values of the node's last status; empty before the first."""
        status = self._status
        return (status.message, {entry.key: entry.value for entry in status.values}) if status else ("", {})

    def is_matched(self) -> bool:
        """Whether the node's publishers have been found, so that nothing of it is missed."""
        return all(subscription.get_publisher_count() > 0 for subscription in self._subscriptions)

    def num_answered(self) -> int:
        """How many scans the node has answered: with odometry, or by counting them as lost in its diagnostics."""
        _, values = self.diagnostics()
        lost = sum(int(value) for name, value in values.items() if name.startswith(_WAYS_TO_BE_LOST))
        return self.num_odometry + lost

    def is_settled(self) -> bool:
        """Whether the node's diagnostics say what became of each scan that it received."""
        _, values = self.diagnostics()
        accounted = self.num_answered() - self.num_odometry + int(values.get("registered", 0))
        return int(values.get("received", 0)) == accounted == self.num_answered()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            pass

    def _on_tf(self, message: TFMessage) -> None:
        for transform in message.transforms:
            if (transform.header.frame_id, transform.child_frame_id) == self._frames:
                rotation, translation = transform.transform.rotation, transform.transform.translation
                matrix = Rotation.from_quat([rotation.x, rotation.y, rotation.z, rotation.w]).as_matrix()
                pose = make_transform(matrix, np.array([translation.x, translation.y, translation.z]))
                with self._lock:
                    self._poses[seconds(transform.header.stamp)] = pose

    def _on_odometry(self, _: Odometry) -> None:
        self.num_odometry += 1

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "prnet: odometry":
                self._status = status
