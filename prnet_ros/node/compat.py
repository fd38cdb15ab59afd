"""Differences between the rclpy of Humble, Jazzy, Kilted and Rolling.

Run: Jazzy 7.1 and Kilted 9.1, the test suite of both. Read, not run: the sources of Humble (branch `humble` of
November 2024) and Rolling (8.0, the stubs of the nanobind module that is proposed for it, and release notes up to 11.0,
which is Lyrical's), for every name of rclpy and tf2_ros that this package uses. All of them have every name, except:

- private, in all: Node._parameter_overrides (overrides of parameters that are not declared),
  impl.implementation_singleton.rclpy_implementation.RCLError and UnknownROSArgsError
- missing in Humble: event_handler, clock_type, Subscription.get_publisher_count, add_post_set_parameters_callback
- of another type in nanobind: `last_policy_kind` of an incompatible QoS, an IntEnum, whose text is a number; in all,
  qos.qos_policy_name_from_kind gives its name
"""

from collections.abc import Callable

from lifecycle_msgs.srv import ChangeState
from rclpy.clock import ClockType  # in rclpy.clock_type too since Iron
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.subscription import Subscription

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks

__all__ = [
    "ClockType",
    "SubscriptionEventCallbacks",
    "answer_every_transition",
    "call_after_parameters_set",
    "count_publishers",
]


def count_publishers(node: Node, subscription: Subscription) -> int:
    """Publishers that a subscription has matched; in Humble those of its topic, with any QoS."""
    if hasattr(subscription, "get_publisher_count"):
        return subscription.get_publisher_count()
    return node.count_publishers(subscription.topic_name)


def answer_every_transition(node: LifecycleNode) -> None:
    """Make ~/change_state answer with success=False when the state does not allow a transition.

    The rclpy of Humble and Jazzy raises an exception instead, and the caller never gets an answer.
    """
    (service,) = (service for service in node.services if service.srv_type is ChangeState)
    change_state = service.callback

    def answer(request: ChangeState.Request, response: ChangeState.Response) -> ChangeState.Response:
        try:
            return change_state(request, response)
        except rclpy_implementation.RCLError as error:
            node.get_logger().error(f"~/change_state: {str(error).partition(', at /')[0]}")
            response.success = False
            return response

    service.callback = answer


def call_after_parameters_set(node: Node, callback: Callable[[], None]) -> None:
    """Call the callback each time after parameters of the node have changed; in Humble soon after."""
    if hasattr(node, "add_post_set_parameters_callback"):
        node.add_post_set_parameters_callback(lambda _: callback())
        return
    from rcl_interfaces.msg import SetParametersResult

    changed = node.create_guard_condition(callback)  # runs after they are set

    def accept(_: list) -> SetParametersResult:
        changed.trigger()
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(accept)
