"""Services, the initial pose and the diagnostics of the map."""

import time
from concurrent.futures import CancelledError
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Empty, Trigger

from prnet_ros.node.diagnostics import make_status
from prnet_ros.node.map_session import MapSession
from prnet_ros.node.messages import initial_pose_of
from prnet_ros.node.parameters import NodeParameters, in_ros_home
from prnet_ros.node.registration_process import ProcessDied, RemoteError
from prnet_ros.node.threaded_service import in_a_thread

SAVE_TIMEOUT = 600.0  # s
STALE = 10.0  # s without a scan that has a pose
_NO_MAP = "no map is loaded: start the node with the parameter map:=FOLDER"
_LOADING = "the map process is still loading"


class MapServices:
    """`~/localize`, `~/save_map`, `reinitialize_global_localization`, `initialpose`; also without a map."""

    def __init__(self, node: Node, parameters: NodeParameters) -> None:
        self._node, self._parameters = node, parameters
        self._session: MapSession | None = None
        self._refused, self._refusal = 0, ""  # initial poses
        self._saved = ""
        group = ReentrantCallbackGroup()
        for name, function in (("localize", self._localize), ("save_map", self._save)):
            node.create_service(Trigger, f"~/{name}", in_a_thread(node, name, function), callback_group=group)
        node.create_service(Empty, "reinitialize_global_localization", self._on_reinitialize)
        node.create_subscription(PoseWithCovarianceStamped, "initialpose", self._on_initial_pose, 1)

    def use(self, session: MapSession | None) -> None:
        """Serve this session; None: none."""
        self._session = session

    def apply(self, parameters: NodeParameters) -> None:
        """Use these parameters from the next call on."""
        self._parameters = parameters

    def status(self) -> DiagnosticStatus | None:
        """The state of the map; None where there is none."""
        session = self._session
        if session is None:
            return None
        level, message = DiagnosticStatus.OK, "loading"
        values: dict = {"mode": "building"}
        if session.is_localizing:
            values = {"mode": "localizing", "map": self._parameters.map}
        loaded, answer = session.loaded, session.answer
        if loaded is not None and loaded.problem:
            level, message = DiagnosticStatus.ERROR, loaded.problem
        elif answer is not None:
            pose = answer.pose
            message = f"{pose.state}: {pose.reason}" if session.is_localizing else pose.reason
            level = DiagnosticStatus.OK if pose.state == "localized" else DiagnosticStatus.WARN
            values["state"] = pose.state
            values["other_places"] = pose.alternatives
        elif loaded is not None:
            message = "waiting for the first scan that the odometry registers"
        known = answer or loaded
        values |= {
            "keyframes": known.num_keyframes if known else 0,
            "megabytes": f"{known.megabytes if known else 0.0:.1f}",
            "loop_closures": answer.num_closures if answer else 0,
            "dropped": session.num_dropped,
            "process_restarts": session.process_restarts,
            "initial_poses_refused": self._refused,
            "last_refusal": self._refusal,
            "saved": self._saved,
            "error": session.error,
        }
        if session.verified_at is not None:
            values["seconds_since_verified"] = f"{time.monotonic() - session.verified_at:.1f}"
        return make_status(f"{self._node.get_fully_qualified_name()}: map", level, message, values)

    def _localize(self) -> tuple[bool, str]:
        session = self._session
        if session is None or not session.is_localizing:
            return False, _NO_MAP
        if session.loaded is None:
            return False, _LOADING
        if session.loaded.problem:
            return False, session.loaded.problem
        age = session.seconds_since_scan()
        if age > STALE:
            ago = "yet" if age == float("inf") else f"for {age:.0f} s"
            return False, f"the odometry has not registered a scan {ago}"
        try:
            pose = session.search().pose
        except (CancelledError, ProcessDied) as error:
            return False, f"the map process ended: {error}"
        except RemoteError as error:
            return False, str(error)
        if pose.found is None:
            kept = "; the previous localisation is kept" if pose.T_map_odom is not None else ""
            found = "ambiguous" if pose.alternatives else "not found"
            return False, f"{found}: {pose.reason}{kept}"
        x, y, z = pose.found.T_map_sensor[:3, 3]
        return True, f"sensor at x {x:.2f}, y {y:.2f}, z {z:.2f} m in {pose.found.seconds:.2f} s: {pose.reason}"

    def _save(self) -> tuple[bool, str]:
        session = self._session
        if session is None:
            return False, "no map is built: start the node with the parameter mapping.build:=true"
        if session.is_localizing:
            return False, f"the map of {self._parameters.map} was loaded and is not changed: there is nothing to save"
        if session.loaded is None:
            return False, _LOADING
        folder = str(Path(self._parameters.mapping_save_to or in_ros_home("prnet_map")).expanduser().absolute())
        try:
            answer = session.save(folder, SAVE_TIMEOUT)
        except (CancelledError, ProcessDied) as error:
            return False, f"not saved, the map process ended: {error}"
        except RemoteError as error:
            return False, f"not saved: {error}"
        self._saved = folder
        return True, f"{answer}; the parameter map:={folder} loads it at the next start"

    def _on_reinitialize(self, request: Empty.Request, response: Empty.Response) -> Empty.Response:
        session = self._session
        if session is None or not session.is_localizing:
            self._node.get_logger().error(f"reinitialize_global_localization: {_NO_MAP}")
        else:
            session.forget()
        return response

    def _on_initial_pose(self, message: PoseWithCovarianceStamped) -> None:
        session = self._session
        try:
            if session is None or not session.is_localizing:
                raise ValueError(_NO_MAP)
            pose = initial_pose_of(message, self._parameters.map_frame)
        except ValueError as error:
            self._refused, self._refusal = self._refused + 1, str(error)
            self._node.get_logger().error(f"initialpose: {error}")
            return
        session.set_initial_pose(pose.T_odom_start)
