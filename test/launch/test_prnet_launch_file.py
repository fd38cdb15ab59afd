"""What the launch file starts, with a recording stand-in of launch and launch_ros."""

import importlib.util
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config" / "prnet.yaml"
BAG = str(ROOT / "test" / "data" / "lidar_walk")


class Recorded:
    """An action: what it was made with."""

    def __init__(self, *args, **kwargs):
        self.args = args
        self.kwargs = kwargs


class LaunchConfiguration(Recorded):
    def perform(self, context):
        return context[self.args[0]]


def action(name):
    return type(name, (Recorded,), {})


@pytest.fixture
def launch_file(monkeypatch):
    """The launch file as a module, on the stand-in, with no Fast DDS profile in the environment."""
    modules = {
        "launch": {"LaunchContext": dict, "LaunchDescription": lambda actions: actions},
        "launch.actions": {
            name: action(name)
            for name in ("DeclareLaunchArgument", "LogInfo", "OpaqueFunction", "SetEnvironmentVariable")
        },
        "launch.events": {},
        "launch.events.process": {"ProcessExited": object},
        "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
        "launch_ros": {},
        "launch_ros.actions": {"Node": action("Node")},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("prnet_launch", ROOT / "launch" / "prnet.launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def started(launch_file, **arguments):
    """The actions for these launch arguments, the defaults for the others, by executable."""
    *declared, opaque = launch_file.generate_launch_description()
    defaults = {argument.args[0]: argument.kwargs["default_value"] for argument in declared}
    assert set(arguments) <= set(defaults)
    actions = opaque.kwargs["function"]({**defaults, **arguments})
    nodes = {a.kwargs["executable"]: a.kwargs for a in actions if type(a).__name__ == "Node"}
    return nodes, [a for a in actions if type(a).__name__ != "Node"]


def test_every_argument_is_described(launch_file):
    *declared, _ = launch_file.generate_launch_description()
    assert all(argument.kwargs["description"] for argument in declared)


def test_defaults_leave_everything_to_the_parameter_file(launch_file):
    nodes, others = started(launch_file)
    assert list(nodes) == ["prnet_node"]
    config, overrides = nodes["prnet_node"]["parameters"]
    assert Path(config) == CONFIG
    assert overrides == {"use_sim_time": False}
    profile = str(ROOT / "config" / "fastdds_large_clouds.xml")
    assert [a.args for a in others] == [
        ("FASTRTPS_DEFAULT_PROFILES_FILE", profile),
        ("FASTDDS_DEFAULT_PROFILES_FILE", profile),
    ]


def test_arguments_win_over_the_parameter_file(launch_file):
    nodes, _ = started(
        launch_file,
        points="/lidar/points",
        odom_frame="map",
        base_frame="base_link",
        weights="w.safetensors",
        device="cuda",
        use_sim_time="true",
        namespace="robot1",
        config=str(CONFIG),
    )
    node = nodes["prnet_node"]
    assert node["name"] == "prnet" and node["namespace"] == "robot1"
    assert node["remappings"] == [("points", "/lidar/points")]
    assert node["parameters"] == [
        str(CONFIG),
        {
            "odom_frame": "map",
            "base_frame": "base_link",
            "weights": "w.safetensors",
            "device": "cuda",
            "use_sim_time": True,
        },
    ]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({}, ["--to", "/points", "--wait-for", "/prnet"]),
        ({"namespace": "/robot1/"}, ["--to", "/robot1/points", "--wait-for", "/robot1/prnet"]),
        ({"points": "cloud"}, ["--topic", "cloud", "--to", "/cloud", "--wait-for", "/prnet"]),
        ({"points": "/a/b", "namespace": "r"}, ["--topic", "/a/b", "--to", "/a/b", "--wait-for", "/r/prnet"]),
    ],
)
def test_a_bag_is_played_to_the_topic_of_the_node_and_waits_for_it(launch_file, arguments, expected):
    nodes, _ = started(launch_file, bag=BAG, rate="2.0", **arguments)
    expected = [*expected[:-2], "--rate", "2.0", *expected[-2:]]
    assert nodes["prnet_replay"]["arguments"] == [BAG, *expected, "--clock"]
    assert nodes["prnet_node"]["parameters"][1] == {"use_sim_time": True}


def test_a_bag_without_its_clock(launch_file):
    nodes, _ = started(launch_file, bag=BAG, use_sim_time="false")
    assert "--clock" not in nodes["prnet_replay"]["arguments"]
    assert nodes["prnet_node"]["parameters"][1] == {"use_sim_time": False}


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"bag": "nowhere.mcap"}, "bag:=nowhere.mcap does not exist"),
        ({"config": "/nowhere/prnet.yaml"}, "config:=/nowhere/prnet.yaml does not exist"),
        ({"config": ""}, "config:= does not exist"),
        ({"fastdds_profile": "nowhere.xml"}, "fastdds_profile:=nowhere.xml does not exist"),
    ],
)
def test_a_file_that_does_not_exist_ends_the_launch(launch_file, arguments, error):
    with pytest.raises(FileNotFoundError, match=error):
        started(launch_file, **arguments)


def test_a_process_that_fails_ends_the_launch(launch_file):
    nodes, _ = started(launch_file, bag=BAG)
    for node in (nodes["prnet_node"], nodes["prnet_replay"]):
        assert node["on_exit"](types.SimpleNamespace(returncode=0, process_name="a"), {}) is None
        with pytest.raises(RuntimeError, match="a ended with exit code 1"):
            node["on_exit"](types.SimpleNamespace(returncode=1, process_name="a"), {})


def test_rviz_shows_the_topics_of_the_namespace(launch_file):
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    nodes, _ = started(launch_file, rviz="true", odom_frame="odom1", namespace="robot1", points="/lidar")
    rviz = nodes["rviz2"]
    layout = rviz["arguments"][rviz["arguments"].index("-d") + 1]
    assert rviz["arguments"][rviz["arguments"].index("-f") + 1] == "odom1"
    displays = yaml.safe_load(Path(layout).read_text())["Visualization Manager"]["Displays"]
    shown = {display["Topic"]["Value"] for display in displays if "Topic" in display}
    assert shown == {source for source, _ in rviz["remappings"]}
    assert ("/points", "/lidar") in rviz["remappings"]


def test_a_profile_in_the_environment_stays(launch_file, monkeypatch):
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "/etc/mine.xml")
    _, others = started(launch_file)
    assert [type(a).__name__ for a in others] == ["LogInfo"]
    assert started(launch_file, fastdds_profile="")[1] == []


def test_the_profile_is_xml_with_a_large_segment():
    from xml.etree import ElementTree

    tree = ElementTree.parse(ROOT / "config" / "fastdds_large_clouds.xml")
    space = {"p": "http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"}
    assert int(tree.findtext(".//p:segment_size", namespaces=space)) == 64 * 2**20
    used = [t.text for t in tree.findall(".//p:userTransports/p:transport_id", space)]
    assert used == [t.text for t in tree.findall(".//p:transport_descriptor/p:transport_id", space)]
