"""The objects that exist from configure to cleanup: publishers, the registration process and its thread."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from prnet_ros.node.counters import Counters
from prnet_ros.node.extrinsics import Extrinsics
from prnet_ros.node.guess import GuessFrame
from prnet_ros.node.map_session import MapSession
from prnet_ros.node.outputs import Outputs
from prnet_ros.node.parameters import NodeParameters
from prnet_ros.node.pipeline import ScanPipeline
from prnet_ros.node.registration_process import LoadedNetwork, RegistrationProcess, RegistrationSetup
from prnet_ros.node.scan_queue import ScanQueue
from prnet_ros.node.worker import Worker

if TYPE_CHECKING:
    from rclpy.node import Node


class OdometrySession:
    """The publishers, the registration process and the thread between them.

    on_loaded(): called in the worker's thread each time a registration process has become ready.
    """

    def __init__(
        self, node: Node, parameters: NodeParameters, counters: Counters, on_loaded: Callable[[], None]
    ) -> None:
        self._node = node
        self._on_loaded = on_loaded
        self.loaded: LoadedNetwork | None = None  # what the registration process uses; None until it was ready
        self._tuned: tuple[str, str] | None = None  # file and name of the weights that replace the loaded ones
        self._tuned_folder: str | None = None
        self.queue = ScanQueue()
        self.extrinsics = Extrinsics(node, parameters.base_frame)
        self.guess = GuessFrame(node, parameters.guess_frame)
        self.outputs = Outputs(node, parameters.odom_frame, parameters.base_frame)
        has_map = parameters.map or parameters.mapping_build
        self.map = MapSession(node, parameters) if has_map else None
        self.pipeline = ScanPipeline(
            counters, self.queue, self.extrinsics, self.guess, self.outputs, self.map, node.get_logger()
        )
        setup = RegistrationSetup(
            parameters.weights, parameters.device, parameters.num_threads,
            parameters.registration, parameters.odometry, parameters.fine_tune.num_scans,
        )  # fmt: skip
        self.worker = Worker(
            lambda: RegistrationProcess(setup), self.queue, self.pipeline.process,
            self._on_ready, self.pipeline.on_died, self._on_error,
        )  # fmt: skip
        self.apply(parameters)

    def start(self) -> None:
        """Start the processes; returns at once."""
        self.worker.start()
        if self.map is not None:
            self.map.worker.start()

    def close(self, timeout: float) -> bool:
        """End the processes and free everything; False when the worker takes over `timeout` seconds."""
        is_over = self.worker.stop(timeout)
        if self.map is not None:
            is_over = self.map.close(timeout) and is_over
        if is_over:
            self.extrinsics.close()
            self.guess.close()
            self.outputs.close()
        if self._tuned_folder is not None:
            shutil.rmtree(self._tuned_folder, ignore_errors=True)
        return is_over

    def apply(self, parameters: NodeParameters) -> None:
        """Apply the parameters that may change at run time."""
        self.outputs.publish_tf, self.outputs.invert_tf = parameters.publish_tf, parameters.invert_tf
        self.pipeline.publish_weak, self.pipeline.publish_lost = parameters.publish_weak, parameters.publish_lost
        if self.map is not None:
            self.map.publish_tf = parameters.publish_map_tf
        num_scans = parameters.fine_tune.num_scans
        self.worker.between_scans(lambda registration: registration.call("resize_recent_scans", num_scans))

    def restart(self, reason: str, newer_than: float = float("-inf")) -> None:
        """Start a new trajectory with the next scan, unless the present one is not newer than that stamp (s)."""
        self.pipeline.restart(reason, newer_than)
        self.worker.between_scans(lambda registration: self.pipeline.reset(registration, reason, newer_than))

    def use_weights(self, path: Path, name: str) -> None:
        """Register with the weights of this file, which is moved away, from the next scan on; blocks until then.

        Raises RemoteError, ProcessDied.
        """
        self._tuned_folder = self._tuned_folder or tempfile.mkdtemp(prefix="prnet_weights_")
        kept = str(shutil.move(path, Path(self._tuned_folder, path.name)))

        def swap(registration: RegistrationProcess) -> None:
            registration.call("use_weights", kept)
            self._tuned = kept, name
            self.loaded = replace(self.loaded, weights=name)

        self.worker.between_scans(swap).result()

    def _on_ready(self, registration: RegistrationProcess, loaded: LoadedNetwork) -> None:
        if self._tuned is not None:
            path, name = self._tuned
            registration.call("use_weights", path)
            loaded = replace(loaded, weights=name)
        self.loaded = loaded
        logger = self._node.get_logger()
        logger.info(f"ready: weights {loaded.weights}, device {loaded.device}")
        if loaded.problem:
            logger.error(loaded.problem)
        self._on_loaded()

    def _on_error(self, error: Exception) -> None:
        if self._node.context.ok():  # publishing fails once the context is shut down
            self.pipeline.on_error(error)
