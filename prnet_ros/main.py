"""The executable `prnet_node`."""

from __future__ import annotations

import os
import signal
import sys

_SHUTDOWN_TIMEOUT = 3.0  # s, for a scan in work; `ros2 launch` loses patience after 5


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; 0 then, 1 when a parameter has a value that it cannot have."""
    _on_signals(lambda *_: sys.exit(0))  # the imports take seconds
    import rclpy
    from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor

    from prnet_ros.node import PRNetNode
    from prnet_ros.parameters import ParameterError

    _on_signals(lambda *_: None)  # rclpy's own handlers, which call these, end the context and so the spinning
    rclpy.init(args=args)
    try:
        node = PRNetNode()
    except ParameterError as error:
        print(f"prnet_node: {error}", file=sys.stderr)
        rclpy.try_shutdown()
        return 1
    except Exception:
        if rclpy.ok():
            raise
        return 0  # a signal ended the context before the node was ready
    executor = MultiThreadedExecutor(num_threads=3)
    executor.add_node(node)
    try:
        executor.spin()
    except ExternalShutdownException:
        pass
    if not node.close(_SHUTDOWN_TIMEOUT):
        os._exit(0)  # a thread inside PyTorch cannot be ended, and must not outlive the libraries it is in
    executor.shutdown()
    rclpy.try_shutdown()
    return 0


def _on_signals(handler) -> None:
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)


if __name__ == "__main__":
    sys.exit(main())
