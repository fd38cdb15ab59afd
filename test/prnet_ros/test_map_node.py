"""The node in a saved map, over DDS, with the sample data: localisation, loss and recovery, invalid requests."""

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import assert_close, matrix_of, pose_matrix, stamp_of  # noqa: E402
from other_processes import OtherProcesses  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402
from prnet_core.io.recordings import open_scans  # noqa: E402
from prnet_core.mapping import KeyframeMap, MapKeyframe  # noqa: E402
from prnet_core.mapping.storage import load_map, save_map  # noqa: E402
from prnet_core.odometry import ScanOdometry  # noqa: E402
from prnet_core.registration import Registration  # noqa: E402

WALK = Path(__file__).resolve().parents[1] / "data" / "lidar_walk"
MAPPED = 24  # scans in the map
START, PERIOD = 1000.0, 0.2


@pytest.fixture(scope="module")
def walk():
    """Scans and poses T_first_sensor of the sample walk."""
    recording = open_scans(WALK)
    scans = list(recording)
    first = se3.invert(recording.ground_truth.poses[0])
    return scans, [first @ pose for pose in recording.ground_truth.poses]


@pytest.fixture(scope="module")
def map_folder(walk, tmp_path_factory):
    """A map of the first part of the walk, in the frame of its first scan."""
    scans, poses = walk
    odometry, keyframes = ScanOdometry(Registration(None)), KeyframeMap()
    for k, scan in enumerate(scans[:MAPPED]):
        update = odometry.register_scan(scan.points, scan.stamp, scan.times)
        if k % 4 == 3:
            keyframes.add(MapKeyframe(update.points.astype(np.float32), scan.stamp), poses[k])
    return save_map(keyframes, tmp_path_factory.mktemp("maps") / "walk", 0.1)


class Driver:
    """Sends scans of the walk to the node and listens to what it publishes about the map."""

    def __init__(self, robot, scans):
        from geometry_msgs.msg import PoseWithCovarianceStamped
        from std_srvs.srv import Empty, Trigger

        self.robot, self.scans, self.stamp = robot, scans, START
        self.others = OtherProcesses()  # the search of a map has a limit in real time
        self.located = []
        self._subscription = robot.ros.create_subscription(
            PoseWithCovarianceStamped, "/prnet/localization_pose", self.located.append, 10
        )
        self.initial_pose = robot.ros.create_publisher(PoseWithCovarianceStamped, "/initialpose", 1)
        self.services = {name: robot.ros.create_client(Trigger, f"/prnet/{name}") for name in ("localize", "save_map")}
        self.reinitialize = robot.ros.create_client(Empty, "/reinitialize_global_localization")

    def call(self, name):
        client = self.services[name]
        self.robot.wait_until(client.service_is_ready, f"the service {name}")
        future = client.call_async(client.srv_type.Request())
        self.robot.wait_until(future.done, f"the answer of {name}")
        return future.result()

    def send(self, index, covered=False):
        """Publish scan `index`, or what a covered sensor sees; waits until the node has dealt with it."""
        scan = self.scans[index]
        rows = np.column_stack([scan.points, scan.times])[np.isfinite(scan.points).all(axis=1)]
        if covered:
            rows = rows[:5]
        before = self.handled()
        self.robot.publish(rows[:, :3], self.stamp, change=lambda message: add_times(message, rows))
        self.stamp += PERIOD
        self.robot.wait_until(lambda: self.handled() > before, f"scan {index}")

    def handled(self):
        """Scans that the node has dealt with: with publish_lost each gives an odometry message."""
        return len(self.robot.odometry)

    def send_until(self, indices, condition, what):
        """Publish scans in this order until a condition holds; returns the index of the last one."""
        for index in indices:
            self.send(index)
            for _ in range(100):
                if condition():
                    return index
                self.robot.spin()
        self.others.skip_if_busy(f"not reached: {what}")
        pytest.fail(f"{what}: {self.robot.map_statuses[-1:]}\n{self.robot.log()}")

    def corrections(self):
        return [t for t in self.robot.transforms if t.header.frame_id == "map"]

    def map_values(self):
        return {value.key: value.value for value in self.robot.map_statuses[-1].values}

    def wait_for_map_status(self, condition, what):
        seen = len(self.robot.map_statuses)
        self.robot.wait_until(
            lambda: any(
                condition({v.key: v.value for v in s.values}, s.message) for s in self.robot.map_statuses[seen:]
            ),
            what,
        )


def add_times(message, rows):
    """Make a cloud message of x y z t."""
    from sensor_msgs.msg import PointField

    message.fields = [
        PointField(name=name, offset=4 * k, datatype=PointField.FLOAT32, count=1) for k, name in enumerate("xyzt")
    ]
    message.point_step, message.row_step = 16, 16 * message.width
    message.data = np.ascontiguousarray(rows, dtype=np.float32).tobytes()


def map_pose(driver, stamp):
    """T_map_sensor (4, 4) at a stamp by the two transforms on /tf, or None."""
    at = {(t.header.frame_id, t.child_frame_id): matrix_of(t.transform) for t in driver.robot.transforms
          if abs(stamp_of(t) - stamp) < 1e-6}  # fmt: skip
    if ("map", "odom") not in at or ("odom", "lidar") not in at:
        return None
    return at["map", "odom"] @ at["odom", "lidar"]


@pytest.fixture
def driver(robot, walk):
    return Driver(robot, walk[0])


PATIENT_SEARCH = """
from prnet_core.mapping import tracker
tracker.SEARCH_TIME = 60.0
"""


def start(driver, **parameters):
    """With time enough for a scan and a search: a busy machine is no failure."""
    driver.robot.change_core(PATIENT_SEARCH)
    driver.robot.start_node(publish_lost=True, odometry__max_scan_time=10.0, **parameters)
    driver.robot.wait_until(lambda: bool(driver.robot.map_statuses), "the status of the map")
    driver.robot.wait_until(lambda: driver.robot.map_statuses[-1].message != "loading", "the map to be loaded")


def test_found_without_a_guess_and_again_after_being_carried_with_the_sensor_covered(driver, walk, map_folder):
    poses = walk[1]
    start(driver, map=map_folder)
    last = driver.send_until(range(30, 40), lambda: driver.located, "the node finds itself")
    last = driver.send_until(range(last + 1, 50), driver.corrections, "map -> odom is published")
    stamp = driver.stamp - PERIOD
    driver.robot.wait_until(lambda: map_pose(driver, stamp) is not None, "both transforms of the last scan")
    assert_close(map_pose(driver, stamp), poses[last], metres=0.1, degrees=2.0)
    assert stamp_of(driver.located[0]) >= START and driver.located[0].header.frame_id == "map"
    assert np.isfinite(driver.located[0].pose.covariance).all()

    for _ in range(3):
        driver.send(last, covered=True)
    found, uncovered_at = len(driver.located), driver.stamp
    last = driver.send_until(range(2, 20), lambda: len(driver.located) > found, "the node finds itself again")
    assert stamp_of(driver.located[-1]) - uncovered_at < 3.0
    driver.send(last + 1)
    stamp = driver.stamp - PERIOD
    driver.robot.wait_until(lambda: map_pose(driver, stamp) is not None, "both transforms of the last scan")
    assert_close(map_pose(driver, stamp), poses[last + 1], metres=0.1, degrees=2.0)

    steps = [pose_matrix(o)[:3, 3] for o in driver.robot.odometry]  # of odom, over everything that happened
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max() < 0.3  # the walk has 0.22 m a scan


def test_services_and_initial_poses(driver, walk, map_folder):
    from geometry_msgs.msg import PoseWithCovarianceStamped

    from prnet_ros.node.frames import pose_message

    start(driver, map=map_folder)
    answer = driver.call("localize")
    assert not answer.success and "not registered a scan yet" in answer.message
    assert "nothing to save" in driver.call("save_map").message

    def give(pose, frame="map", change=lambda message: None):
        message = PoseWithCovarianceStamped()
        message.header.frame_id, message.pose.pose = frame, pose_message(pose)
        change(message)
        driver.robot.wait_until(lambda: driver.initial_pose.get_subscription_count() > 0, "a subscriber")
        driver.initial_pose.publish(message)

    def has_refused(number, words):
        return lambda values, _: int(values["initial_poses_refused"]) == number and words in values["last_refusal"]

    pose = walk[1][30]
    give(pose, frame="odom")
    driver.wait_for_map_status(has_refused(1, "must be in 'map'"), "the other frame to be refused")
    give(pose, change=lambda message: setattr(message.pose.pose.position, "x", float("nan")))
    driver.wait_for_map_status(has_refused(2, "not a rigid transform"), "NaN to be refused")
    give(pose, change=lambda message: setattr(message.pose.pose.orientation, "w", 0.0) or zero(message))
    driver.wait_for_map_status(has_refused(3, "not a rigid transform"), "the zero quaternion to be refused")

    give(pose @ se3.exp(np.array([0.2, -0.1, 0.0, 0.0, 0.0, 0.1])))
    driver.send_until(range(30, 34), lambda: driver.located, "the initial pose is confirmed")
    assert "the initial pose is confirmed" in driver.robot.log()
    answer = driver.call("localize")
    if not answer.success:
        driver.others.skip_if_busy(answer.message)
    assert answer.success and "sensor at x" in answer.message
    driver.robot.wait_until(driver.reinitialize.service_is_ready, "the service")
    driver.robot.wait_until(driver.reinitialize.call_async(driver.reinitialize.srv_type.Request()).done, "its answer")
    found = len(driver.located)
    driver.send_until(range(34, 44), lambda: len(driver.located) > found, "a search from nothing")


def zero(message):
    q = message.pose.pose.orientation
    q.x = q.y = q.z = q.w = 0.0


def test_a_map_is_built_saved_and_loaded(driver, walk, tmp_path):
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    target = tmp_path / "made" / "map"
    start(driver, mapping__build=True, mapping__save_to=target)
    answer = driver.call("save_map")
    assert not answer.success and "no keyframes" in answer.message
    for index in range(0, 16):
        driver.send(index)
    driver.wait_for_map_status(lambda values, message: int(values["keyframes"]) >= 2, "two keyframes")
    answer = driver.call("save_map")
    assert answer.success and str(target) in answer.message, answer.message
    saved = load_map(target)
    assert len(saved) >= 2 and json.loads((target / "map.json").read_text())["unit"] == "metre"
    newest = round((saved.keyframes[-1].stamp - START) / PERIOD)
    assert_close(saved.poses[-1], walk[1][newest], metres=0.15, degrees=2.0)
    assert "no map is loaded" in driver.call("localize").message


def map_process(driver):
    """The process id of the map process: it has a lower priority than the registration process."""
    children = subprocess.run(
        ["pgrep", "-P", str(driver.robot.process.pid), "-f", "registration_main"], capture_output=True, text=True
    ).stdout.split()
    return max(map(int, children), key=lambda process: os.getpriority(os.PRIO_PROCESS, process))


def test_a_map_that_is_built_outlives_its_process(driver, walk, tmp_path):
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    start(driver, mapping__build=True, mapping__save_to=tmp_path / "map")
    for index in range(0, 10):
        driver.send(index)
    driver.wait_for_map_status(lambda values, _: int(values["keyframes"]) >= 2, "two keyframes")
    before = int(driver.map_values()["keyframes"])
    first = map_process(driver)
    os.kill(first, signal.SIGKILL)
    driver.wait_for_map_status(lambda values, _: values["process_restarts"] == "1", "the restart")
    driver.robot.wait_until(lambda: "the map continues with the" in driver.robot.log(), "the kept map")
    assert map_process(driver) != first
    for index in range(10, 20):
        driver.send(index)
    driver.wait_for_map_status(lambda values, _: int(values["keyframes"]) > before, "one more keyframe")
    answer = driver.call("save_map")
    assert answer.success, answer.message
    saved = load_map(tmp_path / "map")
    assert len(saved) > before and round((saved.keyframes[0].stamp - START) / PERIOD) == 0
    for keyframe, pose in zip(saved.keyframes, saved.poses):
        assert_close(pose, walk[1][round((keyframe.stamp - START) / PERIOD)], metres=0.15, degrees=2.0)


def test_a_map_that_cannot_be_used_is_named_and_the_odometry_works(driver, tmp_path):
    text = "'millimetre'"
    (tmp_path / "map.json").write_text('{"format": "prnet_map", "version": 1, "unit": "millimetre"}')
    start(driver, map=tmp_path)
    status = driver.robot.map_statuses[-1]
    assert status.level == status.ERROR and text in status.message
    answer = driver.call("localize")
    assert not answer.success and text in answer.message
    driver.send(0)
    driver.send(1)
    assert len(driver.robot.odometry) == 2 and not driver.corrections()


def test_a_folder_that_cannot_be_written(driver, tmp_path):
    pytest.importorskip("gtsam", reason="GTSAM (extra `map`) is not installed")
    (tmp_path / "file").write_text("")
    start(driver, mapping__build=True, mapping__save_to=tmp_path / "file" / "map")
    driver.send(0)
    driver.wait_for_map_status(lambda values, message: values["keyframes"] == "1", "the first keyframe")
    answer = driver.call("save_map")
    assert not answer.success and "cannot be written" in answer.message
    driver.send(1)


def test_without_a_map_the_answers_say_how_to_get_one(driver):
    driver.robot.start_node()
    assert "map:=FOLDER" in driver.call("localize").message
    assert "mapping.build:=true" in driver.call("save_map").message
    assert not driver.robot.map_statuses
