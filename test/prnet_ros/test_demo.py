"""prnet_demo with the real node in a process: table, picture, and its errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import Poses
from prnet_core.io.bags import Scan
from prnet_core.io.pointcloud2 import Cloud
from prnet_core.io.trajectories import Trajectory, read_tum
from prnet_core.mapping.storage import load_map
from prnet_ros.demo.drive_map import map_of_drive
from prnet_ros.demo.picture import AlignedPoints, FoundScan, View, align_scans, draw
from prnet_ros.demo.report import DemoResult, compare_with_ground_truth, restart_text, table
from prnet_ros.demo.restart import FoundPose, Restart, random_scan

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "test" / "data"
ROSBAGS = ROOT.parent / "shared" / "data" / "scans" / "rosbag"
RELIABLE = ["-p", "reliability:=reliable", "-p", "weights:=none"]
PNG = b"\x89PNG\r\n\x1a\n"


def curve(number: int) -> np.ndarray:
    """Poses (N, 4, 4) of a walk in a curve: 0.2 m and 5 degrees a step."""
    step = se3.exp(np.array([0.2, 0.0, 0.0, 0.0, 0.0, np.deg2rad(5.0)]))
    poses = [np.eye(4)]
    for _ in range(number - 1):
        poses.append(poses[-1] @ step)
    return np.array(poses)


def test_the_same_trajectory_in_another_frame_has_no_error():
    stamps, poses = np.arange(20.0), curve(20)
    T_map_odom = se3.make_transform(se3.rotation_exp(np.array([0.1, -0.2, 2.0])), np.array([5.0, -3.0, 1.0]))
    comparison = compare_with_ground_truth(Trajectory(stamps, poses), Poses(stamps + 0.001, T_map_odom @ poses, "map"))
    np.testing.assert_allclose(comparison.T_true_odom, T_map_odom, atol=1e-12)
    assert comparison.ate < 1e-9 and comparison.end_drift < 1e-9
    assert comparison.rpe.translation_max < 1e-9 and comparison.rpe.rotation_max_deg < 1e-5


def test_drift_is_reported_in_metres_and_percent():
    stamps, ground_truth = np.arange(11.0), np.tile(np.eye(4), (11, 1, 1))
    ground_truth[:, 0, 3] = np.arange(11.0)
    estimate = ground_truth.copy()
    estimate[:, 0, 3] *= 1.02
    comparison = compare_with_ground_truth(Trajectory(stamps, estimate), Poses(stamps, ground_truth, "map"))
    assert comparison.path_length == pytest.approx(10.0)
    assert comparison.end_drift == pytest.approx(0.2)
    assert comparison.rpe.translation_rmse == pytest.approx(0.02)
    values = {
        "received": "11",
        "registered": "10",
        "first": "1",
        "accepted": "7",
        "weak": "2",
        "rejected": "1",
        "bad_cloud.another_frame": "3",
        "waiting_for_extrinsics": "0",
    }
    text = table(12, DemoResult(Trajectory(stamps, estimate), 10, values, 2.5), comparison)
    assert re.search(r"drift at the end +0\.2000 m = 2\.00 % of the path", text)
    assert re.search(r"registered +10  \(1 first, 7 accepted, 2 weak\)", text)
    assert re.search(r"scans in the bag +12\n", text) and re.search(r"rejected +1\n", text)
    assert re.search(r"not received +1\n", text) and re.search(r"dropped for newer ones +0\n", text)
    assert "weak, not published" not in text
    text = table(12, DemoResult(Trajectory(stamps, estimate), 8, {**values, "registered": "8"}, 2.5), comparison)
    assert re.search(r"registered +8  \(1 first, 7 accepted\)", text) and re.search(r"weak, not published +2\n", text)
    assert re.search(r"unusable \(another frame\) +3\n", text) and "extrinsics" not in text


def test_no_ground_truth_no_comparison():
    stamps, poses = np.arange(3.0), curve(3)
    assert compare_with_ground_truth(Trajectory(stamps, poses), None) is None
    assert compare_with_ground_truth(Trajectory(stamps, poses), Poses(stamps + 100.0, poses, "map")) is None
    assert "no ground truth" in table(3, DemoResult(Trajectory(stamps, poses), 3, {}, 2.5), None)


def test_scans_are_drawn_deskewed_at_their_poses():
    stamps, poses = np.arange(4.0) * 0.2, curve(4)
    T_base_sensor = se3.make_transform(se3.rotation_exp(np.array([0.0, 0.0, 1.5])), np.array([0.2, 0.0, 0.5]))
    landmark = np.array([3.0, 1.0, 0.6])
    twist = np.array([0.2, 0.0, 0.0, 0.0, 0.0, np.deg2rad(5.0)]) / 0.2
    times = np.linspace(0.0, 0.1, 101)
    scans = []
    for stamp, pose in zip(stamps, poses):
        T_sensor_world = [se3.invert(pose @ se3.exp(twist * t) @ T_base_sensor) for t in times]
        points = np.array([se3.apply(T, landmark[None])[0] for T in T_sensor_world])
        scans.append(Scan(stamp, "lidar", Cloud(points, times, 0)))
    scans.append(Scan(9.0, "lidar", scans[0].cloud))  # has no pose
    aligned = align_scans(scans, Trajectory(stamps, poses), T_base_sensor, View.from_above("base_link"))
    assert len(aligned.points) == 4 * 101
    assert np.abs(aligned.points - landmark).max() < 1e-6
    assert sorted(set(np.round(aligned.times, 6))) == [0.0, 0.2, 0.4, 0.6]


@pytest.mark.parametrize("base_frame, up", [("base_link", 2), ("lidar", 2), ("camera_depth_optical_frame", 1)])
def test_view_from_above_looks_along_the_vertical(base_frame, up):
    assert View.from_above(base_frame).towards == up


def test_the_map_of_a_drive_leaves_scans_for_queries(tmp_path):
    stamps, poses = np.arange(30.0), curve(30)
    points = np.random.default_rng(0).normal(size=(500, 3))
    scans = [Scan(stamp, "lidar", Cloud(points, None, 0)) for stamp in stamps]
    keyframes = map_of_drive(scans, Trajectory(stamps, poses), np.eye(4))
    assert [keyframe.stamp for keyframe in keyframes.keyframes] == [0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0]
    chosen = {random_scan(30, np.random.default_rng(seed)) for seed in range(200)}
    assert all(number % 4 and number < 10 for number in chosen) and len(chosen) > 5


def test_the_row_of_the_second_start():
    moved = se3.exp(np.array([0.03, 0.0, 0.0, 0.0, 0.0, np.deg2rad(0.5)]))
    found = Restart(17, 1, [FoundPose(1.0, moved, np.eye(4)), FoundPose(2.0, np.eye(4), np.eye(4))], 0.4)
    assert restart_text(found) == (
        "at scan 17: found after 1 scan in 0.40 s, 0.030 m, 0.50 deg off; 0.000 m, 0.00 deg when followed"
    )
    assert restart_text(Restart(3, 10, problem="ambiguous: two places")).endswith(
        "after 10 scans: ambiguous: two places"
    )
    text = table(3, DemoResult(Trajectory(np.arange(3.0), curve(3)), 3, {}, 2.5), None, found)
    assert re.search(r"started again in the map +at scan 17", text)


def test_the_picture_with_and_without_its_parts(tmp_path):
    stamps, poses = np.arange(20.0), curve(20)
    trajectory = Trajectory(stamps, poses)
    points = np.random.default_rng(0).normal(size=(2000, 3))
    aligned = AlignedPoints(points, np.linspace(0.0, 20.0, 2000))
    view, found = View.from_above("base_link"), FoundScan(points, np.zeros(3), np.zeros(3), "found")
    for number, comparison in enumerate((None, compare_with_ground_truth(trajectory, Poses(stamps, poses, "map")))):
        for scan in (None, found):
            file = tmp_path / f"{number}{scan is None}.png"
            draw(file, "title", aligned, trajectory, comparison, view, scan)
            assert file.read_bytes().startswith(PNG)


def run_demo(domain: int, tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess:
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    pytest.importorskip("tf2_ros", reason="tf2_ros is not installed")
    command = [sys.executable, "-m", "prnet_ros.demo.main", *map(str, arguments)]
    command += ["--domain-id", str(domain), "--output", str(tmp_path / "out put")]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=480)


def numbers_after(name: str, text: str) -> list[float]:
    """The numbers in the row of the table."""
    (row,) = re.findall(rf"^{re.escape(name)}  +(.*)$", text, re.MULTILINE)
    return [float(number) for number in re.findall(r"\d+\.?\d*", row)]


def test_real_time_accounts_for_every_scan(ros_domain, tmp_path):
    """How many a loaded machine registers is not asserted here."""
    done = run_demo(ros_domain, tmp_path, DATA / "depth_walk")
    assert (done.returncode, done.stderr) == (0, "")
    received = numbers_after("received", done.stdout)[0]
    assert received == 16.0
    rows = ("registered", "rejected", "dropped for newer ones")
    assert sum(numbers_after(row, done.stdout)[0] for row in rows) == received


def test_demo_waits_on_the_depth_camera_sample(ros_domain, tmp_path):
    done = run_demo(ros_domain, tmp_path, DATA / "depth_walk", "--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers_after("received", done.stdout) == [16.0]
    assert numbers_after("rejected", done.stdout) == [0.0]
    assert numbers_after("registered", done.stdout) == [16.0, 1.0, 15.0]
    assert numbers_after("dropped for newer ones", done.stdout) == [0.0]
    assert numbers_after("poses on /tf", done.stdout) == numbers_after("messages on odometry", done.stdout)
    assert numbers_after("ATE (rms)", done.stdout)[0] < 0.05
    (picture,) = re.findall(r"^picture: +(.*)$", done.stdout, re.MULTILINE)
    assert Path(picture).read_bytes().startswith(PNG)
    (trajectory,) = re.findall(r"^trajectory: +(.*)$", done.stdout, re.MULTILINE)
    assert len(read_tum(trajectory)) == 16
    assert re.search(r"^started again in the map +at scan \d+: .*found", done.stdout, re.MULTILINE)
    (folder,) = re.findall(r"^map: +(.*)$", done.stdout, re.MULTILINE)
    assert len(load_map(folder)) == 4


@pytest.mark.parametrize("name, number", [("balm_15_mcap", 15), ("balm_5_db3", 5), ("balm_5_ros1.bag", 5)])
def test_every_pair_of_the_real_bags_is_registered(ros_domain, tmp_path, name, number):
    if not (ROSBAGS / name).exists():
        pytest.skip(f"needs shared/data/scans/rosbag/{name} beside the checkout")
    done = run_demo(ros_domain, tmp_path, ROSBAGS / name, "--topic", "/points", "--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers_after("registered", done.stdout)[0] == number
    assert numbers_after("length of the path", done.stdout)[1] == number
    assert numbers_after("ATE (rms)", done.stdout)[0] < 0.05


def test_unknown_topic_lists_the_topics(ros_domain, tmp_path):
    done = run_demo(ros_domain, tmp_path, DATA / "kinect", "--topic", "/camera")
    assert done.returncode == 2 and done.stdout == ""
    assert "no topic /camera" in done.stderr and "/points (3 scans)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["-p", "reliability:=nonsense"], ["the node ended with exit code 1", "must be one of"]),
        (["-p", "publish_tf:=false"], ["published no pose on /tf", "registered"]),
        (["-p", "base_frame:=nowhere"], ["published no pose on /tf", "nowhere"]),
    ],
)
def test_a_node_that_dies_or_publishes_nothing_is_an_error(ros_domain, tmp_path, monkeypatch, capsys, arguments, words):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    pytest.importorskip("tf2_ros", reason="tf2_ros is not installed")
    from prnet_ros.demo import main as demo

    monkeypatch.setattr(demo, "_node_arguments", lambda *_: ["--ros-args", *RELIABLE, *arguments])
    code = demo.main([str(DATA / "kinect"), "--domain-id", str(ros_domain), "--output", str(tmp_path)])
    error = capsys.readouterr().err
    assert code == 1
    assert all(word in error for word in words), error
