"""tf2_ros.TransformBroadcaster: moving transforms to /tf."""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage


class TransformBroadcaster:
    """Publishes on /tf: volatile, keep the last 100."""

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        if qos is None:
            qos = QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE, history=HistoryPolicy.KEEP_LAST)
        self.pub_tf = node.create_publisher(TFMessage, "/tf", qos)

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:  # noqa: N802
        """Publish one transform or several, in one message."""
        transforms = [transform] if isinstance(transform, TransformStamped) else list(transform)
        self.pub_tf.publish(TFMessage(transforms=transforms))
