"""Checks of command line arguments: ROS arguments, numbers, names."""

import argparse
import math


def ros_argument_errors() -> tuple[type[Exception], ...]:
    """The errors of rclpy for invalid ROS arguments or an invalid ROS environment. Imports rclpy."""
    from rclpy.impl.implementation_singleton import rclpy_implementation  # whatever module Rolling compiles it to

    return rclpy_implementation.RCLError, rclpy_implementation.UnknownROSArgsError


def described(error: Exception) -> str:
    """One of `ros_argument_errors`, in one line."""
    kind = "unknown ROS arguments " if type(error).__name__ == "UnknownROSArgsError" else ""
    return kind + " ".join(str(error).split())


def positive(text: str) -> float:
    """A finite number above 0, for argparse."""
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError("must be a positive number")
    return value


def seconds(text: str) -> float:
    """A finite number of at least 0, for argparse."""
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError("must be a number of seconds, 0 or more")
    return value


def domain_id(text: str) -> int:
    """A ROS domain id, for argparse."""
    value = int(text)
    if not 0 <= value <= 232:
        raise argparse.ArgumentTypeError("must be from 0 to 232")
    return value


def topic_name(text: str) -> str:
    """The name of a topic as ROS takes it, relative or not, for argparse. Imports rclpy."""
    from rclpy.exceptions import InvalidTopicNameException
    from rclpy.expand_topic_name import expand_topic_name
    from rclpy.validate_full_topic_name import validate_full_topic_name
    from rclpy.validate_topic_name import validate_topic_name

    try:
        validate_topic_name(text)
        validate_full_topic_name(expand_topic_name(text, "node", "/"))
    except (InvalidTopicNameException, ValueError) as error:
        reason = str(error).splitlines()[0].partition(", at /")[0].rstrip(":")
        raise argparse.ArgumentTypeError(f"{text!r}: {reason}") from error
    return text
