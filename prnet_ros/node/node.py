"""The node: lifecycle and callbacks."""

from __future__ import annotations

import functools
import platform
import sys
import time
import traceback
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_policy_name_from_kind
from sensor_msgs.msg import PointCloud2
from std_srvs.srv import Trigger

from prnet_core.io.pointcloud2 import CloudError, read_cloud, seconds
from prnet_ros.node.compat import ClockType, SubscriptionEventCallbacks, answer_every_transition, count_publishers
from prnet_ros.node.counters import Counters, GapDetector
from prnet_ros.node.diagnostics import NodeState, status_of
from prnet_ros.node.fine_tune_service import FineTuneService
from prnet_ros.node.map_services import MapServices
from prnet_ros.node.messages import initial_pose_of
from prnet_ros.node.odometry_session import OdometrySession
from prnet_ros.node.parameters import NodeParameters, declare_parameters, on_change, read_parameters, unknown_parameters
from prnet_ros.node.registration_process import LoadedNetwork
from prnet_ros.node.scan_queue import Scan

_NOTHING_LOADED = LoadedNetwork(False, "", "")
_Transition = Callable[["PRNetNode", LifecycleState], TransitionCallbackReturn]


def _logged(transition: _Transition) -> _Transition:
    """rclpy does not report the exceptions of these callbacks."""

    @functools.wraps(transition)
    def run(node: PRNetNode, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except Exception:
            node.get_logger().error(f"{transition.__name__} failed:\n{traceback.format_exc()}")
            raise

    return run


class PRNetNode(LifecycleNode):
    """Registers each scan of `points` and publishes the odometry.

    For a single-threaded executor: callbacks only convert, count and hand over, and the services that take long are
    coroutines. The registration is in a process of its own; it exists from configure to cleanup, and `points` is
    subscribed to while the node is active and the process is ready. Raises ParameterError when a parameter has a
    value that it cannot have.
    """

    def __init__(self) -> None:
        super().__init__("prnet")
        answer_every_transition(self)
        declare_parameters(self)
        self._settings = read_parameters(self)
        self._counters = Counters()
        self._reported = self._counters.copy()
        self._gaps = GapDetector()
        self._last_data = time.monotonic()
        self._session: OdometrySession | None = None
        self._subscription = None
        self._is_active = self._is_paused = False
        self._topic = self.resolve_topic_name("points")
        self._fine_tuning = FineTuneService(self, self._settings.fine_tune)
        self._map = MapServices(self, self._settings)
        on_change(self, self._apply)

        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_timer(1.0, self._report, clock=Clock(clock_type=ClockType.STEADY_TIME))
        for name, callback in (("reset", self._on_reset), ("pause", self._on_pause), ("resume", self._on_resume)):
            self.create_service(Trigger, f"~/{name}", callback)
        self.create_subscription(PoseWithCovarianceStamped, "~/reset_to_pose", self._on_reset_to_pose, 1)
        self._process_is_ready = self.create_guard_condition(self._subscribe_when_ready)
        backwards = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump_handler = self.get_clock().create_jump_callback(backwards, post_callback=self._on_clock_jump)
        self._log_setup()

    @property
    def autostart(self) -> bool:
        """Whether the node is to be configured and activated at once."""
        return self._settings.autostart

    def close(self, timeout: float) -> None:
        """End fine-tuning and the registration process; waits up to `timeout` seconds for each."""
        self._fine_tuning.close(timeout=0.0)
        if self._session is not None:
            self._session.close(timeout)
        self._fine_tuning.close(timeout)

    # --- lifecycle ---

    @_logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create the publishers and start the registration process; does not wait until it is ready."""
        self._is_paused = False
        self._session = OdometrySession(self, self._settings, self._counters, self._process_is_ready.trigger)
        self._fine_tuning.use(self._session)
        self._map.use(self._session.map)
        self._session.start()
        return TransitionCallbackReturn.SUCCESS

    @_logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take scans from now on, or as soon as the registration process is ready."""
        self._is_active, self._last_data = True, time.monotonic()
        self._subscribe_when_ready()
        return TransitionCallbackReturn.SUCCESS

    @_logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop taking scans. The trajectory continues with the next activation."""
        self._is_active = False
        if self._subscription is not None:
            self.destroy_subscription(self._subscription)
            self._subscription = None
        return TransitionCallbackReturn.SUCCESS

    @_logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the registration process and destroy the publishers."""
        self._fine_tuning.use(None)
        self._map.use(None)
        self._session.close(timeout=1.0)
        self._session = None
        return TransitionCallbackReturn.SUCCESS

    @_logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate and clean up, if that has not been done."""
        self.on_deactivate(state)
        return self.on_cleanup(state) if self._session is not None else TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to unconfigured after a transition that failed."""
        return self.on_shutdown(state)

    # --- the executor's thread ---

    def _subscribe_when_ready(self) -> None:
        is_ready = self._session is not None and self._session.loaded is not None
        if not (self._is_active and is_ready) or self._subscription is not None:
            return
        self._last_data = time.monotonic()
        # A depth of 20 although only the latest scan is used: on a busy machine the callback may run a second late; it
        # then empties the queue within milliseconds.
        qos = QoSProfile(depth=20, reliability=ReliabilityPolicy[self._settings.reliability.upper()])
        self._subscription = self.create_subscription(
            PointCloud2,
            "points",
            self._on_cloud,
            qos,
            callback_group=MutuallyExclusiveCallbackGroup(),
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=self._on_incompatible_qos),
        )

    def _on_cloud(self, message: PointCloud2) -> None:
        received = self._last_data = time.monotonic()
        self._counters.count("received")
        if self._is_paused:
            self._counters.count("paused")
            return
        stamp = message.header.stamp
        missing = self._gaps.missing_before(seconds(stamp))
        if missing:
            self._counters.count("missing_by_stamps", number=missing)
        pipeline = self._session.pipeline
        try:
            cloud = read_cloud(message)
        except CloudError as error:
            pipeline.count_bad_cloud(error.kind, str(error))
            return
        except Exception as error:  # no message of a driver may end the node
            pipeline.on_error(error)
            return
        frame_id = message.header.frame_id.lstrip("/")  # tf2 has no leading slashes any more
        if self._session.queue.put(Scan(message, cloud, stamp, frame_id, received)):
            self._counters.count("dropped")

    def _on_incompatible_qos(self, event) -> None:
        policy = qos_policy_name_from_kind(event.last_policy_kind)
        reason = f"a publisher's QoS does not fit the subscription's ({policy})"
        if self._counters.count("incompatible_qos", reason):
            self.get_logger().warning(f"{self._topic}: {reason}")

    def _on_clock_jump(self, jump: TimeJump) -> None:
        """Scans from before the jump have stamps near the old time of the clock; those from after it are kept."""
        gap = -jump.delta.nanoseconds * 1e-9
        middle = self.get_clock().now().nanoseconds * 1e-9 + gap / 2
        if self._session is not None:
            self._session.restart(f"the clock went back by {gap:.3f} s", newer_than=middle)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._session is not None:
            self._session.restart("requested by ~/reset")
        response.success, response.message = True, "the next scan starts a new trajectory"
        return response

    def _on_reset_to_pose(self, message: PoseWithCovarianceStamped) -> None:
        """The next scan starts a trajectory at this pose of the base in odom_frame."""
        if self._session is None:
            self.get_logger().error("~/reset_to_pose: the node is not configured")
            return
        try:
            pose = initial_pose_of(message, self._settings.odom_frame)
        except ValueError as error:
            self.get_logger().error(f"~/reset_to_pose: {error}")
            return
        self._session.outputs.initial_pose = pose
        self._session.restart("requested by ~/reset_to_pose")

    def _on_pause(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._is_paused = True
        response.success, response.message = True, "scans are skipped until ~/resume"
        return response

    def _on_resume(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._is_paused = False
        response.success, response.message = True, "the trajectory continues with the next scan"
        return response

    def _apply(self, parameters: NodeParameters) -> None:
        self._settings = parameters
        self._fine_tuning.apply(parameters.fine_tune)
        self._map.apply(parameters)
        if self._session is not None:
            self._session.apply(parameters)

    def _report(self) -> None:
        counts = self._counters.copy()
        state = self._state()
        statuses = [status_of(counts, self._reported, state), self._fine_tuning.status(), self._map.status()]
        report = DiagnosticArray(status=[status for status in statuses if status is not None])
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)
        self._reported = counts
        if self._session is not None:
            self._session.outputs.publish_trajectory()

    def _state(self) -> NodeState:
        session, subscription = self._session, self._subscription
        loaded = _NOTHING_LOADED if session is None else session.loaded or _NOTHING_LOADED
        if not self._is_active:
            activity = "inactive"
        elif subscription is None:
            activity = "loading"
        else:
            activity = "paused" if self._is_paused else "active"
        details = {"device": loaded.device, "weights": loaded.weights}
        if session is not None and self._settings.guess_frame:
            details["guess_frame"] = session.guess.problem or self._settings.guess_frame
        return NodeState(
            node_name=self.get_fully_qualified_name(),
            topic=self._topic,
            sensor_frame="" if session is None else session.pipeline.sensor_frame,
            activity=activity,
            num_publishers=0 if subscription is None else count_publishers(self, subscription),
            seconds_without_data=time.monotonic() - self._last_data,
            no_data_timeout=self._settings.no_data_timeout,
            missing_extrinsics="" if session is None else session.extrinsics.missing,
            setup_problem=loaded.problem,
            details=details,
        )

    def _log_setup(self) -> None:
        logger, parameters = self.get_logger(), self._settings
        logger.info(f"{sys.executable} (Python {platform.python_version()})")
        logger.info(
            f"{parameters.reliability} on {self._topic}; "
            f"{parameters.odom_frame} -> {parameters.base_frame or 'the frame of the clouds'}; "
            f"{'map ' + parameters.map if parameters.map else 'no map'}; "
            f"weights {parameters.weights or 'packaged'}, {parameters.num_threads} threads"
        )
        unknown = unknown_parameters(self)
        if unknown:
            logger.warning(f"unknown parameters without effect: {', '.join(unknown)}")
