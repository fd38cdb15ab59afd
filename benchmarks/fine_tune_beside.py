"""Does the odometry keep its rate while the network is fine-tuned? The real node, a bag played in real time.

    python benchmarks/fine_tune_beside.py --out docs/results/fine_tune_beside.json

The bag is played twice into one node: alone, and with ~/fine_tune called after the first seconds, from this process.
Then the service is called again and the node is ended (SIGINT), which is timed.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from results_page import command_line

ROOT = Path(__file__).resolve().parents[1]


class Listener:
    """Odometry with its latency, the node's counters, and the service."""

    def __init__(self):
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from std_srvs.srv import Trigger

        rclpy.init()
        self.node = rclpy.create_node("fine_tune_beside")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.times: list[float] = []
        self.values: dict[str, str] = {}
        self.progress = ""
        self._subscriptions = [
            self.node.create_subscription(Odometry, "odometry", lambda _: self.times.append(time.monotonic()), 100),
            self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10),
            self.node.create_subscription(DiagnosticStatus, "/prnet/fine_tune_progress", self._on_progress, 10),
        ]
        self._trigger = Trigger
        self.clients = {name: self.node.create_client(Trigger, f"/prnet/{name}") for name in ("fine_tune", "reset")}

    def _on_diagnostics(self, message) -> None:
        self.values = {value.key: value.value for value in message.status[0].values}

    def _on_progress(self, status) -> None:
        self.progress = status.message

    def spin_until(self, condition, timeout: float) -> None:
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the node did not answer in time")
            self._executor.spin_once(timeout_sec=0.05)

    def call(self, name: str):
        return self.clients[name].call_async(self._trigger.Request())

    def counts(self) -> dict[str, int]:
        """Two reports from now."""
        for _ in range(2):
            self.values = {}
            self.spin_until(lambda: self.values, 60.0)
        names = ("received", "registered", "dropped", "rejected", "missing_by_stamps")
        return {name: int(self.values[name]) for name in names}


def play(listener: Listener, arguments, name: str, is_tuned: bool) -> tuple[dict, str]:
    """One row of the table, and the service's answer."""
    before, first = listener.counts(), len(listener.times)
    command = [sys.executable, "-m", "prnet_ros.replay", str(arguments.bag), "--to", "points"]
    player = subprocess.Popen([*command, "--rate", str(arguments.rate)], cwd=ROOT, stdout=subprocess.DEVNULL)
    future = None
    if is_tuned:
        listener.spin_until(lambda: len(listener.times) >= first + 5, 120.0)
        future = listener.call("fine_tune")
    listener.spin_until(lambda: player.poll() is not None, 600.0)
    is_running = future is not None and not future.done()
    after = listener.counts()
    if future is not None:
        listener.spin_until(future.done, arguments.seconds + 120.0)
    gaps = np.diff(listener.times[first:])
    row = {
        "method": name,
        **{key: after[key] - before[key] for key in after},
        "latency_median_ms": float(listener.values["latency_median_ms"]),
        "latency_p95_ms": float(listener.values["latency_p95_ms"]),
        "longest_gap_s": float(gaps.max()),
        "tuned_to_the_end": is_running,
    }
    return row, "" if future is None else future.result().message


def end(node: subprocess.Popen) -> float:
    """Seconds from SIGINT until the node's process is gone."""
    began = time.monotonic()
    node.send_signal(signal.SIGINT)
    node.wait(60.0)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bag", type=Path, default=Path("test/data/lidar_walk"))
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=60.0, help="fine_tune.max_seconds")
    parser.add_argument("--weights", default="")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    from prnet_core.evaluation.table import Column, Table

    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", "97")
    settings = {
        "reliability": "reliable", "num_threads": 1, "fine_tune.max_seconds": arguments.seconds,
        "weights": arguments.weights,
    }  # fmt: skip
    options = [text for name, value in settings.items() for text in ("-p", f"{name}:={value}") if value != ""]
    node = subprocess.Popen([sys.executable, "-m", "prnet_ros.node.main", "--ros-args", *options], cwd=ROOT)
    try:
        listener = Listener()
        listener.spin_until(lambda: all(c.service_is_ready() for c in listener.clients.values()), 120.0)
        rows = [play(listener, arguments, "alone", False)[0]]
        listener.spin_until(listener.call("reset").done, 60.0)
        row, answer = play(listener, arguments, "beside fine-tuning", True)
        listener.progress = ""
        listener.call("fine_tune")
        listener.spin_until(lambda: listener.progress.startswith("step"), 60.0)
        shutdown_seconds = end(node)
    finally:
        node.kill()
    table = Table(
        title="The node on a bag in real time, alone and beside a fine-tuning run",
        command=command_line(),
        rows=[*rows, row],
        columns=(
            Column("received", "scans", "{}"),
            Column("registered", "registered", "{}"),
            Column("dropped", "dropped", "{}"),
            Column("rejected", "rejected", "{}"),
            Column("latency_median_ms", "latency median ms", "{:.0f}"),
            Column("latency_p95_ms", "p95 ms", "{:.0f}"),
            Column("longest_gap_s", "longest gap s", "{:.2f}"),
        ),
        settings={"bag": arguments.bag.name, "rate": arguments.rate, "shutdown_seconds": round(shutdown_seconds, 2)},
        notes=(
            "Latencies (arrival to publication) are of the last 100 scans: the second row's hold some of the first.",
            f"The answer of the service: {answer}",
            f"Ended by SIGINT during another run, the node exited after {shutdown_seconds:.2f} s.",
        ),
        first_heading="node",
    )
    table.write(arguments.out)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
