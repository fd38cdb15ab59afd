"""The launch file with the real launch and launch_ros, where they are installed."""

import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros is not installed")

ROOT = Path(__file__).resolve().parents[2]
BAG = str(ROOT / "test" / "data" / "lidar_walk")


def require_prefix():
    from ament_index_python import PackageNotFoundError, get_package_prefix

    try:
        prefix = Path(get_package_prefix("prnet_ros"))
    except PackageNotFoundError:
        pytest.skip("prnet_ros is not installed in an ament prefix")
    if not (prefix / "lib" / "prnet_ros" / "prnet_node").exists():
        pytest.skip(f"{prefix}/lib/prnet_ros has no executables: not installed by colcon")


def included(**arguments):
    from launch.actions import IncludeLaunchDescription
    from launch.launch_description_sources import AnyLaunchDescriptionSource

    from launch import LaunchDescription

    source = AnyLaunchDescriptionSource(str(ROOT / "launch" / "prnet.launch.py"))
    return LaunchDescription([IncludeLaunchDescription(source, launch_arguments=list(arguments.items()))])


def test_it_declares_its_arguments():
    from launch.launch_description_sources import AnyLaunchDescriptionSource

    source = AnyLaunchDescriptionSource(str(ROOT / "launch" / "prnet.launch.py"))
    from launch import LaunchContext

    declared = {a.name for a in source.get_launch_description(LaunchContext()).get_launch_arguments()}
    assert {
        "points",
        "odom_frame",
        "base_frame",
        "config",
        "weights",
        "device",
        "use_sim_time",
        "namespace",
        "bag",
        "rviz",
    } <= declared


@pytest.mark.parametrize("arguments", [{"config": "/nowhere/prnet.yaml"}, {"bag": "nowhere.mcap"}])
def test_a_file_that_does_not_exist_ends_it(arguments):
    from launch import LaunchService

    service = LaunchService(noninteractive=True)
    service.include_launch_description(included(**arguments))
    assert service.run() == 1


def test_a_replay_that_fails_ends_it(ros_domain):
    from launch import LaunchService

    require_prefix()
    service = LaunchService(noninteractive=True)
    service.include_launch_description(included(bag=BAG, points="/not_in_the_bag", weights="none"))
    assert service.run() == 1


def test_it_plays_a_bag_into_the_node(ros_domain):
    """The node and the replay of the sample bag, until odometry with our frame name arrives."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor

    from launch import LaunchService

    require_prefix()
    context = rclpy.Context()
    context.init(domain_id=ros_domain)
    listener = rclpy.create_node("listener", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(listener)
    received = []
    listener.create_subscription(Odometry, "/robot1/odometry", received.append, 10)

    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        included(
            bag=BAG,
            namespace="robot1",
            odom_frame="odom1",
            weights="none",
        )
    )

    def stop_when_received():
        end = time.monotonic() + 60
        while len(received) < 3 and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        service.shutdown()

    watcher = threading.Thread(target=stop_when_received)
    watcher.start()
    exit_code = service.run()  # launch wants the main thread
    watcher.join()
    executor.shutdown()
    context.try_shutdown()
    assert exit_code == 0
    assert len(received) >= 3 and received[0].header.frame_id == "odom1"
