"""What the node does where rclpy is that of Humble, by stand-ins with the old names."""

import importlib
import sys
import types

import pytest

rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")

from prnet_ros.node import compat  # noqa: E402


@pytest.fixture
def humble(monkeypatch):
    """The module `compat` as it is imported where rclpy has the names of Humble."""
    old = types.ModuleType("rclpy.qos_event")
    old.SubscriptionEventCallbacks = type("SubscriptionEventCallbacks", (), {})
    monkeypatch.setitem(sys.modules, "rclpy.qos_event", old)
    monkeypatch.setitem(sys.modules, "rclpy.event_handler", None)
    monkeypatch.setitem(sys.modules, "rclpy.clock_type", None)
    yield importlib.reload(compat)
    monkeypatch.undo()
    importlib.reload(compat)


def test_names_that_moved(humble):
    assert humble.SubscriptionEventCallbacks is sys.modules["rclpy.qos_event"].SubscriptionEventCallbacks
    assert humble.ClockType.STEADY_TIME is not None


def test_publishers_of_a_subscription_without_a_count():
    class OldSubscription:
        topic_name = "/points"

    class OldNode:
        def count_publishers(self, topic):
            return {"/points": 3}[topic]

    assert compat.count_publishers(OldNode(), OldSubscription()) == 3


def test_callback_after_the_parameters_were_set_without_the_newer_hook():
    class OldGuard:
        def __init__(self, callback):
            self.callback, self.is_triggered = callback, False

        def trigger(self):
            self.is_triggered = True

    class OldNode:
        def create_guard_condition(self, callback):
            self.guard = OldGuard(callback)
            return self.guard

        def add_on_set_parameters_callback(self, callback):
            self.on_set = callback

    node, calls = OldNode(), []
    compat.call_after_parameters_set(node, lambda: calls.append("called"))
    assert node.on_set([]).successful and node.guard.is_triggered and not calls
    node.guard.callback()
    assert calls == ["called"]
