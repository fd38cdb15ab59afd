"""tf2_ros.TransformBroadcaster and StaticTransformBroadcaster: transforms to /tf and /tf_static."""

from collections.abc import Iterable

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage


class TransformBroadcaster:
    """Publishes moving transforms on /tf: volatile, keep the last 100."""

    _TOPIC, _QOS = "/tf", QoSProfile(depth=100, durability=DurabilityPolicy.VOLATILE)

    def __init__(self, node: Node) -> None:
        self.pub_tf = node.create_publisher(TFMessage, self._TOPIC, self._QOS)

    def sendTransform(self, transform: TransformStamped | Iterable[TransformStamped]) -> None:
        """Publish one transform or several, in one message."""
        transforms = [transform] if isinstance(transform, TransformStamped) else list(transform)
        self.pub_tf.publish(TFMessage(transforms=transforms))


class StaticTransformBroadcaster(TransformBroadcaster):
    """Publishes on /tf_static: transient local, so that late subscribers get the last message.

    As in the distribution, the last message only: send all transforms of a node in one call.
    """

    _TOPIC, _QOS = "/tf_static", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
