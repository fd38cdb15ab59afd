"""Whether the node keeps up: simulated scans in real time, beside busy cores.

    python benchmarks/node_real_time.py                    every case beside 0 to 3 busy cores: 5 minutes
    python benchmarks/node_real_time.py --cases 10x120000 10x120000/2 --busy 0 1 --out docs/results/node_real_time.json

A case is RATE x POINTS; with /2 every second scan is missing, so the node gets half the rate. Prints, for each: scans
published, received, registered, dropped by the node as older than a newer one, lost (rejected, weak, ambiguous), other
(received, and none of these: at most 1, the scan being registered at the end); the latency in ms from the publication
of a cloud to the arrival of its odometry in this process, both over DDS; the processor time of the node and of its
registration process, in cores.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from results_page import command_line
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from prnet_core.evaluation.table import Column, Table
from prnet_core.simulation.drives import PLACES, Drive
from prnet_core.simulation.lidar import SpinningLidar

ROOT = Path(__file__).resolve().parents[1]
PROFILE = ROOT / "config" / "fastdds_large_clouds.xml"
POINT = np.dtype(  # as an Ouster has it: 32 bytes
    {
        "names": ["x", "y", "z", "intensity", "t", "ring"],
        "formats": ["f4", "f4", "f4", "f4", "u4", "u2"],
        "offsets": [0, 4, 8, 16, 20, 24],
        "itemsize": 32,
    }
)
DATATYPES = {"f4": PointField.FLOAT32, "u4": PointField.UINT32, "u2": PointField.UINT16}
CASES = ("10x11000", "20x11000", "25x11000", "10x120000")
COLUMNS = (
    *(Column(key, key, "{}") for key in ("busy", "sent", "received", "registered", "dropped", "lost", "other")),
    *(Column(key, f"{key}, ms", "{:.1f}") for key in ("p50", "p95", "p99")),
    *(Column(key, f"{key}, cores", "{:.2f}") for key in ("node", "process")),
    Column("load", "load average before", "{:.1f}"),
)
EPOCH = 1000.0  # s, stamp of the first scan


def simulate(rate: float, num_points: int, num_scans: int) -> list[tuple[float, bytes]]:
    """(stamp, serialised cloud) of a walk through an office."""
    channels = 32 if num_points < 50_000 else 128
    columns = round(num_points / channels * 1.03)
    lidar = SpinningLidar(channels, columns, sweep=1.0 / rate, min_range=0.5, max_range=100.0)
    scans = Drive(PLACES["office"](1), lidar, num_scans, seed=1, rate=rate, moving_objects=False)
    return [(EPOCH + scan.stamp, serialize_message(cloud_of(scan))) for scan in scans]


def cloud_of(scan) -> PointCloud2:
    points = np.zeros(len(scan.points), POINT)
    for axis, name in enumerate("xyz"):
        points[name] = scan.points[:, axis]
    points["t"] = scan.point_times * 1e9
    fields = [
        PointField(name=name, offset=POINT.fields[name][1], datatype=DATATYPES[POINT[name].str[1:]], count=1)
        for name in POINT.names
    ]
    header = Header(stamp=time_of(EPOCH + scan.stamp), frame_id="lidar")
    cloud = PointCloud2(
        header=header, height=1, width=len(points), fields=fields, point_step=32, row_step=32 * len(points)
    )
    cloud.data = points.tobytes()
    return cloud


def time_of(seconds: float) -> Time:
    sec, nanosec = divmod(round(seconds * 1e9), 10**9)
    return Time(sec=sec, nanosec=nanosec)


class Robot:
    """Publishes clouds in real time, and notes when their odometry arrives."""

    def __init__(self, use_sim_time: bool) -> None:
        self.ros = rclpy.create_node("benchmark")
        self.arrived: dict[float, float] = {}
        self.values: dict[str, str] = {}
        self._clouds = self.ros.create_publisher(PointCloud2, "points", 10)
        self._clock = self.ros.create_publisher(Clock, "/clock", 10) if use_sim_time else None
        self.ros.create_subscription(Odometry, "odometry", self._on_odometry, 100)
        self.ros.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.ros)
        self._spinner = threading.Thread(target=self._executor.spin, daemon=True)
        self._spinner.start()

    def wait_for_node(self) -> None:
        deadline = time.monotonic() + 60.0
        while int(self.values.get("publishers", 0)) == 0:
            if time.monotonic() > deadline:
                sys.exit("the node did not subscribe within 60 s")
            time.sleep(0.1)
        time.sleep(1.0)

    def play(self, scans: list[tuple[float, bytes]]) -> dict[float, float]:
        """Stamp -> time of publication."""
        began, published = time.monotonic(), {}
        for stamp, cloud in scans:
            while (left := began + stamp - EPOCH - time.monotonic()) > 0.0:
                if self._clock is not None:
                    self._clock.publish(Clock(clock=time_of(stamp - left)))
                time.sleep(min(left, 0.01) if self._clock is not None else left)
            published[round(stamp, 6)] = time.monotonic()
            self._clouds.publish(cloud)
        return published

    def _on_odometry(self, message: Odometry) -> None:
        stamp = message.header.stamp
        self.arrived[round(stamp.sec + stamp.nanosec * 1e-9, 6)] = time.monotonic()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.endswith("odometry"):
                self.values = {value.key: value.value for value in status.values}

    def close(self) -> None:
        self._executor.shutdown()
        self._spinner.join()
        self.ros.destroy_node()
        rclpy.shutdown()


def measure(scans: list[tuple[float, bytes]], num_busy: int, options: argparse.Namespace) -> dict:
    """A row of the table, without its name."""
    load = os.getloadavg()[0]
    arguments = ["-p", f"reliability:={options.reliability}", "-p", f"use_sim_time:={str(options.sim_time).lower()}"]
    arguments += ["-p", f"weights:={options.weights or repr('')}", "-p", f"num_threads:={options.num_threads}"]
    rclpy.init()
    robot = Robot(options.sim_time)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(num_busy)]
    with tempfile.TemporaryFile() as log:
        node = subprocess.Popen(
            [sys.executable, "-m", "prnet_ros.node.main", "--ros-args", *arguments], cwd=ROOT, stdout=log, stderr=log
        )
        try:
            robot.wait_for_node()
            before = cpu_seconds(node.pid)
            began = time.monotonic()
            published = robot.play(scans)
            time.sleep(0.5)
            seconds = time.monotonic() - began
            used = cpu_seconds(node.pid) - before
            time.sleep(1.6)  # for the next report
        finally:
            for process in busy:
                process.kill()
            node.send_signal(signal.SIGINT)
            node.wait(10)
            robot.close()
    latencies = [robot.arrived[stamp] - sent for stamp, sent in published.items() if stamp in robot.arrived]
    p50, p95, p99 = np.quantile(latencies, (0.5, 0.95, 0.99)) * 1e3 if latencies else (np.nan,) * 3
    counts = {name: int(robot.values.get(name, 0)) for name in ("received", "registered", "dropped")}
    lost = sum(int(robot.values.get(name, 0)) for name in ("rejected", "weak", "ambiguous"))
    other = counts["received"] - counts["registered"] - counts["dropped"] - lost
    shares = dict(zip(("node", "process"), map(float, used / seconds)))
    latency = {"p50": float(p50), "p95": float(p95), "p99": float(p99)}
    counts |= {"lost": lost, "other": other}
    return {"busy": num_busy, "sent": len(published)} | counts | latency | shares | {"load": load}


def cpu_seconds(pid: int) -> np.ndarray:
    """(2,) processor time of a process, and of its children."""
    process = psutil.Process(pid)
    times = [sum(p.cpu_times()[:2]) for p in process.children(recursive=True)]
    return np.array([sum(process.cpu_times()[:2]), sum(times)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="RATExPOINTS")
    parser.add_argument("--busy", nargs="+", type=int, default=[0, 1, 2, 3], help="numbers of busy cores")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--sim-time", action="store_true", help="publish /clock at 100 Hz")
    parser.add_argument("--reliability", choices=("best_effort", "reliable"), default="best_effort")
    parser.add_argument("--weights", default="", help="file, or none")
    parser.add_argument("--num-threads", type=int, default=2)
    parser.add_argument("--no-profile", action="store_true", help="Fast DDS without config/fastdds_large_clouds.xml")
    parser.add_argument("--out", type=Path, help="JSON file; the Markdown file is written beside it")
    options = parser.parse_args()
    if not options.no_profile:
        for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
            os.environ.setdefault(name, str(PROFILE))
    rows = []
    print("| case | " + " | ".join(column.heading for column in COLUMNS) + " |")
    for case in options.cases:
        rate, num_points = case.removesuffix("/2").split("x")
        scans = simulate(float(rate), int(num_points), round(options.seconds * float(rate)))
        scans = scans[::2] if case.endswith("/2") else scans
        for num_busy in options.busy:
            row = {"method": case, **measure(scans, num_busy, options)}
            print("| ".join(["", case, *(column.form.format(row[column.key]) for column in COLUMNS), ""]), flush=True)
            rows.append(row)
    if options.out is not None:
        write_table(rows, options)


def write_table(rows: list[dict], options: argparse.Namespace) -> None:
    table = Table(
        title="The node in real time",
        command=command_line(),
        rows=rows,
        columns=COLUMNS,
        settings={"threads": options.num_threads, "weights": options.weights or "packaged"},
        notes=(
            "A case is scans a second x points, /2 with every second scan missing. A simulated walk through an office "
            "(128 beams, 32 for few points), in real time, best effort over DDS. Latency from the publication of a "
            "cloud to the arrival of its odometry in the publishing process. busy: processes beside that do nothing "
            "but compute. lost: rejected, weak or ambiguous. other: received, and in no other column. Processor time "
            "in cores.",
        ),
        first_heading="case",
    )
    table.write(options.out)


if __name__ == "__main__":
    main()
