"""Odometry with the verification: scans lost and time a scan, from the results of `odometry_sequences.py`."""

import json
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "docs" / "results" / "odometry_sequences.json"
BEFORE = {  # the formula of before, at commit 2db805b: lost, seconds a scan
    "simulated table, stereo camera 30 Hz, 100 scans": "31 of 50 frames of a like camera, 3.2 s",
    "Kinect, 50 frames": "0.236 s",
    "handheld LiDAR at 2 Hz": "0.036 s",
}


def odometry_rows() -> list[str]:
    """Markdown: every sequence with its lost scans and CPU milliseconds."""
    lines = [
        "",
        "Odometry, each scan against its local map, from [odometry over sequences](odometry_sequences.md):",
        "",
    ]
    lines += ["| sequence | lost | median ms | p99 ms | before |", "|---|---|---|---|---|"]
    for name, sequence in json.loads(FILE.read_text())["sequences"].items():
        for row in sequence["rows"]:
            if row["method"].startswith("prnet_ros"):
                times = f"{1e3 * row['median']:.0f} | {1e3 * row['p99']:.0f}"
                lines.append(f"| {name} | {row['lost']} | {times} | {BEFORE.get(name, '')} |")
    return lines
