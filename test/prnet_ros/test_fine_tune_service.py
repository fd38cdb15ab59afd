"""Fine-tuning alongside the odometry, over DDS, with a real node: no scan is lost, every call is answered."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
torch = pytest.importorskip("torch", reason="torch is not installed")

from other_processes import OtherProcesses  # noqa: E402
from tiny_network import save_tiny_network  # noqa: E402

from prnet_core.io.bags import open_bag  # noqa: E402
from prnet_core.model import load_network, read_card  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BAG = ROOT / "test" / "data" / "lidar_walk"
START = 1000.0
RUN_TIMEOUT = 240.0  # s


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory):
    return save_tiny_network(tmp_path_factory.mktemp("weights"))


class FineTuning:
    """Calls the node's services and listens to its progress."""

    def __init__(self, robot):
        from diagnostic_msgs.msg import DiagnosticStatus
        from rcl_interfaces.srv import SetParameters
        from std_srvs.srv import Trigger

        self.robot, self.trigger, self.set_parameters = robot, Trigger, SetParameters
        self.clients = {
            name: robot.ros.create_client(Trigger, f"/prnet/{name}")
            for name in ("fine_tune", "cancel_fine_tune", "save_weights", "reset")
        }
        self.parameters = robot.ros.create_client(SetParameters, "/prnet/set_parameters")
        self.progress = []
        self._subscription = robot.ros.create_subscription(
            DiagnosticStatus, "/prnet/fine_tune_progress", self.progress.append, 50
        )
        for client in (*self.clients.values(), self.parameters):
            robot.wait_until(client.service_is_ready, f"the service {client.srv_name}")

    def call(self, name):
        return self.clients[name].call_async(self.trigger.Request())

    def answer(self, future, timeout=RUN_TIMEOUT):
        self.robot.wait_until(future.done, "the answer", timeout)
        return future.result()

    def ask(self, name, timeout=RUN_TIMEOUT):
        return self.answer(self.call(name), timeout)

    def set(self, **values):
        from rclpy.parameter import Parameter

        parameters = [Parameter(f"fine_tune.{k}", value=v).to_parameter_msg() for k, v in values.items()]
        future = self.parameters.call_async(self.set_parameters.Request(parameters=parameters))
        self.robot.wait_until(future.done, "the parameters to be set")
        return future.result().results

    def wait_until_running(self, phase="step"):
        self.robot.wait_until(
            lambda: any(phase in status.message for status in self.progress[-3:]), f"progress: {phase}", RUN_TIMEOUT
        )


def drive(robot, walk_poses, number, first=0, spoil=lambda points: points):
    """Publish scans of a walk in long steps, each after the odometry of the one before."""
    for i, pose in list(enumerate(walk_poses(4 * number)[::4]))[first:]:
        robot.publish(spoil(robot.room.scan(pose)), START + 0.4 * i)
        robot.wait_for_odometry(START + 0.4 * i)


def bag_scans():
    with open_bag(BAG) as bag:
        return list(bag.scans(None))


def stamp_of(message):
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def test_a_replayed_bag_loses_no_scan(robot, tiny_weights, tmp_path):
    """Half the real time: a margin for slow machines, but not for busy ones."""
    others = OtherProcesses()
    robot.start_node(
        weights=tiny_weights, reliability="reliable", publish_weak=True, fine_tune__max_seconds=200.0
    )  # fmt: skip
    service = FineTuning(robot)
    stamps = [stamp for stamp, _, _ in bag_scans()]
    command = [sys.executable, "-m", "prnet_ros.replay", str(BAG), "--to", "points", "--rate", "0.5"]
    with open(tmp_path / "replay.log", "w") as log:
        player = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    robot.wait_until(lambda: len(robot.odometry) >= 15, "the first scans of the bag")
    future = service.call("fine_tune")
    service.wait_until_running()
    during = len(robot.odometry)
    robot.wait_until(lambda: player.poll() is not None, "the end of the replay", RUN_TIMEOUT)
    assert player.returncode == 0, (tmp_path / "replay.log").read_text()
    robot.wait_for_status(lambda values, _: True, "a report after the end")
    robot.wait_for_status(lambda values, _: True, "a second one")
    if len(robot.odometry) < len(stamps) or during >= len(stamps) - 10:
        others.skip_if_busy(f"{len(robot.odometry)} of {len(stamps)} scans registered, {during} before the run")
    assert not future.done() and during < len(stamps) - 10

    np.testing.assert_allclose([stamp_of(odometry) for odometry in robot.odometry], stamps, atol=1e-6)
    assert [t.header.stamp for t in robot.transforms] == [o.header.stamp for o in robot.odometry]
    assert service.ask("cancel_fine_tune").success
    assert "cancelled" in service.answer(future).message


def test_new_weights_serve_are_saved_and_loaded(robot, tiny_weights, tmp_path):
    saved = tmp_path / "folder" / "tuned.safetensors"
    robot.start_node(
        weights=tiny_weights, fine_tune__learning_rate=3e-3, fine_tune__examples_per_scan=12, fine_tune__epochs=4,
        fine_tune__min_gain=0.0,
        fine_tune__save_to=saved,
    )  # fmt: skip
    service = FineTuning(robot)
    assert robot.values()["weights"] == str(tiny_weights)
    scans = [(stamp, cloud.points) for stamp, _, cloud in bag_scans()]
    for stamp, points in scans[:24]:
        robot.publish(points, stamp)
        robot.wait_for_odometry(stamp)
    future = service.call("fine_tune")
    service.wait_until_running()
    for stamp, points in scans[24:30]:
        robot.publish(points, stamp)
        robot.wait_for_odometry(stamp)
    answer = service.answer(future)
    assert answer.success, answer.message
    assert "new weights" in answer.message and "mean error" in answer.message and "->" in answer.message
    shares = [float(v.value) for status in service.progress for v in status.values if v.key == "share_done"]
    assert shares == sorted(shares) and len(shares) >= 3
    robot.wait_until(lambda: "new weights" in service.progress[-1].message, "the outcome as the last progress")
    assert any(status.message.startswith("step") for status in robot.fine_tune_statuses)

    robot.publish(scans[30][1], scans[30][0])
    robot.wait_for_odometry(scans[30][0])
    robot.wait_for_status(lambda values, _: values["weights"] == f"{tiny_weights}, fine-tuned", "the new weights")
    assert robot.values()["dropped"] == robot.values()["rejected"] == "0"
    assert len(robot.transforms) == len(robot.odometry) == 31

    answer = service.ask("save_weights")
    assert answer.success and str(saved) in answer.message
    old, new = load_network(tiny_weights, "cpu"), load_network(saved, "cpu")
    assert any(not torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters()))
    assert read_card(saved)["fine_tuned"]["kept"] == "tuned"

    assert robot.stop_node() == 0
    robot.odometry.clear()
    robot.statuses.clear()
    robot.start_node(weights=saved)
    robot.wait_for_status(lambda values, _: values["weights"] == str(saved), "the saved weights to be loaded")
    robot.publish(scans[0][1], START)
    robot.wait_for_odometry(START)


def test_few_scans_second_call_cancel_and_worse_weights(robot, walk_poses, tiny_weights):
    robot.start_node(
        weights=tiny_weights, publish_weak=True, fine_tune__examples_per_scan=16, fine_tune__max_seconds=200.0
    )  # fmt: skip
    service = FineTuning(robot)
    assert not service.ask("cancel_fine_tune").success
    drive(robot, walk_poses, 1)
    for stamp in (START + 0.1, START + 0.2, START + 0.3):  # a robot that stands still
        robot.publish(robot.room.scan(walk_poses(1)[0]), stamp)
        robot.wait_for_odometry(stamp)
    answer = service.ask("fine_tune")
    assert not answer.success and "1 that differ enough were seen, 4 are needed, 3 are missing" in answer.message

    def with_nan(points):
        points[::2] = np.nan
        points[1] = np.inf
        return points

    drive(robot, walk_poses, 10, first=1, spoil=with_nan)

    first = service.call("fine_tune")
    service.wait_until_running("")
    second = service.ask("fine_tune")
    assert not second.success and "cancel_fine_tune" in second.message
    service.wait_until_running()
    drive(robot, walk_poses, 12, first=10)  # the odometry continues
    assert not first.done()
    assert service.ask("cancel_fine_tune").success
    answer = service.answer(first)
    assert not answer.success and "cancelled" in answer.message and "old weights" in answer.message
    assert service.progress[-1].message.startswith("step") or "cancelled" in service.progress[-1].message

    assert all(result.successful for result in service.set(learning_rate=1.0, examples_per_scan=2, epochs=2))
    assert not service.set(epochs=0)[0].successful
    answer = service.ask("fine_tune")
    assert not answer.success and "old weights kept" in answer.message
    drive(robot, walk_poses, 14, first=12)
    robot.wait_for_status(lambda values, _: values["weights"] == str(tiny_weights), "the old weights")
    assert robot.values()["rejected"] == robot.values()["dropped"] == "0"
    assert service.ask("reset").success


def test_shutdown_during_a_run_is_clean(robot, walk_poses, tiny_weights, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    robot.start_node(weights=tiny_weights, fine_tune__max_seconds=200.0)
    service = FineTuning(robot)
    drive(robot, walk_poses, 10)
    future = service.call("fine_tune")
    service.wait_until_running()
    children = subprocess.run(
        ["pgrep", "-P", str(robot.process.pid), "-f", "process_main"], capture_output=True, text=True
    ).stdout.split()
    assert len(children) == 1
    assert robot.stop_node() == 0
    robot.wait_until(lambda: not Path(f"/proc/{children[0]}").exists(), "the end of the process")
    assert not list(tmp_path.glob("prnet_*")), "files of the run are left"
    assert not future.done() or not future.result().success
    assert "Traceback" not in robot.log() and "rror" not in robot.log()


def test_node_without_a_network_says_so(robot):
    robot.start_node()
    service = FineTuning(robot)
    for name in ("fine_tune", "save_weights"):
        answer = service.ask(name)
        assert not answer.success and "none" in answer.message


def test_place_that_cannot_be_written_is_an_answer(robot, tiny_weights):
    robot.start_node(weights=tiny_weights, fine_tune__save_to="/proc/nowhere/w.safetensors")
    answer = FineTuning(robot).ask("save_weights")
    assert not answer.success and "not saved" in answer.message


FAILING_RUN = """
import sys
from prnet_core.fine_tuning import FineTuneProcess

def run(self, *_):
    raise RuntimeError("CUDA out of memory")

FineTuneProcess.run_in = run
from prnet_ros.node.main import main
sys.exit(main())
"""


def test_any_error_of_a_run_is_an_answer(robot, walk_poses, tiny_weights):
    robot.start_node(weights=tiny_weights, program=("-c", FAILING_RUN))
    service = FineTuning(robot)
    drive(robot, walk_poses, 10)
    answer = service.ask("fine_tune")
    assert not answer.success and "RuntimeError: CUDA out of memory" in answer.message
