"""The node's side of the registration process (or the map process): start, calls, supervision, end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from prnet_core.odometry import OdometryConfig, OdometryUpdate
from prnet_core.registration import RegistrationConfig
from prnet_ros.node.channel import Channel, ChannelClosed

if TYPE_CHECKING:
    from prnet_ros.node.map_process import MapSetup

LOADING_TIMEOUT = 300.0  # s, for the imports and the network on a machine that is busy or has a slow disk
ANSWER_TIMEOUT = 60.0  # s; a process that takes longer for one scan does not respond any more
_KEPT_MEMORY = str(256 << 20)  # bytes
_KILL_TIMEOUT = 1.0  # s
_PROGRAM = "from prnet_ros.node.registration_main import main; main()"


class ProcessDied(Exception):
    """The process ended, or did not answer and was ended."""


class RemoteError(Exception):
    """An exception in the process. kind: its class; the text is its own; traceback: of the process."""

    def __init__(self, kind: str, text: str, traceback: str) -> None:
        super().__init__(text)
        self.kind, self.traceback = kind, traceback


@dataclass(frozen=True)
class RegistrationSetup:
    """Settings that the process receives at its start. The fields are those of NodeParameters."""

    title: ClassVar[str] = "the registration process"
    weights: str
    device: str
    num_threads: int
    registration: RegistrationConfig
    odometry: OdometryConfig
    num_recent_scans: int

    def make_server(self):
        """The object whose methods the process serves."""
        from prnet_ros.node.registration_server import RegistrationServer

        return RegistrationServer(self)


@dataclass(frozen=True)
class LoadedNetwork:
    """The network that the process has loaded. problem: what it could not load, as text; empty without a problem."""

    has_network: bool
    device: str
    weights: str
    problem: str = ""


@dataclass(frozen=True)
class RegisteredScan:
    """Answer of the process to a scan.

    update: without its sweep. points: (M, 3) float32, the deskewed scan in the sensor's frame, or None when it was not
    wanted. rows: (M,) int32, which points of the scan these are; None: all of them. num_recent_scans: kept for
    fine-tuning before this one.
    """

    update: OdometryUpdate
    points: np.ndarray | None
    rows: np.ndarray | None
    num_recent_scans: int


class RegistrationProcess:
    """One process with one server: an odometry, or a map. small_gicp holds the interpreter lock for all of its time in
    C++, and PyTorch takes seconds to import: neither may be in the process of the executor.

    For one thread, which must live as long as the process: Linux ends the process with the thread that started it.
    `kill` is for any thread.
    """

    def __init__(self, setup: RegistrationSetup | MapSetup) -> None:
        """Start the process with setup.make_server(); returns at once."""
        self.title = setup.title
        self._channel, descriptors = Channel.pair()
        # Read when numpy and torch are imported. Threads that spin while they wait block the cores for other processes.
        # Memory of large arrays is kept: allocating it again takes 8 ms per scan of 120,000 points.
        defaults = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}
        defaults |= {"MALLOC_MMAP_THRESHOLD_": _KEPT_MEMORY, "MALLOC_TRIM_THRESHOLD_": _KEPT_MEMORY}
        environment = defaults | os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(os.getpid()), *map(str, descriptors)],
            stdin=subprocess.DEVNULL, env=environment, pass_fds=descriptors,
        )  # fmt: skip
        for descriptor in descriptors:
            os.close(descriptor)
        with contextlib.suppress(ChannelClosed):  # `wait_until_ready` raises then
            self._channel.send(setup)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self) -> Any:
        """Wait for the server and return what it has loaded. Raises ProcessDied, RemoteError."""
        return self._receive(LOADING_TIMEOUT)

    def call(self, name: str, *arguments: object, timeout: float = ANSWER_TIMEOUT) -> Any:
        """The value of a method of the server. Raises ProcessDied, RemoteError."""
        try:
            self._channel.send((name, arguments))
        except ChannelClosed as error:
            raise self._died() from error
        return self._receive(timeout)

    def kill(self) -> None:
        """End the process now; a `call` under way raises ProcessDied."""
        self._process.kill()

    def close(self) -> None:
        """End the process and free what belongs to it."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # on a busy machine it ends later
            self._process.wait(_KILL_TIMEOUT)
        self._channel.close()

    def _receive(self, timeout: float) -> Any:
        try:
            value, error = self._channel.receive(timeout)
        except ChannelClosed as closed:
            raise self._died() from closed
        except TimeoutError as late:
            self.kill()
            raise ProcessDied(f"{self.title} gave no answer within {timeout:g} s") from late
        if error is not None:
            raise RemoteError(*error)
        return value

    def _died(self) -> ProcessDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_TIMEOUT)
        return ProcessDied(f"{self.title} ended with {self._process.returncode}")
