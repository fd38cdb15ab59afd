"""The registration process: the node when it ends, and the process when the node ends."""

import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import PERIOD, SLOW_CORE, START, assert_close, pose_matrix, stamp_of  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402


def child_of(robot):
    children = subprocess.run(
        ["pgrep", "-P", str(robot.process.pid), "-f", "registration_main"], capture_output=True, text=True
    ).stdout.split()
    assert len(children) == 1
    return int(children[0])


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("when", ["registering", "idle"])
def test_a_killed_process_is_replaced_and_the_next_scan_starts_a_new_trajectory(robot, walk_poses, when):
    robot.change_core(SLOW_CORE)
    robot.start_node()
    poses = walk_poses(4)
    robot.publish_and_wait(poses[0], START)
    first = child_of(robot)
    if when == "registering":
        robot.publish(robot.room.scan(poses[1]), START + 1.0)
        robot.wait_until(lambda: "registering slowly" in robot.log(), "the registration to begin")
    os.kill(first, signal.SIGKILL)
    robot.wait_for_count("process_restarts", 1)
    assert robot.process.poll() is None and "ended with -9" in robot.log() or when == "idle"
    robot.wait_until(lambda: robot.log().count("]: ready:") == 2, "the next process")
    assert child_of(robot) != first
    robot.publish_and_wait(poses[2], START + 2.0)
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))
    robot.publish_and_wait(poses[3], START + 2.0 + PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[2]) @ poses[3])
    assert robot.stop_node() == 0
    assert [stamp_of(message) for message in robot.transforms] == [START, START + 2.0, START + 2.0 + PERIOD]


def test_services_and_diagnostics_answer_while_a_scan_is_registered(robot, walk_poses):
    from std_srvs.srv import Trigger

    robot.change_core(SLOW_CORE)
    robot.start_node()
    poses = walk_poses(2)
    robot.publish_and_wait(poses[0], START)
    client = robot.ros.create_client(Trigger, "/prnet/pause")
    robot.wait_until(client.service_is_ready, "the service")
    robot.publish(robot.room.scan(poses[1]), START + 1.0)
    robot.wait_until(lambda: "registering slowly" in robot.log(), "the registration to begin")
    future = client.call_async(Trigger.Request())
    robot.wait_until(future.done, "the answer")
    robot.wait_for_status(lambda values, message: message == "paused", "the diagnostics")
    assert len(robot.odometry) == 1
    robot.wait_for_odometry(START + 1.0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_process_ends_with_the_node_and_leaves_nothing(robot, walk_poses, number):
    robot.change_core(SLOW_CORE)
    robot.start_node()
    robot.publish_and_wait(walk_poses(1)[0], START)
    robot.publish(robot.room.scan(walk_poses(2)[1]), START + 1.0)
    robot.wait_until(lambda: "registering slowly" in robot.log(), "the registration to begin")
    child = child_of(robot)
    robot.stop_node(number)
    robot.wait_until(lambda: not is_alive(child), "the end of the process")
    assert not [path for path in Path("/dev/shm").iterdir() if "prnet" in path.name]


SLOW_IMPORT = """
import time
print("importing", flush=True)
time.sleep(100.0)
"""


def test_a_signal_during_the_start_ends_both(robot, tmp_path):
    robot.change_core(SLOW_IMPORT)
    robot.start_node(wait=False)
    robot.wait_until(lambda: "importing" in robot.log(), "the process to start")
    robot.wait_until(lambda: bool(robot.statuses), "the diagnostics")
    assert robot.status().message == "loading"
    child = child_of(robot)
    assert robot.stop_node() == 0
    robot.wait_until(lambda: not is_alive(child), "the end of the process")


def test_a_process_that_cannot_start_is_reported_and_tried_again(robot):
    robot.change_core("sys.modules['small_gicp'] = None")
    robot.start_node(wait=False)
    robot.wait_for_count("error.ModuleNotFoundError", 2)
    robot.wait_until(
        lambda: any(status.level == b"\x02" and "small_gicp" in status.message for status in robot.statuses),
        "the error",
    )
    assert robot.stop_node() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_in_shared_memory(robot, walk_poses, number):
    def segments(pid):
        """Names in /dev/shm of the participants that a process has mapped, its own and those it receives from."""
        maps = Path(f"/proc/{pid}/maps").read_text()
        return set(re.findall(r"/dev/shm/(fast(?:rtps|dds)_[0-9a-f]{16})", maps))

    of_robot = segments("self")
    robot.start_node()
    robot.publish_and_wait(walk_poses(1)[0], START)
    own = segments(robot.process.pid) - of_robot
    assert own or not of_robot  # where this DDS uses shared memory at all
    assert robot.stop_node(number) == 0
    assert not [name for name in own if Path("/dev/shm", name).exists()]


def test_the_node_itself_loads_no_pytorch(robot):
    robot.start_node(weights="''", device="cpu")
    robot.wait_for_status(lambda values, message: values["weights"] == "packaged", "the network")
    loaded = Path(f"/proc/{robot.process.pid}/maps").read_text()
    assert "libtorch" not in loaded and "_rclpy_" in loaded
    assert "libtorch" in Path(f"/proc/{child_of(robot)}/maps").read_text()


def test_no_process_loads_pytorch_without_the_network(robot):
    robot.start_node()
    robot.wait_for_status(lambda values, message: values["weights"].startswith("none"), "the start")
    assert "libtorch" not in Path(f"/proc/{child_of(robot)}/maps").read_text()
