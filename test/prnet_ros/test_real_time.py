"""The sample in real time: every scan is registered, with simulated time and without, over both reliabilities."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("rosbags", reason="rosbags is not installed")

from node_answers import stamp_of  # noqa: E402
from other_processes import OtherProcesses  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BAG = ROOT / "test" / "data" / "lidar_walk"
NUM_SCANS = 64


@pytest.mark.parametrize("reliability", ["best_effort", "reliable"])
@pytest.mark.parametrize("use_sim_time", [False, True])
def test_all_scans_of_the_sample_are_registered_in_real_time(robot, tmp_path, use_sim_time, reliability):
    others = OtherProcesses()
    robot.start_node(use_sim_time=use_sim_time, reliability=reliability, weights="''")
    command = [sys.executable, "-m", "prnet_ros.replay", str(BAG), "--to", "points"]
    with (tmp_path / "replay.log").open("w") as log:
        player = subprocess.Popen(command + ["--clock"] * use_sim_time, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    robot.wait_until(lambda: player.poll() is not None, "the end of the replay")
    assert player.returncode == 0, (tmp_path / "replay.log").read_text()
    robot.wait_for_status(lambda values, _: True, "a report after the end")
    robot.wait_for_status(lambda values, _: True, "a second one")
    stamps = {stamp_of(message) for message in robot.odometry}
    assert len(stamps) == len(robot.odometry)
    if len(stamps) < NUM_SCANS - 1:
        others.skip_if_busy(f"{len(stamps)} of {NUM_SCANS} registered")
    assert len(stamps) >= NUM_SCANS - 1, f"{len(stamps)} of {NUM_SCANS} registered: {robot.values()}"
