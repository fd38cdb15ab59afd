"""The services that adapt the network to the scans just seen, while the robot drives on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from std_srvs.srv import Trigger

from prnet_core.fine_tuning.recent_scans import RecentScans
from prnet_core.odometry import ScanOdometry
from prnet_core.registration.preprocess import clean_points
from prnet_ros.node.network import LoadedNetwork
from prnet_ros.node.parameters import FineTuneParameters, NodeParameters
from prnet_ros.node.worker import Worker

if TYPE_CHECKING:
    from prnet_core.fine_tuning import FineTuneProcess, FineTuneProgress, FineTuneReport
    from prnet_core.model import PRNet

PROGRESS_PERIOD = 0.5  # s
CANCEL_TIMEOUT = 5.0  # s


class FineTuneService:
    """`~/fine_tune`, `~/cancel_fine_tune`, `~/save_weights`, and progress on `~/fine_tune_progress`.

    A run takes place in a process of its own; its callback waits for it. Better weights go to the worker, which
    takes them between two scans; `on_weights(name)` is called by then.
    """

    def __init__(
        self,
        node: Node,
        worker: Worker,
        recent_scans: RecentScans,
        loaded: LoadedNetwork,
        parameters: NodeParameters,
        on_weights: Callable[[str], None],
    ) -> None:
        self._node = node
        self._worker = worker
        self._recent_scans = recent_scans
        self._network, self._weights = loaded.network, loaded.weights
        self._card: dict = {}
        self._registration_config = parameters.registration
        self._parameters = parameters.fine_tune
        self._on_weights = on_weights
        self._lock = threading.Lock()
        self._run: FineTuneProcess | None = None
        self._is_closed = False
        self._progress: FineTuneProgress | None = None
        self._began = 0.0
        self._outcome = "never asked for"
        self._was_running = False
        self._is_over = threading.Event()  # no run, nor files of one
        self._is_over.set()

        # A second call must be heard, and refused, while the first one waits.
        both = ReentrantCallbackGroup()
        node.create_service(Trigger, "~/fine_tune", self._on_fine_tune, callback_group=both)
        others = MutuallyExclusiveCallbackGroup()
        node.create_service(Trigger, "~/cancel_fine_tune", self._on_cancel, callback_group=others)
        node.create_service(Trigger, "~/save_weights", self._on_save, callback_group=others)
        self._publisher = node.create_publisher(DiagnosticStatus, "~/fine_tune_progress", 10)
        node.create_timer(
            PROGRESS_PERIOD, self._publish_progress, others, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def apply(self, parameters: FineTuneParameters) -> None:
        """Use these parameters from the next run on."""
        self._parameters = parameters
        self._recent_scans.resize(parameters.num_scans)

    def close(self, timeout: float) -> None:
        """End a run, and wait up to so many seconds until nothing of it is left; its caller is told."""
        with self._lock:
            self._is_closed = True
            if self._run is not None:
                self._run.cancel()
        self._is_over.wait(timeout)

    def status(self) -> DiagnosticStatus:
        """How the run goes, or how the last one went."""
        with self._lock:
            is_running, progress, began = self._run is not None, self._progress, self._began
        values = {"running": str(is_running).lower(), "scans": str(len(self._recent_scans.snapshot()))}
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
                "step": str(progress.step),
                "share_done": f"{progress.share_done:.3f}",
                "loss": f"{progress.loss:.4f}",
                "error_before_deg": f"{progress.error_before_deg:.3f}",
                "error_best_deg": f"{progress.error_best_deg:.3f}",
            }
        pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
        return DiagnosticStatus(level=DiagnosticStatus.OK, name="prnet: fine-tuning", message=message, values=pairs)

    def _publish_progress(self) -> None:
        is_running = self._run is not None
        if is_running or self._was_running:
            self._publisher.publish(self.status())
        self._was_running = is_running

    def _on_fine_tune(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._fine_tune()
        self._node.get_logger().info(f"fine-tuning: {response.message}")
        return response

    def _fine_tune(self) -> tuple[bool, str]:
        """(whether better weights were found, what to tell)."""
        if self._network is None:
            return False, f"the node runs without the network (weights: {self._weights})"
        from prnet_core.fine_tuning import FineTuneCancelled, FineTuneConfig, FineTuneError, FineTuneProcess
        from prnet_core.fine_tuning.motions import motions_between

        parameters, scans = self._parameters, self._recent_scans.snapshot()
        config = FineTuneConfig(**parameters.of_core())
        if len(scans) < config.min_scans:
            missing = config.min_scans - len(scans)
            return False, (
                f"too few scans: {len(scans)} that differ enough were seen, {config.min_scans} are needed, "
                f"{missing} {'is' if missing == 1 else 'are'} missing"
            )
        run = FineTuneProcess(parameters.num_threads)
        with self._lock:
            if self._is_closed:
                return False, "the node is shutting down"
            if self._run is not None:
                return False, f"refused, a run is going on ({self._share_done()}): ~/cancel_fine_tune would end it"
            self._run, self._progress, self._began = run, None, time.monotonic()
            self._is_over.clear()
        success, outcome = False, "failed"
        try:
            report = run.run(
                self._network,
                [clean_points(scan.points, self._registration_config) for scan in scans],
                config,
                self._note,
                motions_between(scans),
            )
            success, outcome = self._conclude(run, report)
        except FineTuneCancelled:
            outcome = f"cancelled after {time.monotonic() - self._began:.0f} s: the old weights stay"
        except (FineTuneError, OSError) as error:
            outcome = f"failed, the old weights stay: {error}"
        except Exception as error:  # noqa: BLE001  who called waits for an answer
            outcome = f"failed, the old weights stay: {type(error).__name__}: {error}"
        finally:
            with self._lock:
                self._outcome = outcome
                if self._run in (run, None):  # not when the next one has begun since it was too late to cancel this one
                    self._run = None
                    self._is_over.set()
        return success, outcome

    def _share_done(self) -> str:
        return f"{100 * self._progress.share_done:.0f} %" if self._progress else "starting"

    def _note(self, progress: FineTuneProgress) -> None:
        self._progress = progress

    def _conclude(self, run: FineTuneProcess, report: FineTuneReport) -> tuple[bool, str]:
        with self._lock:
            run.raise_if_cancelled()
            self._run = None  # too late to cancel
        if not report.improved:
            return False, report.summary()
        self._network = report.network
        self._weights = f"{self._weights.removesuffix(', fine-tuned')}, fine-tuned"
        self._card = {"fine_tuned": report.to_dict(), "weights": self._weights}
        name = self._weights

        def swap(odometry: ScanOdometry) -> None:
            odometry.registration.network = report.network
            self._on_weights(name)

        self._worker.between_scans(swap)
        return True, f"{report.summary()}. ~/save_weights keeps them"

    def _on_cancel(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            if self._run is None:
                response.success, response.message = False, "no run is going on"
            else:
                self._run.cancel()
                response.success, response.message = True, "the run is cancelled, the old weights stay"
        if response.success:
            self._is_over.wait(CANCEL_TIMEOUT)  # so that the next run can be asked for
        return response

    def _on_save(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._save(self._network)
        return response

    def _save(self, network: PRNet | None) -> tuple[bool, str]:
        if network is None:
            return False, f"there are no weights to save (weights: {self._weights})"
        from prnet_core.model import save_network

        path = Path(self._parameters.save_to or default_path()).expanduser().absolute()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            save_network(network, path, self._card or {"weights": self._weights})
        except Exception as error:  # noqa: BLE001  who called waits for an answer
            return False, f"not saved: {error}"
        unchanged = "" if self._card else ", as they were at the start: no run has changed them"
        return True, f"saved to {path}{unchanged}; the parameter weights:={path} loads them at the next start"


def default_path() -> str:
    """Where weights go when `fine_tune.save_to` is empty: in ROS_HOME, which is ~/.ros unless set."""
    return os.path.join(os.environ.get("ROS_HOME") or "~/.ros", "prnet_fine_tuned.safetensors")
