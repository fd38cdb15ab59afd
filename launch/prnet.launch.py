"""Start prnet_node; on request, play a bag into it and show the result in RViz.

ros2 launch prnet_ros prnet.launch.py points:=/lidar/points base_frame:=base_link
ros2 launch prnet_ros prnet.launch.py points:=/lidar/points bag:=walk.mcap rviz:=true
ros2 launch prnet_ros prnet.launch.py --show-args
"""

import os
import re
from pathlib import Path

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetEnvironmentVariable
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

DEFAULT_POINTS = "points"
NODE_NAME = "prnet"
SHARE = Path(__file__).resolve().parents[1]
TOPICS = ("odometry", "registered_points", "trajectory")
PROFILE_VARIABLES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")  # Fast DDS 2, 3

# name, default, description. An empty default leaves the value to the parameter file.
ARGUMENTS = (
    ("points", DEFAULT_POINTS, "Topic of the clouds (sensor_msgs/PointCloud2)."),
    ("odom_frame", "", "Frame that the pose is expressed in; empty: as in the parameter file (odom)."),
    ("base_frame", "", "Frame whose pose is published; empty: as in the parameter file (that of the clouds)."),
    ("map", "", "Folder of a saved map to localise in; empty: as in the parameter file (none)."),
    ("config", str(SHARE / "config" / "prnet.yaml"), "Parameter file."),
    ("weights", "", "Weights of the network (.safetensors, or none); empty: as in the parameter file (packaged)."),
    ("device", "", "auto, cpu, cuda, ...; empty: as in the parameter file (auto)."),
    ("use_sim_time", "", "Take the time from /clock; empty: only with a bag."),
    ("namespace", "", "Namespace of the node and its topics."),
    ("bag", "", "ROS 1 or ROS 2 bag to play, file or folder; `points` names its topic, by default the only one."),
    ("rate", "1.0", "Speed of the bag."),
    ("rviz", "false", "Show TF, registered clouds and trajectory in RViz."),
    (
        "fastdds_profile",
        str(SHARE / "config" / "fastdds_large_clouds.xml"),
        "Fast DDS profile for all that is started here; empty: none. The sensor's driver needs it too.",
    ),
)


def generate_launch_description() -> LaunchDescription:
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=actions)])


def actions(context: LaunchContext) -> list:
    """The actions for the arguments of this launch.

    Raises FileNotFoundError, which ends the launch with one line, for a file of the arguments that does not exist.
    """
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    check_files(given)
    use_sim_time = is_true(given["use_sim_time"]) if given["use_sim_time"] else bool(given["bag"])
    started = profile_actions(given["fastdds_profile"]) + [node(given, use_sim_time)]
    if given["bag"]:
        started.append(replay(given, use_sim_time))
    if is_true(given["rviz"]):
        started.append(rviz(given, use_sim_time))
    return started


def check_files(given: dict) -> None:
    """Raise FileNotFoundError for `config` (which is required), `bag` and `fastdds_profile`."""
    for name in ("config", "bag", "fastdds_profile"):
        is_present = os.path.exists(given[name])
        if not is_present and (given[name] or name == "config"):
            raise FileNotFoundError(f"{name}:={given[name]} does not exist")


def end_on_failure(event: ProcessExited, _: LaunchContext) -> None:
    """Raise RuntimeError, which ends the launch, when a process ends by itself with an error."""
    if event.returncode > 0:
        raise RuntimeError(f"{event.process_name} ended with exit code {event.returncode}")


def node(given: dict, use_sim_time: bool) -> Node:
    """prnet_node; the given arguments override the parameter file."""
    names = ("odom_frame", "base_frame", "map", "weights", "device")
    overrides = {name: given[name] for name in names if given[name]}
    return Node(
        package="prnet_ros",
        executable="prnet_node",
        name=NODE_NAME,
        namespace=given["namespace"],
        parameters=[given["config"], {**overrides, "use_sim_time": use_sim_time}],
        remappings=[("points", given["points"])],
        output="screen",
        emulate_tty=True,
        on_exit=end_on_failure,
    )


def replay(given: dict, use_sim_time: bool) -> Node:
    """prnet_replay, which waits for the node and reads ROS 1 bags too."""
    points = given["points"]
    topic = [] if points == DEFAULT_POINTS else ["--topic", points]  # without: the only topic of the bag
    return Node(
        package="prnet_ros",
        executable="prnet_replay",
        arguments=[given["bag"], *topic, "--to", full_name(points, given), "--rate", given["rate"]]
        + ["--wait-for", full_name(NODE_NAME, given)]
        + (["--clock"] if use_sim_time else []),
        output="screen",
        on_exit=end_on_failure,
    )


def full_name(name: str, given: dict) -> str:
    """A topic's or a node's name in the namespace of the launch, unless it is absolute."""
    return name if name.startswith("/") else re.sub("/+", "/", f"/{given['namespace']}/{name}")


def rviz(given: dict, use_sim_time: bool) -> Node:
    """RViz with the layout of this package, on the topics of the namespace."""
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
    return text.lower() in ("true", "1", "yes", "on")
