"""The parameter file agrees with the declared parameters."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")

from prnet_ros.node.parameters import SPECS  # noqa: E402

CONFIG = Path(__file__).resolve().parents[2] / "config" / "prnet.yaml"


def flat(values, prefix=""):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def test_the_file_has_every_parameter_with_its_default_in_its_type():
    in_file = dict(flat(yaml.safe_load(CONFIG.read_text())["/**"]["ros__parameters"]))
    defaults = {name: spec.default for name, spec in SPECS.items()}
    assert in_file == defaults
    assert {name: type(value) for name, value in in_file.items()} == {n: type(v) for n, v in defaults.items()}


def test_every_parameter_is_explained_above_it_in_the_file():
    lines = CONFIG.read_text().splitlines()
    for name in SPECS:
        key = name.rpartition(".")[2]
        at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{key}:"))
        block = lines[:at]
        while block and block[-1].strip() and not block[-1].strip().startswith("#"):
            block.pop()  # the other parameters of the same paragraph
        assert block[-1].strip().startswith("#"), name


def test_every_default_is_within_its_own_range():
    for name, spec in SPECS.items():
        assert spec.description.endswith("."), name
        if spec.range is not None:
            assert spec.range[0] <= spec.default <= spec.range[1], name
        if spec.choices is not None:
            assert spec.default in spec.choices, name


def test_the_node_declares_what_the_file_sets(robot):
    """The node as a process, with the file: names, ranges and descriptions over the parameter services."""
    from rcl_interfaces.srv import DescribeParameters, ListParameters

    robot.start_node("--params-file", str(CONFIG))
    list_client = robot.ros.create_client(ListParameters, "/prnet/list_parameters")
    describe_client = robot.ros.create_client(DescribeParameters, "/prnet/describe_parameters")
    robot.wait_until(lambda: list_client.service_is_ready() and describe_client.service_is_ready(), "the services")
    future = list_client.call_async(ListParameters.Request())
    robot.wait_until(future.done, "the list")
    assert set(SPECS) <= set(future.result().result.names)
    future = describe_client.call_async(DescribeParameters.Request(names=list(SPECS)))
    robot.wait_until(future.done, "the descriptions")
    for (name, spec), descriptor in zip(SPECS.items(), future.result().descriptors):
        assert descriptor.description == spec.description, name
        assert descriptor.read_only is not spec.settable, name
        assert bool(descriptor.integer_range or descriptor.floating_point_range) is (spec.range is not None), name


@pytest.mark.parametrize(
    "name, value, expected",
    [
        ("registration.max_range", 50, 50.0),
        ("no_data_timeout", 2, 2.0),
        ("registration.voxel_size", 0, None),
    ],
)
def test_integers_are_accepted_for_doubles(ros_domain, name, value, expected):
    import rclpy
    from rclpy.parameter import Parameter

    from prnet_ros.node.parameters import declare_parameters, on_change, read_parameters

    context = rclpy.Context()
    context.init(domain_id=ros_domain)
    node = rclpy.create_node("prnet", context=context, parameter_overrides=[Parameter(name, value=value)])
    try:
        declare_parameters(node)
        parameters = read_parameters(node)
        group, _, field = name.rpartition(".")
        found = getattr(getattr(parameters, group) if group else parameters, field)
        assert (found, type(found)) == (expected, type(expected))
        changed = []
        on_change(node, changed.append)
        results = [
            node.set_parameters([Parameter("fine_tune.max_seconds", value=v)])[0].successful for v in (60, 0, "long")
        ]
        assert results == [True, False, False]
        assert [p.fine_tune.run.max_seconds for p in changed] == [60.0]
    finally:
        node.destroy_node()
        context.try_shutdown()
