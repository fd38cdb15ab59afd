"""Does a large cloud at a sensor's rate reach the node? Counts, under the shipped Fast DDS profile and without.

    python benchmarks/cloud_transport.py                 # 120,000 points, 10 Hz, 100 clouds, best effort
    python benchmarks/cloud_transport.py --no-profile    # the default profile of Fast DDS

The publisher is this process. The subscriber is a real `prnet_node`, whose own counters are read from /diagnostics:
`received` are the clouds that its callback has converted, `dropped` those of them that a newer one replaced while
the worker was busy. The clouds are of a room, so that the node does its whole work.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROFILE = Path(__file__).resolve().parents[1] / "config" / "fastdds_large_clouds.xml"
ROOT = PROFILE.parents[1]


def main() -> None:
    options = parse_arguments()
    for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
        os.environ.pop(name, None)
        if options.profile:
            os.environ[name] = str(PROFILE)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    node = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "prnet_ros.node.main",
            "--ros-args",
            "-p",
            "weights:=none",
            "-p",
            f"reliability:={options.reliability}",
        ],
        cwd=ROOT,
    )
    try:
        values = measure(options)
    finally:
        node.send_signal(signal.SIGINT)
        node.wait(30)
    print(
        f"profile {PROFILE.name if options.profile else 'none'}, {options.reliability}: "
        f"{options.clouds} clouds of {options.points} points at {options.rate:g} Hz"
    )
    for name in ("received", "registered", "dropped", "missing_by_stamps", "latency_median_ms", "latency_p95_ms"):
        print(f"  {name:<20} {values[name]}")


def measure(options: argparse.Namespace) -> dict[str, str]:
    """Publish the clouds and return the values of the node's diagnostics when nothing more comes."""
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import PointCloud2

    rclpy.init()
    ros = rclpy.create_node("cloud_source")
    values: dict[str, str] = {}

    def keep(message: DiagnosticArray) -> None:
        values.update({value.key: value.value for value in message.status[0].values})

    ros.create_subscription(DiagnosticArray, "/diagnostics", keep, 10)
    qos = QoSProfile(depth=10, reliability=ReliabilityPolicy[options.reliability.upper()])
    publisher = ros.create_publisher(PointCloud2, "points", qos)
    while not (publisher.get_subscription_count() and int(values.get("publishers", 0))):
        rclpy.spin_once(ros, timeout_sec=0.1)

    period = 1.0 / options.rate
    clouds = [make_cloud(options.points, seed) for seed in range(4)]
    start = time.monotonic()
    for i in range(options.clouds):
        cloud = clouds[i % len(clouds)]
        nanoseconds = round(i * period * 1e9)
        cloud.header.stamp.sec, cloud.header.stamp.nanosec = 1000 + nanoseconds // 10**9, nanoseconds % 10**9
        publisher.publish(cloud)
        while (left := start + (i + 1) * period - time.monotonic()) > 0:
            rclpy.spin_once(ros, timeout_sec=left)
    while float(values["seconds_without_data"]) < 3.0:
        rclpy.spin_once(ros, timeout_sec=0.1)
    rclpy.shutdown()
    return values


def make_cloud(number: int, seed: int):
    """A PointCloud2 of a room of 20 x 20 x 4 m, 16 bytes a point as drivers send it."""
    import numpy as np
    from sensor_msgs.msg import PointCloud2, PointField

    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (number, 3))
    face = rng.integers(3, size=number)
    points[np.arange(number), face] = np.sign(points[np.arange(number), face])
    records = np.zeros((number, 4), np.float32)
    records[:, :3] = points * [10.0, 10.0, 2.0] + rng.normal(scale=0.01, size=points.shape)
    cloud = PointCloud2(height=1, width=number, point_step=16, row_step=16 * number, is_dense=True)
    cloud.header.frame_id = "lidar"
    cloud.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(("x", "y", "z", "intensity"))
    ]
    cloud.data = records.tobytes()
    return cloud


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=120_000)
    parser.add_argument("--rate", type=float, default=10.0, help="Hz")
    parser.add_argument("--clouds", type=int, default=100)
    parser.add_argument("--reliability", choices=("best_effort", "reliable"), default="best_effort")
    parser.add_argument("--no-profile", dest="profile", action="store_false")
    return parser.parse_args()


if __name__ == "__main__":
    main()
