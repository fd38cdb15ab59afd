"""The executable `prnet_node`."""

import argparse
import gc
import os
import signal
import sys
import threading
import traceback

from prnet_ros.arguments import described, ros_argument_errors

_SHUTDOWN_TIMEOUT = 1.0  # s, for each part that ends; `ros2 launch` sends SIGTERM after 5


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; 0 then, 1 when a parameter has a value that it cannot have, 2 for
    arguments that it does not know.

    rclpy's own signal handlers shut the context down while threads use it, which leads to exceptions and aborts. Here a
    signal wakes this thread, which then stops one part after the other. The executor has one thread: rclpy's
    MultiThreadedExecutor submits a callback to its pool repeatedly until a thread has begun with it: work
    piles up while the interpreter lock is busy.
    """
    _on_signals(lambda *_: os._exit(0))  # an import could catch an exception
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import remove_ros_args

    from prnet_ros.node.parameters import ParameterError

    try:
        _check_arguments(remove_ros_args(sys.argv if args is None else args)[1:])
        from prnet_ros.node.node import PRNetNode

        wait_for_signal = _catch_signals()
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = PRNetNode()
        if node.autostart and not (_succeeds(node.trigger_configure) and _succeeds(node.trigger_activate)):
            rclpy.try_shutdown()
            return 1  # the node has logged why
    except (ParameterError, *ros_argument_errors()) as error:
        print(f"prnet_node: {described(error)}", file=sys.stderr)
        rclpy.try_shutdown()
        return 1
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    is_stopping = threading.Event()
    spinner = threading.Thread(target=_spin, args=(executor, node, is_stopping), name="prnet_spin", daemon=True)
    spinner.start()
    wait_for_signal()

    node.close(_SHUTDOWN_TIMEOUT)  # the executor still answers those who wait for a run of fine-tuning
    is_stopping.set()
    executor.shutdown(_SHUTDOWN_TIMEOUT)
    spinner.join(_SHUTDOWN_TIMEOUT)
    node.destroy_node()
    rclpy.shutdown()
    del node, executor, spinner
    gc.collect()  # the DDS participant ends with the last object that uses it; its files in /dev/shm stay otherwise
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # everything is closed; a remaining thread of rclpy or of this package must not delay the end


def _succeeds(transition) -> bool:
    from rclpy.lifecycle import TransitionCallbackReturn

    return transition() == TransitionCallbackReturn.SUCCESS


def _check_arguments(arguments: list[str]) -> None:
    """Answer --help, and end with 2 for arguments that are not ROS's, which have been removed from these."""
    parser = argparse.ArgumentParser(
        prog="prnet_node",
        description="Registers consecutive scans of `points` (sensor_msgs/PointCloud2) and publishes TF and odometry.",
        usage="prnet_node --ros-args -r points:=/lidar/points -p base_frame:=base_link --params-file FILE",
        epilog="config/prnet.yaml explains every parameter.",
    )
    parser.parse_args(arguments)


def _spin(executor, node, is_stopping: threading.Event) -> None:
    """Serve callbacks until `is_stopping`; an exception of one of them is logged and ends nothing."""
    while not is_stopping.is_set():
        try:
            executor.spin()
        except Exception:
            if not is_stopping.wait(0.1):
                node.get_logger().error(f"a callback failed:\n{traceback.format_exc()}")


def _catch_signals():
    """Make SIGINT and SIGTERM only end the wait of the returned function."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _on_signals(lambda *_: None)

    def wait() -> None:
        while os.read(reader, 1)[0] not in (signal.SIGINT, signal.SIGTERM):
            pass

    return wait


def _on_signals(handler) -> None:
    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)


if __name__ == "__main__":
    sys.exit(main())
