"""What differs between the rclpy of Humble, Jazzy, Kilted and Rolling."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import ClockType  # in rclpy.clock_type too since Iron
from rclpy.node import Node
from rclpy.subscription import Subscription

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

__all__ = ["ClockType", "SubscriptionEventCallbacks", "call_after_parameters_set", "count_publishers"]


def count_publishers(node: Node, subscription: Subscription) -> int:
    """Publishers that a subscription has matched; in Humble those of its topic, whatever their QoS."""
    if hasattr(subscription, "get_publisher_count"):
        return subscription.get_publisher_count()
    return node.count_publishers(subscription.topic_name)


def call_after_parameters_set(node: Node, callback: Callable[[], None]) -> None:
    """Have the callback called each time after parameters of the node have changed; in Humble soon after."""
    if hasattr(node, "add_post_set_parameters_callback"):
        node.add_post_set_parameters_callback(lambda _: callback())
        return
    from rcl_interfaces.msg import SetParametersResult

    changed = node.create_guard_condition(callback)  # the executor's turn comes when they are set

    def accept(_: list) -> SetParametersResult:
        changed.trigger()
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(accept)
