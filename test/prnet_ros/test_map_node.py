"""The node in a saved map, over DDS, with the sample data: it finds itself, loses itself, and is asked wrong things."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from node_answers import assert_close, matrix_of, pose_matrix, stamp_of  # noqa: E402

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
    first = se3.invert(recording.truth.poses[0])
    return scans, [first @ pose for pose in recording.truth.poses]


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
        self.located = []
        self._subscription = robot.ros.create_subscription(
            PoseWithCovarianceStamped, "/prnet/localization_pose", self.located.append, 10
        )
        self.initial_pose = robot.ros.create_publisher(PoseWithCovarianceStamped, "/initialpose", 1)
        self.services = {
            name: robot.ros.create_client(Trigger, f"/prnet/{name}") for name in ("localize", "save_map")
        }
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
        rows = np.flatnonzero(np.isfinite(scan.points).all(axis=1))
        if covered:
            rows = rows[:5]
        before = int(self.handled())
        self.robot.publish(np.column_stack([scan.points, scan.times])[rows], self.stamp, change=with_times)
        self.stamp += PERIOD
        self.robot.wait_until(lambda: self.handled() > before, f"scan {index}")

    def handled(self):
        return len(self.robot.odometry)  # lost scans give a message too, with publish_lost

    def corrections(self):
        return [t for t in self.robot.transforms if t.header.frame_id == "map"]

    def map_values(self):
        return {value.key: value.value for value in self.robot.map_statuses[-1].values}

    def wait_for_map_status(self, condition, what):
        seen = len(self.robot.map_statuses)
        self.robot.wait_until(
            lambda: any(condition({v.key: v.value for v in s.values}, s.message) for s in self.robot.map_statuses[seen:]),
            what,
        )


def with_times(message):
    """A cloud message of x y z t."""
    from sensor_msgs.msg import PointField

    values = message.pop_values
    message.fields = [
        PointField(name=name, offset=4 * k, datatype=PointField.FLOAT32, count=1) for k, name in enumerate("xyzt")
    ]
    message.point_step, message.row_step = 16, 16 * message.width
    message.data = np.ascontiguousarray(values, dtype=np.float32).tobytes()
