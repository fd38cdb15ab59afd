"""A process of its own that publishes transforms; the tests run it. Says "ready" when it has published once.

Usage: tf_talker.py moving|static
"""

import math
import signal
import sys
import threading

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

FIRST, LAST, STEP = 100.0, 102.0, 0.5
VELOCITY, YAW_RATE = (1.0, -0.5, 0.25), 2.0
LIDAR_OFFSET, LIDAR_YAW = (1.0, 0.0, 0.5), math.pi / 2


def transform(parent: str, child: str, stamp: float, translation: tuple, yaw: float) -> TransformStamped:
    """A transform message with a rotation about z."""
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    message.header.stamp = Time(nanoseconds=round(stamp * 1e9)).to_msg()
    t = message.transform.translation
    t.x, t.y, t.z = translation
    message.transform.rotation.z, message.transform.rotation.w = math.sin(yaw / 2), math.cos(yaw / 2)
    return message


def moving(stamp: float) -> TransformStamped:
    """odom -> base: constant velocity and yaw rate, so that interpolation is exact."""
    elapsed = stamp - FIRST
    return transform("odom", "base", stamp, tuple(v * elapsed for v in VELOCITY), YAW_RATE * elapsed)


def static() -> TransformStamped:
    """base -> lidar."""
    return transform("base", "lidar", 0.0, LIDAR_OFFSET, LIDAR_YAW)


def main() -> None:
    """Publish until SIGTERM, which rclpy's own handler may lose between two waits."""
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("tf_talker")
    if sys.argv[1] == "static":
        StaticTransformBroadcaster(node).sendTransform(static())
        print("ready", flush=True)
        while not is_over.is_set():
            rclpy.spin_once(node, timeout_sec=0.1)
    else:
        broadcaster = TransformBroadcaster(node)
        stamps = [FIRST + STEP * i for i in range(round((LAST - FIRST) / STEP) + 1)]
        while not is_over.is_set():
            broadcaster.sendTransform([moving(stamp) for stamp in stamps])
            print("ready", flush=True)
            is_over.wait(0.1)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
