"""tf2_ros.TransformListener: /tf and /tf_static into a buffer."""

from __future__ import annotations

from threading import Thread

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer

AUTHORITY = "default_authority"


class TransformListener:
    """Feeds `buffer` from the node's /tf and /tf_static; `spin_thread` spins the node in a thread of its own."""

    def __init__(
        self,
        buffer: Buffer,
        node: Node,
        *,
        spin_thread: bool = False,
        qos: QoSProfile | int | None = None,
        static_qos: QoSProfile | int | None = None,
    ) -> None:
        if qos is None:
            qos = QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE, history=HistoryPolicy.KEEP_LAST)
        if static_qos is None:
            static_qos = QoSProfile(
                depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, history=HistoryPolicy.KEEP_LAST
            )
        self.buffer = buffer
        self.node = node
        self.group = ReentrantCallbackGroup()
        self.tf_sub = node.create_subscription(TFMessage, "/tf", self.callback, qos, callback_group=self.group)
        self.tf_static_sub = node.create_subscription(
            TFMessage, "/tf_static", self.static_callback, static_qos, callback_group=self.group
        )
        self.executor: SingleThreadedExecutor | None = None
        if spin_thread:
            self.executor = SingleThreadedExecutor(context=node.context)
            self.executor.add_node(node)
            self.dedicated_listener_thread = Thread(target=self._spin, daemon=True)
            self.dedicated_listener_thread.start()

    def unregister(self) -> None:
        """Stop listening."""
        if self.executor is not None:
            self.executor.shutdown()
            self.dedicated_listener_thread.join()
            self.executor = None
        self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: TFMessage) -> None:
        """Take in moving transforms."""
        for transform in data.transforms:
            self.buffer.set_transform(transform, AUTHORITY)

    def static_callback(self, data: TFMessage) -> None:
        """Take in static transforms."""
        for transform in data.transforms:
            self.buffer.set_transform_static(transform, AUTHORITY)

    def _spin(self) -> None:
        try:
            self.executor.spin()
        except ExternalShutdownException:
            pass
