"""The parts of tf2_ros that prnet_ros uses, for environments made of ROS 2 wheels; a robot has the real one."""

from tf2_ros.broadcasters import StaticTransformBroadcaster, TransformBroadcaster
from tf2_ros.buffer import Buffer
from tf2_ros.exceptions import (
    ConnectivityException,
    ExtrapolationException,
    InvalidArgumentException,
    LookupException,
    TransformException,
)

__all__ = [
    "Buffer",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "StaticTransformBroadcaster",
    "TransformBroadcaster",
    "TransformException",
]
