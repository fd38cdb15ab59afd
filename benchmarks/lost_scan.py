"""The CPU time of a scan while the odometry is lost, beside a tracked one, and after how many scans it is found again.

    OMP_NUM_THREADS=1 python benchmarks/lost_scan.py

The sensor goes through a recording, is then carried to an office that it has not seen and goes through that, and is
carried back to where it was, rotated by 120 degrees. CPU milliseconds, without a network and without a limit of time:
the limit counts seconds of the clock.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from odometry_data import ROOT, Sequence, drive, recording

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.registration import Registration

TRACKED, AWAY, BACK = 20, 15, 12
AWAY_SEED = 5
ROTATION = se3.rotation_exp(np.array([0.0, 0.0, np.radians(120.0)]))


def measure(sequence: Sequence) -> str:
    """A row of the table."""
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=1e3))
    away = drive("away", "office", "lidar32", (0.5, 0.25), AWAY + 1, seed=AWAY_SEED).scans[:AWAY]
    middle = TRACKED // 2
    back = [sequence.scans[middle + i % 3] @ ROTATION.T for i in range(BACK)]
    scans = sequence.scans[:TRACKED] + away + back
    stamp, seconds, statuses = 0.0, [], []
    for points in scans:
        began = time.process_time()
        update = odometry.register_scan(points, stamp)
        seconds.append(time.process_time() - began)
        statuses.append(update.status)
        stamp += sequence.interval
    tracked = [s for s, status in list(zip(seconds, statuses, strict=True))[2:TRACKED] if status == "accepted"]
    lost = [s for s, status in zip(seconds, statuses, strict=True) if status == "rejected"]
    found = next((i for i, status in enumerate(statuses[TRACKED + AWAY :]) if status == "accepted"), None)
    mistaken = sum(status == "accepted" for status in statuses[TRACKED : TRACKED + AWAY])
    times = [1e3 * value for value in (np.median(tracked), np.median(lost), lost[0], np.max(lost))]
    text = f"| {sequence.name} | " + " | ".join(f"{value:.0f}" for value in times) + f" | {times[1] / times[0]:.1f} | "
    return text + f"{mistaken} of {AWAY} | {'never' if found is None else found + 1} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    print(
        "| recording | tracked: ms | lost: ms | the first | the most | lost / tracked | accepted in the other place | "
        "found again |"
    )
    print("|" + "---|" * 8)
    print(
        measure(recording("sample lidar_walk", ROOT / "test" / "data" / "lidar_walk", (0.3, 0.15), 1)),
        flush=True,
    )
    for name, place, sensor in (
        ("office, 32 beams", "office", "lidar32"),
        ("street, 32 beams", "street", "lidar32"),
    ):
        print(measure(drive(name, place, sensor, (0.5, 0.25), TRACKED + 1)), flush=True)


if __name__ == "__main__":
    main()
