"""A day of driving through the node: memory, handles, threads and latency stay as they were, every scan is counted.

    OMP_NUM_THREADS=1 python benchmarks/soak.py --scans 20000 --out docs/results/soak.json

The simulator drives laps through a place, with moving people, lost scans and jitter of the stamps; some
scans are empty, some have a stamp far ahead. Each scan is published when the odometry of the last one has arrived, so
the drive runs faster than real time. What node and registration process hold in the second tenth of the scans
(2,000 of 20,000) is compared with what they hold in the last one. Ends with exit code 1 when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import itertools
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import rclpy
import results_page
from nav_msgs.msg import Odometry
from node_real_time import EPOCH, ROOT, Robot, cloud_of, time_of
from sensor_msgs.msg import PointCloud2

from prnet_core.evaluation.table import measured_here
from prnet_core.simulation.drives import PLACES, Drive, DriveScan
from prnet_core.simulation.lidar import SpinningLidar

MAX_GROWTH = 0.05  # of the median memory in the second tenth of the scans, and
MAX_SLOWDOWN = 0.25  # of their median latency
SAMPLES = 20  # of memory, handles and threads in a tenth
EMPTY_EVERY, OUTLIER_EVERY = 211, 307  # scans between empty scans, and between stamps 100 s ahead
LONGEST_WAIT = 0.5  # seconds for the odometry of a scan; none comes for stamps far ahead
ENDS = ("registered", "rejected", "ambiguous", "dropped", "ignored", "bad_cloud.", "error.")  # of a scan, or prefixes
ARGUMENTS = ("weights:=none", "num_threads:=1", "publish_lost:=true", "publish_weak:=true", "reliability:=reliable")


class SoakRobot(Robot):
    """Publishes clouds one after another, and notes how long their odometry takes."""

    def __init__(self) -> None:
        self._answered, self._stamp = threading.Event(), 0.0
        super().__init__(use_sim_time=False)

    def send(self, cloud: PointCloud2) -> float | None:
        """Milliseconds from the publication to the odometry; None when none came."""
        self._stamp = _seconds(cloud.header.stamp)
        self._answered.clear()
        began = time.monotonic()
        self._clouds.publish(cloud)
        return 1e3 * (time.monotonic() - began) if self._answered.wait(LONGEST_WAIT) else None

    def _on_odometry(self, message: Odometry) -> None:
        if abs(_seconds(message.header.stamp) - self._stamp) < 1e-6:
            self._answered.set()


def _seconds(stamp) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


def drive(place: str, beams: int, columns: int, num_scans: int):
    """(stamp, cloud) of `num_scans` scans of a drive with faults."""
    lidar = SpinningLidar(beams, columns)
    scans = Drive(PLACES[place](0), lidar, 2 * num_scans, lost_share=0.02, stamp_jitter=0.002)
    for scan in itertools.islice(scans, num_scans):
        cloud = cloud_of(_without_points(scan) if scan.index % EMPTY_EVERY == EMPTY_EVERY - 1 else scan)
        if scan.index % OUTLIER_EVERY == OUTLIER_EVERY - 1:
            cloud.header.stamp = time_of(EPOCH + scan.stamp + 100.0)
        yield cloud


def _without_points(scan: DriveScan) -> DriveScan:
    return scan._replace(points=scan.points[:0], point_times=scan.point_times[:0])


def process_state(pid: int) -> dict[str, float]:
    """Megabytes that are not shared, file handles and threads of a process and its children together."""
    processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return {
        "megabytes": sum(process.memory_full_info().uss for process in processes) / 1e6,
        "handles": sum(process.num_fds() for process in processes),
        "threads": sum(process.num_threads() for process in processes),
        "processes": len(processes),
    }


def run(place: str, beams: int, columns: int, num_scans: int) -> dict:
    """Send the drive; states of the node and latencies in the second and in the last tenth, and its counters."""
    rclpy.init()
    robot = SoakRobot()
    parameters = [word for argument in ARGUMENTS for word in ("-p", argument)]
    command = [sys.executable, "-m", "prnet_ros.node.main", "--ros-args", *parameters]
    latencies: list[float] = []
    states: dict[int, dict] = {}
    tenth, num_points = max(1, num_scans // 10), 0
    with tempfile.TemporaryFile() as log:
        node = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            robot.wait_for_node()
            began = time.monotonic()
            for number, cloud in enumerate(drive(place, beams, columns, num_scans), 1):
                num_points += cloud.width
                latency = robot.send(cloud)
                latencies.append(np.nan if latency is None else latency)
                if number % max(1, tenth // SAMPLES) == 0:
                    states[number] = process_state(node.pid)
                if number % tenth == 0:
                    print(f"{number}: {states[number]}, {dict(counters(robot.values))}", flush=True)
            seconds = time.monotonic() - began
            time.sleep(2.0)  # for the next report
        finally:
            node.send_signal(signal.SIGINT)
            node.wait(10)
            robot.close()
    counts = counters(robot.values)
    second, last = np.array(latencies[tenth : 2 * tenth]), np.array(latencies[-tenth:])
    return {
        "place": place,
        "points": round(num_points / num_scans),
        "scans": num_scans,
        "seconds": seconds,
        "counts": dict(counts),
        "accounted": counts.get("received") == num_scans == counts.total() - num_scans,
        "settled": median_state(states, tenth, 2 * tenth),
        "end": median_state(states, num_scans - tenth, num_scans),
        "megabytes": [median_state(states, i * tenth, (i + 1) * tenth)["megabytes"] for i in range(10)],
        "median_ms": [float(np.nanmedian(part)) for part in (second, last)],
        "p99_ms": [float(np.nanquantile(part, 0.99)) for part in (second, last)],
    }


def median_state(states: dict[int, dict], after: int, until: int) -> dict[str, float]:
    """Of the states after more than `after` scans, and at most `until`."""
    chosen = [state for number, state in states.items() if after < number <= until]
    return {key: float(np.median([state[key] for state in chosen])) for key in chosen[0]}


def counters(values: dict[str, str]) -> Counter[str]:
    """The scans received and how each of them ended, from the node's diagnostics."""
    return Counter({key: int(text) for key, text in values.items() if key == "received" or key.startswith(ENDS)})


def problems(result: dict) -> list[str]:
    """What exceeds a limit, as text."""
    found = []
    growth = result["end"]["megabytes"] / result["settled"]["megabytes"] - 1.0
    if growth > MAX_GROWTH:
        found.append(f"memory grew by {100 * growth:.1f} %")
    for kind in ("handles", "threads", "processes"):
        if result["end"][kind] > result["settled"][kind]:
            found.append(f"{kind}: {result['settled'][kind]} -> {result['end'][kind]}")
    before, after = result["median_ms"]
    if after > (1.0 + MAX_SLOWDOWN) * before:
        found.append(f"median latency: {before:.1f} -> {after:.1f} ms")
    if not result["accounted"]:
        found.append(f"{result['scans']} scans were sent, the node counts {result['counts']}")
    return found


def to_markdown(result: dict) -> str:
    """The page."""
    rows = [
        ("memory of node and registration process, MB", result["settled"]["megabytes"], result["end"]["megabytes"]),
        ("file handles", result["settled"]["handles"], result["end"]["handles"]),
        ("threads", result["settled"]["threads"], result["end"]["threads"]),
        ("latency, median ms", *result["median_ms"]),
        ("latency, p99 ms", *result["p99_ms"]),
    ]
    memory = ", ".join(f"{megabytes:.0f}" for megabytes in result["megabytes"])
    return results_page.page(
        "A day of driving through the node",
        [
            f"{result['scans']} scans of about {result['points']} points, {result['place']} with moving people, 2 % of",
            f"the scans missing, 2 ms of jitter, every {EMPTY_EVERY}th scan empty, every {OUTLIER_EVERY}th stamp 100 s",
            f"ahead; {result['seconds'] / 60:.1f} minutes, each scan sent when the last one's odometry has arrived.",
        ],
        ["Medians of the second and of the last tenth of the scans:"],
        results_page.table(
            ("", "second", "last"), ((name, f"{before:.1f}", f"{after:.1f}") for name, before, after in rows)
        ),
        [f"Memory of each tenth, MB: {memory}."],
        [f"The node's counters: {', '.join(f'{name} {count}' for name, count in result['counts'].items())}."],
        ["Limits exceeded: " + ("; ".join(result["problems"]) or "none") + "."],
        command=result["command"],
        measured=result["machine"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scans", type=int, default=20_000)
    parser.add_argument("--place", default="office")
    parser.add_argument("--beams", type=int, default=16)
    parser.add_argument("--columns", type=int, default=200, help="of a scan: few points make a long drive possible")
    parser.add_argument("--out", type=Path, help="JSON here, the page as Markdown beside it")
    args = parser.parse_args()
    result = run(args.place, args.beams, args.columns, args.scans)
    result["problems"] = problems(result)
    result["command"] = results_page.command_line()
    result["machine"] = measured_here()
    print(json.dumps(result, indent=1))
    if args.out:
        results_page.write_results(args.out, result, to_markdown(result))
    if result["problems"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
