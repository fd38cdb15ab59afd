"""prnet_demo: start the node, play a bag into it over DDS in real time, show the result as a table and a picture."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import Poses, ground_truth_if_usable, root_frame, static_transform, static_transforms
from prnet_core.io.bags import Bag, BagError, open_bag
from prnet_core.io.trajectories import Trajectory
from prnet_ros.arguments import domain_id, positive
from prnet_ros.demo.process import DemoError, NodeProcess
from prnet_ros.demo.report import DemoResult, compare_with_ground_truth, table
from prnet_ros.demo.restart import FEWEST_POSES, Restart, random_scan, start_again

if TYPE_CHECKING:
    from prnet_ros.demo.listener import Listener
    from prnet_ros.demo.picture import FoundScan

SAMPLE = Path(__file__).resolve().parents[2] / "test" / "data" / "lidar_walk"
ODOM_FRAME = "odom"
START_TIMEOUT = 180.0
SUBSCRIBER_TIMEOUT = 30.0
ANSWER_TIMEOUT = 10.0
DRAIN_TIMEOUT = 10.0
WAIT_SCAN_TIME = "60.0"  # s for one scan with --wait: instead of what the stamps allow


@dataclass(frozen=True)
class Recording:
    """The parts of a bag that the demo uses.

    base_frame: the frame whose pose the node publishes: the root of the bag's static transforms, else the sensor's own.
    T_base_sensor: (4, 4).
    """

    path: Path
    topic: str
    num_scans: int
    base_frame: str
    T_base_sensor: np.ndarray
    ground_truth: Poses | None


def main(argv: list[str] | None = None) -> int:
    """Entry point of prnet_demo; 1 with a message when the node ended or published no TF, 2 for a bag or topic that
    cannot be played."""
    arguments = _parse(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run(arguments.bag, arguments.topic, arguments.rate, arguments.wait, arguments.output, arguments.domain_id)
    except (BagError, DemoError, FileNotFoundError, ImportError) as error:
        print(f"prnet_demo: {error}", file=sys.stderr)
        return 1 if isinstance(error, DemoError) else 2
    except KeyboardInterrupt:
        return 130
    return 0


def run(bag_path: Path, topic: str | None, rate: float, wait: bool, output: Path, domain_id: int) -> None:
    """Play the bag into a node started for it, print the table, write the picture, the trajectory and the node's log.

    wait: hold each scan back until the node has answered the one before, instead of real time. Raises BagError when the
    bag cannot be read or has no such PointCloud2 topic, DemoError when the node or the replay failed, or no pose was
    received on /tf.
    """
    with open_bag(bag_path) as bag:
        recording = _inspect(bag, topic)
        output.mkdir(parents=True, exist_ok=True)
        stem = output / (bag_path.stem or bag_path.resolve().stem)
        _isolate(domain_id)
        print(
            f"{bag_path}: {recording.num_scans} scans on {recording.topic}, "
            f"pose of {recording.base_frame} in {ODOM_FRAME}, ROS_DOMAIN_ID {os.environ['ROS_DOMAIN_ID']}",
            flush=True,
        )
        result = _play(bag, recording, rate, wait, Path(f"{stem}.node.log"))
        _report(bag, recording, result, _restart(bag, recording, result.trajectory, wait, stem), stem)


def _inspect(bag: Bag, topic: str | None) -> Recording:
    topic = bag.point_cloud_topic(topic)
    first = next(bag.scans(topic), None)
    if first is None:
        raise DemoError(f"{bag.path}: no readable scan on {topic}")
    statics = static_transforms(bag)
    base_frame = root_frame(statics, first.frame_id)
    return Recording(
        path=bag.path,
        topic=topic,
        num_scans=bag.topics[topic].count,
        base_frame=base_frame,
        T_base_sensor=static_transform(statics, base_frame, first.frame_id),
        ground_truth=ground_truth_if_usable(bag, base_frame),
    )


@contextmanager
def _running_node(
    recording: Recording, wait: bool, log: Path, map_folder: Path | None = None
) -> Iterator[tuple[Listener, NodeProcess]]:
    """The node, ready, and what is received of it; both end with the block. Raises DemoError where it is not ready."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from prnet_ros.demo.listener import Listener

    arguments = _node_arguments(recording, wait, map_folder)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    listener = Listener(rclpy.get_default_context(), ODOM_FRAME, recording.base_frame, in_map=map_folder is not None)
    try:
        with NodeProcess(arguments, log) as node:
            if not node.wait_until(listener.is_ready, START_TIMEOUT):
                raise node.failure(f"was not ready within {START_TIMEOUT:g} s")
            yield listener, node
    finally:
        listener.close()
        rclpy.try_shutdown()


def _play(bag: Bag, recording: Recording, rate: float, wait: bool, log: Path) -> DemoResult:
    """Start the node, play the bag, collect the node's output until every scan is accounted for."""
    with _running_node(recording, wait, log) as (listener, node):
        seconds = _replay(bag, recording, rate, wait, listener, node)
        node.wait_until(lambda: listener.is_settled(recording.num_scans), DRAIN_TIMEOUT)
        message, values = listener.diagnostics()
        if len(listener.trajectory()) == 0:
            raise node.failure(f"published no pose on /tf (its diagnostics: {message or 'none'})")
        exit_code = node.stop()
        if exit_code != 0:
            raise node.failure(f"did not shut down cleanly: exit code {exit_code}")
        return DemoResult(listener.trajectory(), listener.num_odometry, values, seconds)


def _restart(bag: Bag, recording: Recording, trajectory: Trajectory, wait: bool, stem: Path) -> Restart | None:
    """Make a map of the drive and start the node in it at a random scan; None where the drive is too short for a map.

    A failure is reported in the table and does not end the demo.
    """
    from prnet_core.mapping import MapError
    from prnet_core.mapping.storage import save_map
    from prnet_ros.demo.drive_map import VOXEL, map_of_drive
    from prnet_ros.player import NoSubscriberError

    if len(trajectory) < FEWEST_POSES:
        return None
    first = random_scan(recording.num_scans, np.random.default_rng())
    folder = Path(f"{stem}.map").absolute()
    try:
        save_map(map_of_drive(bag.scans(recording.topic), trajectory, recording.T_base_sensor), folder, VOXEL)
        with _running_node(recording, wait, Path(f"{stem}.map.node.log"), folder) as (listener, node):
            return start_again(bag, recording.topic, first, trajectory, listener, node)
    except (MapError, DemoError, NoSubscriberError) as error:
        return Restart(first, problem=str(error).splitlines()[0])


def _replay(bag: Bag, recording: Recording, rate: float, wait: bool, listener: Listener, node: NodeProcess) -> float:
    """Play the bag at `rate` times the speed of the recording; the seconds that this took.

    With `wait`, each scan waits for the answer to the one before: a slow machine takes longer and drops nothing.
    """
    from prnet_ros.player import NoSubscriberError, Replay, ReplayOptions

    num_unanswered = 0

    def hold(num_published: int) -> None:
        nonlocal num_unanswered
        if not node.wait_until(lambda: listener.num_answered() + num_unanswered >= num_published, ANSWER_TIMEOUT):
            num_unanswered = num_published - listener.num_answered()

    options = ReplayOptions(recording.topic, to="points", rate=rate, wait=SUBSCRIBER_TIMEOUT)
    started = time.monotonic()
    try:
        num_scans = Replay(listener.node, bag, options, hold if wait else None).run()
    except NoSubscriberError as error:
        raise node.failure(str(error)) from error
    if wait:
        hold(num_scans)
    return time.monotonic() - started


def _node_arguments(recording: Recording, wait: bool, map_folder: Path | None) -> list[str]:
    parameters = {"odom_frame": ODOM_FRAME, "base_frame": recording.base_frame, "reliability": "reliable"}
    if wait:
        parameters["odometry.max_scan_time"] = WAIT_SCAN_TIME
    if map_folder is not None:
        parameters["map"] = str(map_folder)
    assignments = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    return ["--ros-args", *assignments]


def _report(bag: Bag, recording: Recording, result: DemoResult, restart: Restart | None, stem: Path) -> None:
    from prnet_core.io.trajectories import write_tum
    from prnet_ros.demo.picture import View, align_scans, draw

    comparison = compare_with_ground_truth(result.trajectory, recording.ground_truth)
    print(table(recording.num_scans, result, comparison, restart))
    write_tum(f"{stem}.tum", result.trajectory)
    trajectory, frame, view = result.trajectory, ODOM_FRAME, View.from_above(recording.base_frame)
    if comparison is not None:
        trajectory = Trajectory(trajectory.stamps, comparison.T_true_odom @ trajectory.poses)
        frame, view = recording.ground_truth.parent, View.from_above(recording.ground_truth.parent)
    aligned = align_scans(bag.scans(recording.topic), trajectory, recording.T_base_sensor, view)
    title = f"{recording.path.name}: {len(trajectory)} of {recording.num_scans} scans aligned, in the frame {frame}"
    T_drawn_odom = np.eye(4) if comparison is None else comparison.T_true_odom
    found = _found_scan(bag, recording, restart, T_drawn_odom)
    draw(Path(f"{stem}.png"), title, aligned, trajectory, comparison, view, found)
    print(f"picture:    {stem}.png\ntrajectory: {stem}.tum\nnode's log: {stem}.node.log")
    if restart is not None:
        print(f"map:        {stem}.map")


def _found_scan(bag: Bag, recording: Recording, restart: Restart | None, T_drawn_odom: np.ndarray) -> FoundScan | None:
    """The scan that was found, in the drawn frame; the map's frame is the odometry frame of the drive."""
    from prnet_ros.demo.picture import FoundScan

    if restart is None or not restart.poses:
        return None
    pose = restart.poses[0]
    scan = next(scan for scan in bag.scans(recording.topic) if round(1e6 * (scan.stamp - pose.stamp)) == 0)
    T_drawn_sensor = T_drawn_odom @ pose.T_map_base @ recording.T_base_sensor
    expected = T_drawn_odom @ pose.T_expected @ recording.T_base_sensor
    label = f"Started again at scan {restart.scan}: found in {restart.seconds:.1f} s"
    return FoundScan(se3.apply(T_drawn_sensor, scan.cloud.points), T_drawn_sensor[:3, 3], expected[:3, 3], label)


def _isolate(domain_id: int) -> None:
    """Set a ROS domain that is limited to this machine: the demo and a robot nearby do not receive each other."""
    os.environ["ROS_DOMAIN_ID"] = str(domain_id)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="prnet_demo",
        description="Play a bag into the node over DDS, in real time, and show the result: a table and a picture.",
    )
    has_sample = SAMPLE.exists()  # in the source tree only
    parser.add_argument(
        "bag",
        nargs="?" if has_sample else None,
        type=Path,
        default=SAMPLE,
        help="ROS 2 or ROS 1 bag" + (" (default: the sample)" if has_sample else ""),
    )
    parser.add_argument("--topic", help="PointCloud2 topic of the bag (default: the only one)")
    parser.add_argument("--rate", type=positive, default=1.0, help="2 plays twice as fast (default: 1)")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="each scan waits for the answer to the one before: a slow machine takes longer but drops nothing",
    )
    parser.add_argument(
        "--domain-id",
        type=domain_id,
        default=1 + os.getpid() % 100,
        help="ROS_DOMAIN_ID, to watch the demo with RViz (default: any)",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("demo_output"), help="folder for what is written (default: %(default)s)"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
