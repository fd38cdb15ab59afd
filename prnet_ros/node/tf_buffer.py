"""A TF buffer that is filled from chosen topics."""

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer

_QUEUE = 100


class TfBuffer:
    """A tf2 buffer and the subscriptions that fill it; tf2_ros' own listener always subscribes to both topics."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._subscriptions: list = []
        self.buffer = Buffer(node=node)

    def listen(self, is_static: bool) -> None:
        """Subscribe to /tf_static, or to /tf."""
        set_transform = self.buffer.set_transform_static if is_static else self.buffer.set_transform
        durability = DurabilityPolicy.TRANSIENT_LOCAL if is_static else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=_QUEUE, durability=durability)

        def on_message(message: TFMessage) -> None:
            for transform in message.transforms:
                set_transform(transform, "prnet")

        topic = "/tf_static" if is_static else "/tf"
        self._subscriptions.append(self._node.create_subscription(TFMessage, topic, on_message, qos))

    def close(self) -> None:
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())
