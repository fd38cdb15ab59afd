"""The services that fine-tune the network on the latest scans while the robot drives."""

import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.node import Node
from std_srvs.srv import Trigger

from prnet_core.fine_tuning import FineTuneCancelled, FineTuneError, FineTuneProcess, FineTuneProgress, FineTuneReport
from prnet_core.fine_tuning.inputs import TUNED
from prnet_ros.node.compat import ClockType
from prnet_ros.node.diagnostics import make_status
from prnet_ros.node.odometry_session import OdometrySession
from prnet_ros.node.parameters import FineTuneParameters, in_ros_home
from prnet_ros.node.threaded_service import in_a_thread

PROGRESS_PERIOD = 0.5  # s
CANCEL_TIMEOUT = 5.0  # s
_NOT_READY = "the node is not configured, or still loading"


class FineTuneService:
    """`~/fine_tune`, `~/cancel_fine_tune`, `~/save_weights`, and progress on `~/fine_tune_progress`.

    Each call is served by a thread of its own; its callback is a coroutine that waits for the thread without blocking
    the executor. A run has a process of its own; better weights go to the registration process, which loads them
    between two scans.
    """

    def __init__(self, node: Node, parameters: FineTuneParameters) -> None:
        self._node = node
        self._session: OdometrySession | None = None
        self._card: dict = {}
        self._parameters = parameters
        self._lock = threading.Lock()
        self._run: FineTuneProcess | None = None
        self._is_closed = False
        self._progress: FineTuneProgress | None = None
        self._began = 0.0
        self._outcome = "never requested"
        self._was_running = False
        self._is_over = threading.Event()  # no run, nor files of one
        self._is_over.set()
        self._num_calls = 0  # that wait for an answer; of the executor's thread

        # In an exclusive group, a coroutine that waits would block all others of the group.
        for name, function in (
            ("fine_tune", self._fine_tune),
            ("cancel_fine_tune", self._cancel),
            ("save_weights", self._save),
        ):
            callback = self._counted(name, function)
            node.create_service(Trigger, f"~/{name}", callback, callback_group=ReentrantCallbackGroup())
        self._publisher = node.create_publisher(DiagnosticStatus, "~/fine_tune_progress", 10)
        node.create_timer(
            PROGRESS_PERIOD, self._publish_progress, MutuallyExclusiveCallbackGroup(),
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )  # fmt: skip

    def use(self, session: OdometrySession | None) -> None:
        """Use this session; None: no session. A run is then cancelled."""
        self._session, self._card = session, {}
        if session is None and self._run is not None:
            self._run.cancel()

    def apply(self, parameters: FineTuneParameters) -> None:
        """Use these parameters from the next run on."""
        self._parameters = parameters

    def close(self, timeout: float) -> None:
        """End a run, and wait up to `timeout` seconds until nothing of it is left and all calls are answered."""
        deadline = time.monotonic() + timeout
        with self._lock:
            self._is_closed = True
            if self._run is not None:
                self._run.cancel()
        self._is_over.wait(timeout)
        while self._num_calls and time.monotonic() < deadline:
            time.sleep(0.01)

    def status(self) -> DiagnosticStatus:
        """The state of the run, or the result of the last one."""
        with self._lock:
            is_running, progress, began = not self._is_over.is_set(), self._progress, self._began
        values: dict = {"running": str(is_running).lower(), "scans": self._num_scans()}
        if not is_running:
            message = self._outcome
        elif progress is None:
            message = f"starting, {time.monotonic() - began:.0f} s"
        else:
            message = (
                f"step {progress.step} of at most {progress.num_steps}, {time.monotonic() - began:.0f} s, "
                f"held-out error {progress.error_before_deg:.2f} -> {progress.error_best_deg:.2f} deg"
            )
            values |= {
                "step": progress.step,
                "share_done": f"{progress.share_done:.3f}",
                "loss": f"{progress.loss:.4f}",
                "error_before_deg": f"{progress.error_before_deg:.3f}",
                "error_best_deg": f"{progress.error_best_deg:.3f}",
            }
        name = f"{self._node.get_fully_qualified_name()}: fine-tuning"
        return make_status(name, DiagnosticStatus.OK, message, values)

    def _counted(self, name: str, function: Callable[[], tuple[bool, str]]) -> Callable:
        """`in_a_thread`, with the calls that wait for an answer counted."""
        callback = in_a_thread(self._node, name, function)

        async def counted(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            self._num_calls += 1
            try:
                return await callback(request, response)
            finally:
                self._num_calls -= 1

        return counted

    def _num_scans(self) -> int:
        return 0 if self._session is None else self._session.pipeline.num_recent_scans

    def _publish_progress(self) -> None:
        is_running = not self._is_over.is_set()  # when it is over, the outcome is set
        if is_running or self._was_running:
            self._publisher.publish(self.status())
        self._was_running = is_running

    def _fine_tune(self) -> tuple[bool, str]:
        """(whether better weights were found, the answer)."""
        session, parameters = self._session, self._parameters
        if session is None or session.loaded is None:
            return False, _NOT_READY
        if not session.loaded.has_network:
            return False, f"the node runs without the network (weights: {session.loaded.weights})"
        config = parameters.run
        num_scans = session.worker.between_scans(lambda process: process.call("num_recent_scans")).result()
        if num_scans < config.min_scans:
            missing = config.min_scans - num_scans
            return False, (
                f"too few scans: {num_scans} that differ enough were seen, {config.min_scans} are needed, "
                f"{missing} {'is' if missing == 1 else 'are'} missing"
            )
        run = FineTuneProcess(parameters.num_threads)
        with self._lock:
            if self._is_closed:
                return False, "the node is shutting down"
            if self._run is not None:
                return False, f"refused: a run is in progress ({self._share_done()}); ~/cancel_fine_tune ends it"
            self._run, self._progress, self._began = run, None, time.monotonic()
            self._is_over.clear()
        success, outcome = False, "failed"
        try:
            with tempfile.TemporaryDirectory(prefix="prnet_fine_tune_") as name:
                folder = Path(name)
                session.worker.between_scans(lambda process: process.call("prepare_fine_tuning", name)).result()
                report = run.run_in(folder, session.loaded.device, config, self._note, self._began)
                success, outcome = self._conclude(session, run, report, folder / TUNED)
        except (FineTuneCancelled, CancelledError):
            outcome = f"cancelled after {time.monotonic() - self._began:.0f} s: the old weights stay"
        except (FineTuneError, OSError) as error:
            outcome = f"failed, the old weights stay: {error}"
        except Exception as error:  # the caller waits for an answer
            outcome = f"failed, the old weights stay: {type(error).__name__}: {error}"
        finally:
            with self._lock:
                self._outcome = outcome
                if self._run in (run, None):  # else the next run has begun, after it was too late to cancel this one
                    self._run = None
                    self._is_over.set()
        return success, outcome

    def _share_done(self) -> str:
        return f"{100 * self._progress.share_done:.0f} %" if self._progress else "starting"

    def _note(self, progress: FineTuneProgress) -> None:
        self._progress = progress

    def _conclude(
        self, session: OdometrySession, run: FineTuneProcess, report: FineTuneReport, tuned: Path
    ) -> tuple[bool, str]:
        with self._lock:
            run.raise_if_cancelled()
            self._run = None  # too late to cancel
        if not report.improved:
            return False, report.summary()
        name = f"{session.loaded.weights.removesuffix(', fine-tuned')}, fine-tuned"
        session.use_weights(tuned, name)
        self._card = {"fine_tuned": report.to_dict(), "weights": name}
        return True, f"{report.summary()}. ~/save_weights keeps them"

    def _cancel(self) -> tuple[bool, str]:
        with self._lock:
            if self._run is None:
                return False, "no run is in progress"
            self._run.cancel()
        self._is_over.wait(CANCEL_TIMEOUT)  # so that the next run can be requested
        return True, "the run is cancelled, the old weights stay"

    def _save(self) -> tuple[bool, str]:
        session = self._session
        if session is None or session.loaded is None:
            return False, _NOT_READY
        if not session.loaded.has_network:
            return False, f"there are no weights to save (weights: {session.loaded.weights})"
        path = Path(self._parameters.save_to or in_ros_home("prnet_fine_tuned.safetensors")).expanduser().absolute()
        card = self._card or {"weights": session.loaded.weights}
        try:
            session.worker.between_scans(lambda process: process.call("save_weights", str(path), card)).result()
        except Exception as error:  # the caller waits for an answer
            return False, f"not saved: {error}"
        unchanged = "" if self._card else ", as they were at the start: no run has changed them"
        return True, f"saved to {path}{unchanged}; the parameter weights:={path} loads them at the next start"
