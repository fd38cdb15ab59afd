"""Start prnet_node; on request play a bag into it and show it in RViz.

    ros2 launch prnet_ros prnet.launch.py points:=/lidar/points base_frame:=base_link
    ros2 launch prnet_ros prnet.launch.py points:=/lidar/points bag:=walk.mcap rviz:=true
    ros2 launch prnet_ros prnet.launch.py --show-args
"""

import os
import re
from pathlib import Path

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetEnvironmentVariable
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

DEFAULT_POINTS = "points"
SHARE = Path(__file__).resolve().parents[1]
TOPICS = ("odometry", "registered_points", "trajectory")
PROFILE_VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")  # Fast DDS 2, 3

# name, default, description. Those with an empty default are left to the parameter file.
ARGUMENTS = (
    ("points", DEFAULT_POINTS, "Topic of the clouds (sensor_msgs/PointCloud2)."),
    ("odom_frame", "", "Frame the motion is told in; empty: as in the parameter file (odom)."),
    ("base_frame", "", "Frame whose motion is published; empty: as in the parameter file (that of the clouds)."),
    ("config", str(SHARE / "config" / "prnet.yaml"), "Parameter file."),
    ("weights", "", "Weights of the network (.safetensors, or none); empty: as in the parameter file (packaged)."),
    ("device", "", "auto, cpu, cuda, ...; empty: as in the parameter file (auto)."),
    ("use_sim_time", "", "Take the time from /clock; empty: only with a bag."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("bag", "", "ROS 1 or ROS 2 bag to play, file or folder; its topic is `points`, or the only one it has."),
    ("rate", "1.0", "Speed of the bag."),
    ("rviz", "false", "Show TF, registered clouds and trajectory in RViz."),
    (
        "fastdds_profile",
        str(SHARE / "config" / "fastdds_large_clouds.xml"),
        "Fast DDS profile for all that is started here; empty: none. The sensor's driver needs it too.",
    ),
)


def generate_launch_description() -> LaunchDescription:
    """The arguments, then what they ask for."""
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=actions)])


def actions(context: LaunchContext) -> list:
    """What to start, for the arguments of this launch."""
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    use_sim_time = is_true(given["use_sim_time"]) if given["use_sim_time"] else bool(given["bag"])
    started = profile_actions(given["fastdds_profile"]) + [node(given, use_sim_time)]
    if given["bag"]:
        started.append(replay(given, use_sim_time))
    if is_true(given["rviz"]):
        started.append(rviz(given, use_sim_time))
    return started


def node(given: dict, use_sim_time: bool) -> Node:
    """prnet_node; arguments that were given win over the parameter file."""
    names = ("odom_frame", "base_frame", "weights", "device")
    overrides = {name: given[name] for name in names if given[name]}
    return Node(
        package="prnet_ros",
        executable="prnet_node",
        name="prnet",
        namespace=given["namespace"],
        parameters=[given["config"], {**overrides, "use_sim_time": use_sim_time}],
        remappings=[("points", given["points"])],
        output="screen",
        emulate_tty=True,
    )


def replay(given: dict, use_sim_time: bool) -> Node:
    """prnet_replay: waits until the node listens, and reads ROS 1 bags too."""
    points = given["points"]
    topic = [] if points == DEFAULT_POINTS else ["--topic", points]  # by itself it finds the only one, or lists them
    resolved = points if points.startswith("/") else "/".join(["", *given["namespace"].split("/"), points])
    return Node(
        package="prnet_ros",
        executable="prnet_replay",
        arguments=[given["bag"], *topic, "--to", re.sub("/+", "/", resolved), "--rate", given["rate"]]
        + (["--clock"] if use_sim_time else []),
        output="screen",
    )


def rviz(given: dict, use_sim_time: bool) -> Node:
    """RViz with our layout, on the topics of the namespace."""
    return Node(
        package="rviz2",
        executable="rviz2",
        namespace=given["namespace"],
        arguments=["-d", str(SHARE / "config" / "prnet.rviz"), "-f", given["odom_frame"] or "odom"],
        parameters=[{"use_sim_time": use_sim_time}],
        remappings=[(f"/{topic}", topic) for topic in TOPICS] + [("/points", given["points"])],
    )


def profile_actions(profile: str) -> list:
    """Set the Fast DDS profile, unless the environment has one already."""
    if not profile:
        return []
    present = [name for name in PROFILE_VARIABLES if os.environ.get(name)]
    if present:
        return [LogInfo(msg=f"{present[0]} is set: {profile} is not used")]
    return [SetEnvironmentVariable(name, profile) for name in PROFILE_VARIABLES]


def is_true(text: str) -> bool:
    """A launch argument as a truth value."""
    return text.lower() in ("true", "1", "yes", "on")
