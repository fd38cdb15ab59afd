"""A robot around the node under test: a room, a sensor that moves in it, and subscriptions to all outputs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from prnet_core.geometry import se3

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60.0  # s; generous, for a machine where everything else runs too


class Room:
    """Points on the walls of a room of 10 x 8 x 3 m and of a few boxes in it."""

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        boxes = [((0, 0, 1.5), (10, 8, 3)), ((3, 1, 0.5), (1, 2, 1))]  # centre, size
        boxes += [((-2, 2, 1), (0.8, 0.8, 2)), ((1, -3, 0.4), (3, 1, 0.8))]
        self._surface = np.concatenate([self._box(rng, *map(np.array, box)) for box in boxes])
        self._rng = rng

    @staticmethod
    def _box(rng: np.random.Generator, centre: np.ndarray, size: np.ndarray) -> np.ndarray:
        number = int(60 * (size[0] * size[1] + size[1] * size[2] + size[0] * size[2]))
        points = rng.uniform(-0.5, 0.5, (number, 3))
        face = rng.integers(3, size=number)
        points[np.arange(number), face] = np.sign(points[np.arange(number), face]) * 0.5
        return points * size + centre

    def scan(self, T_world_sensor: np.ndarray, number: int = 4000) -> np.ndarray:
        """(number, 3) points as the sensor sees them, with 5 mm of noise."""
        seen = self._rng.choice(len(self._surface), number)
        points = se3.apply(se3.invert(T_world_sensor), self._surface[seen])
        return points + self._rng.normal(scale=0.005, size=points.shape)


def walk(number: int) -> list[np.ndarray]:
    """Poses T_world_sensor of a walk in a curve: 8 cm and 2 degrees a step."""
    step = se3.exp(np.array([0.08, 0.0, 0.0, 0.0, 0.0, np.deg2rad(2.0)]))
    poses = [se3.make_transform(np.eye(3), [-1.0, -0.5, 0.8])]
    for _ in range(number - 1):
        poses.append(poses[-1] @ step)
    return poses


class Robot:
    """Publishes scans to a node that runs as a process, and collects what it publishes."""

    def __init__(self, domain: int, tmp_path: Path) -> None:
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import PointCloud2
        from tf2_msgs.msg import TFMessage

        self.context = rclpy.Context()
        self.context.init(domain_id=domain)
        self.ros = rclpy.create_node("robot", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.ros)
        self._log_path = tmp_path / "node.log"
        self._changes = tmp_path / "changes"
        self.process: subprocess.Popen | None = None
        self.room = Room()

        self.transforms, self.odometry, self.statuses, self.fine_tune_statuses = [], [], [], []
        self.map_statuses = []
        self.clouds = self.ros.create_publisher(PointCloud2, "points", 10)
        self._subscriptions = [
            self.ros.create_subscription(TFMessage, "/tf", lambda m: self.transforms.extend(m.transforms), 100),
            self.ros.create_subscription(Odometry, "odometry", self.odometry.append, 100),
            self.ros.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10),
        ]

    def _on_diagnostics(self, message) -> None:
        odometry, fine_tuning, *of_map = message.status
        assert (odometry.name, fine_tuning.name) == ("/prnet: odometry", "/prnet: fine-tuning")
        self.map_statuses.extend(of_map)
        self.statuses.append(odometry)
        self.fine_tune_statuses.append(fine_tuning)

    def change_core(self, program: str) -> None:
        """Have `program` run at the start of the node's registration process and map process."""
        self._changes.mkdir()
        is_theirs = "any('registration_main' in argument for argument in sys.orig_argv)"
        body = "".join(f"    {line}\n" for line in (program or "pass").splitlines())
        (self._changes / "sitecustomize.py").write_text(f"import sys\nif {is_theirs}:\n{body}")

    def start_node(
        self,
        *arguments: str,
        program: tuple[str, ...] = ("-m", "prnet_ros.node.main"),
        wait: bool = True,
        **parameters: object,
    ) -> None:
        """Start the node and, if so wanted, wait until every publisher and subscription has matched, at both ends.

        The node's end is in its diagnostics: what is published before the reader has matched too is lost.
        parameters: with __ for a dot. No network unless `weights` is given: the seconds that it takes to load are
        spent in the tests of the network. program: what Python runs as the node.
        """
        settings = {"weights": "none", **{name.replace("__", "."): value for name, value in parameters.items()}}
        if not self._changes.exists():
            self.change_core("")
        command = [sys.executable, *program, "--ros-args", *arguments]
        for name, value in settings.items():
            command += ["-p", f"{name}:={str(value).lower() if isinstance(value, bool) else value}"]
        paths = [str(self._changes), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        with self._log_path.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=environment)
        if wait:
            self.wait_until(self.is_matched, "the node to match")

    def is_matched(self) -> bool:
        """Whether the node takes scans, and both ends know of the other's publishers and subscriptions."""
        if self.process.poll() is not None:
            pytest.fail(f"the node ended with {self.process.returncode}:\n{self.log()}")
        if not self.statuses or not all(s.get_publisher_count() > 0 for s in self._subscriptions):
            return False
        values = self.values()
        if values["topic"] != self.clouds.topic_name:
            return values["activity"] != "loading"
        return self.clouds.get_subscription_count() > 0 and int(values["publishers"]) > 0

    def log(self) -> str:
        return self._log_path.read_text()

    def spin(self, seconds: float = 0.02) -> None:
        self._executor.spin_once(timeout_sec=seconds)

    def wait_until(self, condition: Callable[[], bool], what: str, timeout: float = TIMEOUT) -> None:
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                status = f"{self.status().message} {self.values()}" if self.statuses else "none"
                pytest.fail(f"waited {timeout} s for {what}; diagnostics: {status}; log of the node:\n{self.log()}")
            self.spin()

    def publish(self, points: np.ndarray, stamp: float, frame_id: str = "lidar", change=None) -> None:
        """Publish a scan; `change(message)` spoils it."""
        from builtin_interfaces.msg import Time

        from prnet_ros.node.messages import cloud_message

        nanoseconds = round(stamp * 1e9)
        message = cloud_message(points, Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9), frame_id)
        if change is not None:
            change(message)
        self.clouds.publish(message)

    def publish_and_wait(self, T_world_sensor: np.ndarray, stamp: float, **kwargs: object) -> None:
        """Publish what the sensor sees and wait for the odometry of it."""
        self.publish(self.room.scan(T_world_sensor), stamp, **kwargs)
        self.wait_for_odometry(stamp)

    def wait_for_odometry(self, stamp: float) -> None:
        """Wait for a message of odometry, and of TF where there is any, with this stamp."""
        self.wait_until(
            lambda: bool(self.odometry) and abs(stamp_of(self.odometry[-1]) - stamp) < 1e-6,
            f"the odometry of stamp {stamp}",
        )

    def status(self):
        """The newest diagnostic status."""
        return self.statuses[-1]

    def values(self) -> dict[str, str]:
        """The values of the newest diagnostic status."""
        return {value.key: value.value for value in self.status().values}

    def wait_for_status(self, condition: Callable[[dict[str, str], str], bool], what: str) -> None:
        """Wait for a status after now with `condition(values, message)`."""
        seen = len(self.statuses)
        self.wait_until(
            lambda: (
                len(self.statuses) > seen
                and any(
                    condition({v.key: v.value for v in status.values}, status.message)
                    for status in self.statuses[seen:]
                )
            ),
            what,
        )

    def wait_for_count(self, name: str, number: int) -> None:
        """Wait for a counter of the diagnostics to reach a number."""
        self.wait_until(
            lambda: bool(self.statuses) and int(self.values().get(name, 0)) >= number, f"{name} to reach {number}"
        )

    def stop_node(self, number: int = signal.SIGINT, timeout: float = TIMEOUT) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def close(self) -> None:
        if self.process is not None:
            end(self.process)
        self._executor.shutdown()
        self.ros.destroy_node()
        self.context.try_shutdown()


def end(process: subprocess.Popen) -> None:
    """By SIGINT, and killed where that does not help: a killed process leaves files in /dev/shm."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def stamp_of(message) -> float:
    """Header stamp in seconds."""
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


@pytest.fixture
def robot(ros_domain: int, tmp_path: Path) -> Iterator[Robot]:
    """A robot in a ROS domain of its own; its node is not started yet."""
    pytest.importorskip("tf2_ros", reason="tf2_ros is not installed")
    robot = Robot(ros_domain, tmp_path)
    yield robot
    robot.close()


@pytest.fixture
def walk_poses() -> Callable[[int], list[np.ndarray]]:
    """`walk`, for test modules."""
    return walk
