"""prnet_replay: play a ROS 1 or ROS 2 bag into running nodes, without rosbag2."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from typing import TYPE_CHECKING

from prnet_ros.arguments import described, positive, ros_argument_errors, seconds, topic_name

if TYPE_CHECKING:
    from prnet_ros.player import ReplayOptions


def main(argv: list[str] | None = None) -> int:
    """Entry point of prnet_replay: 2 for invalid arguments or a bag that cannot be played, 1 without a subscriber,
    else 0, also when it is stopped by Ctrl-C or SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs start with SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    try:
        return _run(sys.argv if argv is None else ["prnet_replay", *argv])
    except KeyboardInterrupt:
        return 0


def _run(argv: list[str]) -> int:
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import remove_ros_args

    from prnet_core.io.bags import BagError, open_bag
    from prnet_ros.player import NoSubscriberError, Replay

    try:
        path, options = _parse(remove_ros_args(argv)[1:])
        rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
        with open_bag(path) as bag:
            replay = Replay(rclpy.create_node("prnet_replay"), bag, options)
            num_clouds = replay.run()
            print(f"prnet_replay: {num_clouds} clouds published on {replay.cloud_publisher.topic_name}")
    except NoSubscriberError as error:
        print(f"prnet_replay: {error}", file=sys.stderr)
        return 1
    except (BagError, FileNotFoundError, ImportError) as error:
        print(f"prnet_replay: {error}", file=sys.stderr)
        return 2
    except ros_argument_errors() as error:
        print(f"prnet_replay: {described(error)}", file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()
    return 0


def _parse(arguments: list[str]) -> tuple[str, ReplayOptions]:
    from prnet_ros.player import ReplayOptions

    defaults = ReplayOptions()
    parser = argparse.ArgumentParser(
        prog="prnet_replay", description="Play a bag (ROS 2 mcap or sqlite3, ROS 1) over ROS 2, without rosbag2."
    )
    parser.add_argument("bag", help="bag folder, .mcap, .db3 or .bag file")
    parser.add_argument("--topic", help="PointCloud2 topic of the bag (default: the only one)")
    parser.add_argument(
        "--to", type=topic_name, metavar="NAME", help="publish the clouds as NAME (default: the recorded topic)"
    )
    parser.add_argument("--rate", type=positive, default=defaults.rate, help="2 plays twice as fast (default: 1)")
    parser.add_argument("--loop", action="store_true", help="start again at the end, until stopped")
    parser.add_argument("--clock", action="store_true", help="publish /clock, for nodes with use_sim_time")
    parser.add_argument(
        "--wait", type=seconds, default=defaults.wait, metavar="SECONDS",
        help="how long to wait for the subscriber of --wait-for; 0: do not wait (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--wait-for", type=_subscriber, default=defaults.wait_for, metavar="NODE|N",
        help="start when this node subscribes to the clouds: /robot1/prnet, or prnet in any namespace; or when N "
        "nodes do (default: %(default)s)",
    )  # fmt: skip
    values = vars(parser.parse_args(arguments))
    return values.pop("bag"), ReplayOptions(**values)


def _subscriber(text: str) -> str:
    is_number, is_name = text.isdecimal() and int(text) > 0, re.fullmatch(r"/?([A-Za-z_]\w*/)*[A-Za-z_]\w*", text)
    if not is_number and not is_name:
        raise argparse.ArgumentTypeError("must be the name of a node or a number of at least 1; --wait 0 does not wait")
    return text


if __name__ == "__main__":
    sys.exit(main())
