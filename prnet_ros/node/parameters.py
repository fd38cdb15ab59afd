"""The node's parameters: declared with descriptions and ranges, read into one frozen object."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from prnet_core.fine_tuning import FineTuneConfig
from prnet_core.mapping.config import MappingConfig
from prnet_core.odometry import OdometryConfig
from prnet_core.registration import RegistrationConfig
from prnet_ros.node.compat import call_after_parameters_set

_REGISTRATION = RegistrationConfig()
_ODOMETRY = OdometryConfig()
_MAPPING = MappingConfig()
_FINE_TUNE = FineTuneConfig()
NEW_MAP_AFTER = 5  # lost scans after which the odometry starts a new local map, where a saved map relates it to the old


class ParameterError(ValueError):
    """A parameter has a value that is not allowed; the text names both."""


@dataclass(frozen=True)
class Spec:
    """One parameter. `range` is inclusive; `choices` are for strings; without `settable` a restart is needed."""

    default: Any
    description: str
    range: tuple[float, float] | None = None
    choices: tuple[str, ...] | None = None
    settable: bool = False


# config/prnet.yaml documents these at length, in the same order; a test compares the two.
SPECS: dict[str, Spec] = {
    "odom_frame": Spec("odom", "Frame of the published poses (REP 105): where base_frame was at the first scan."),
    "base_frame": Spec("", "Frame whose motion is published; empty: the frame of the clouds."),
    "publish_tf": Spec(True, "Publish odom_frame -> base_frame on /tf.", settable=True),
    "invert_tf": Spec(False, "Publish base_frame -> odom_frame instead, where base_frame has a parent.", settable=True),
    "map": Spec("", "Folder of a saved map that the node localises in; empty: none."),
    "map_frame": Spec("map", "Frame of the map."),
    "publish_map_tf": Spec(
        True, "Publish map_frame -> odom_frame on /tf where a map is loaded or built; never without one.", settable=True
    ),
    "publish_weak": Spec(
        False, "Publish weak results too, with their wide covariance; only accepted ones otherwise.", settable=True
    ),
    "publish_lost": Spec(
        False, "Publish odometry with a huge covariance for a scan without a pose, instead of nothing.", settable=True
    ),
    "autostart": Spec(True, "Configure and activate at the start; off where a lifecycle manager does it."),
    "reliability": Spec(
        "best_effort", "Reliability of the subscription to points.", choices=("best_effort", "reliable")
    ),
    "no_data_timeout": Spec(
        5.0, "Seconds without a cloud before the diagnostics warn (steady clock).", range=(0.1, 3600.0), settable=True
    ),
    "weights": Spec("", "Safetensors file of the network; empty: the packaged one; 'none': no network."),
    "device": Spec("auto", "PyTorch device of the network: auto, cpu, cuda, cuda:1, ..."),
    "num_threads": Spec(2, "Threads of PyTorch and of the refinement on the CPU.", range=(1, 256)),
    "registration.voxel_size": Spec(0.0, "Voxel size, metres; 0: from the scale of the clouds.", range=(0.0, 100.0)),
    "registration.min_range": Spec(
        _REGISTRATION.min_range, "Minimum range, metres: nearer points are left out.", range=(0.0, 1e4)
    ),
    "registration.max_range": Spec(
        0.0, "Maximum range, metres: farther points are left out; 0: none.", range=(0.0, 1e6)
    ),
    "registration.target_points": Spec(
        _REGISTRATION.target_points, "Points that the automatic voxel size leaves of a scan.", range=(100, 200_000)
    ),
    "odometry.max_scan_time": Spec(
        0.0,
        "Maximum processing time of a scan, seconds; 0: twice the time between stamps, 1 s while lost.",
        range=(0.0, 60.0),
    ),
    "odometry.keyframe_overlap": Spec(
        _ODOMETRY.keyframe_overlap, "New keyframe when less than this share of the scan overlaps it.", range=(0.0, 1.0)
    ),
    "odometry.deskew": Spec(_ODOMETRY.deskew, "Deskew: undo the motion within a scan by the times of its points."),
    "odometry.guess_frame": Spec(
        "", "Odometry frame on TF (wheels, IMU) whose motion predicts; empty: constant velocity predicts."
    ),
    "mapping.build": Spec(False, "Build a map alongside the odometry, for ~/save_map; not together with map."),
    "mapping.save_to": Spec("", "Folder for ~/save_map; empty: prnet_map in ROS_HOME (~/.ros).", settable=True),
    "mapping.max_keyframes": Spec(
        _MAPPING.max_keyframes,
        "Maximum number of keyframes of the map; at the limit the most redundant one is dropped.",
        range=(10, 100_000),
    ),
    "fine_tune.num_scans": Spec(
        20, "Number of recent scans, different from each other, kept for ~/fine_tune.", range=(2, 1000), settable=True
    ),
    "fine_tune.examples_per_scan": Spec(
        _FINE_TUNE.examples_per_scan, "Pairs made of each scan in an epoch.", range=(1, 100_000), settable=True
    ),
    "fine_tune.epochs": Spec(_FINE_TUNE.epochs, "Maximum number of epochs of a run.", range=(1, 10_000), settable=True),
    "fine_tune.learning_rate": Spec(
        _FINE_TUNE.learning_rate, "Learning rate of Adam.", range=(1e-8, 1.0), settable=True
    ),
    "fine_tune.max_seconds": Spec(
        _FINE_TUNE.max_seconds,
        "A run ends after this time, counted from the call.",
        range=(1.0, 86_400.0),
        settable=True,
    ),
    "fine_tune.min_gain": Spec(
        _FINE_TUNE.min_gain,
        "Minimum relative decrease of the held-out error for new weights to be used.",
        range=(0.0, 1.0),
        settable=True,
    ),  # fmt: skip
    "fine_tune.save_to": Spec(
        "", "File for ~/save_weights; empty: prnet_fine_tuned.safetensors in ROS_HOME (~/.ros).", settable=True
    ),
    "fine_tune.num_threads": Spec(1, "Threads of a run, besides those of the node.", range=(1, 256), settable=True),
}

DEPRECATED = {  # parameters without effect
    "odometry.target": "scans are registered to a local map always",
    "registration.refinement": "GICP refines always",
}


@dataclass(frozen=True)
class FineTuneParameters:
    """Values of the parameters fine_tune.*: those of a run are in `run`."""

    num_scans: int
    save_to: str
    num_threads: int
    run: FineTuneConfig


@dataclass(frozen=True)
class NodeParameters:
    """Values of the parameters, as SPECS describes them."""

    odom_frame: str
    base_frame: str
    publish_tf: bool
    invert_tf: bool
    reliability: str
    no_data_timeout: float
    publish_weak: bool
    publish_lost: bool
    autostart: bool
    guess_frame: str
    weights: str
    device: str
    num_threads: int
    registration: RegistrationConfig
    odometry: OdometryConfig
    fine_tune: FineTuneParameters
    map: str
    map_frame: str
    publish_map_tf: bool
    mapping_build: bool
    mapping_save_to: str
    mapping: MappingConfig


def declare_parameters(node: Node) -> None:
    """Declare all of SPECS. Raises ParameterError for a value from a file or command line that is not allowed."""
    for name, spec in SPECS.items():
        try:
            value = node.declare_parameter(name, spec.default, _descriptor(spec)).value
        except InvalidParameterTypeException as error:
            raise ParameterError(f"parameter '{name}' must be a {type(spec.default).__name__}") from error
        except InvalidParameterValueException as error:
            raise ParameterError(f"parameter '{name}': {error}") from error
        _check(name, value)


def unknown_parameters(node: Node) -> list[str]:
    """Parameters set for the node that it does not have, as text, with the nearest name."""
    words = []
    for name in getattr(node, "_parameter_overrides", {}):  # rclpy has no public method for this
        if name in DEPRECATED:
            words.append(f"'{name}' ({DEPRECATED[name]})")
            continue
        if node.has_parameter(name) or name.startswith("qos_overrides."):
            continue
        nearest = get_close_matches(name, SPECS, n=1)
        words.append(f"'{name}'" + (f" (is '{nearest[0]}' meant?)" if nearest else ""))
    return words


def read_parameters(node: Node) -> NodeParameters:
    """The present values. Raises ParameterError where two contradict each other."""
    values = {name: _typed(name, node.get_parameter(name).value) for name in SPECS}
    registration = _group(values, "registration.")
    registration["voxel_size"] = registration["voxel_size"] or None
    registration["max_range"] = registration["max_range"] or float("inf")
    if values["base_frame"] == values["odom_frame"]:
        raise ParameterError(f"parameters 'base_frame' and 'odom_frame' must differ, both are '{values['odom_frame']}'")
    mapping = _group(values, "mapping.")
    build, save_to = mapping.pop("build"), mapping.pop("save_to")
    if (values["map"] or build) and values["map_frame"] in (values["base_frame"], values["odom_frame"]):
        raise ParameterError(f"parameter 'map_frame' is the base_frame or the odom_frame: '{values['map_frame']}'")
    if values["map"] and build:
        raise ParameterError("parameters 'map' and 'mapping.build' exclude each other: a loaded map is not changed")
    try:
        registration_config = RegistrationConfig(num_threads=values["num_threads"], **registration)
    except ValueError as error:
        raise ParameterError(f"parameters 'registration': {error}") from error
    odometry = _group(values, "odometry.")
    guess_frame = odometry.pop("guess_frame")
    odometry["max_scan_time"] = odometry["max_scan_time"] or None
    if values["map"] or build:  # a map that is built cannot contain scans whose pose in it is unknown
        odometry["new_map_after"] = NEW_MAP_AFTER if values["map"] else None
    return NodeParameters(
        guess_frame=guess_frame,
        **{name: value for name, value in values.items() if "." not in name},
        registration=registration_config,
        odometry=OdometryConfig(**odometry),
        fine_tune=_fine_tune_parameters(_group(values, "fine_tune.")),
        mapping_build=build,
        mapping_save_to=save_to,
        mapping=MappingConfig(**mapping),
    )


def _fine_tune_parameters(values: dict[str, Any]) -> FineTuneParameters:
    own = {name: values.pop(name) for name in ("num_scans", "save_to", "num_threads")}
    return FineTuneParameters(**own, run=FineTuneConfig(**values))


def in_ros_home(name: str) -> str:
    """A path in ROS_HOME, which is ~/.ros unless set."""
    return os.path.join(os.environ.get("ROS_HOME") or "~/.ros", name)


def on_change(node: Node, apply: Callable[[NodeParameters], None]) -> None:
    """Call `apply(parameters)` after every change at run time; values that are not allowed are refused."""

    def check(parameters: list[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                _check(parameter.name, parameter.value)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    call_after_parameters_set(node, lambda: apply(read_parameters(node)))


def _check(name: str, value: Any) -> None:
    """Checks that a ParameterDescriptor cannot express."""
    spec = SPECS.get(name)
    if spec is not None and isinstance(spec.default, float):
        value = _typed(name, value)
        low, high = spec.range
        if not isinstance(value, float):
            raise ParameterError(f"parameter '{name}' must be a float, not {value!r}")
        if not low <= value <= high:
            raise ParameterError(f"parameter '{name}' must be from {low:g} to {high:g}, not {value:g}")
    if spec is not None and spec.choices is not None and value not in spec.choices:
        raise ParameterError(f"parameter '{name}' must be one of {', '.join(spec.choices)}, not '{value}'")
    if name in ("odom_frame", "map_frame") and not value:
        raise ParameterError(f"parameter '{name}' must not be empty")
    if name in ("odom_frame", "base_frame", "map_frame", "odometry.guess_frame") and value.startswith("/"):
        raise ParameterError(f"parameter '{name}' must not begin with a slash: '{value}'")


def _typed(name: str, value: Any) -> Any:
    """Integers are accepted for doubles: YAML reads 50 as an integer."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_integer and isinstance(SPECS[name].default, float) else value


def _descriptor(spec: Spec) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=spec.description, read_only=not spec.settable)
    descriptor.dynamic_typing = isinstance(spec.default, float)  # `_check` checks the type
    if spec.choices is not None:
        descriptor.additional_constraints = "one of: " + ", ".join(spec.choices)
    if spec.range is not None:
        low, high = spec.range
        if isinstance(spec.default, int):
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
        else:
            descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high))]
    return descriptor


def _group(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
